"""Rejects of a blob's steps in stored form: for each unit the first reason, and the number of others.

They have no samples, as part of a secret isn't recognizable.
"""

from collections.abc import Sequence

from shared.domain.blobs.rejects import BadUnit, BadUnits
from shared.domain.telemetry.decode.decoding import Step
from shared.domain.telemetry.records.metrics import InvalidPart

_IN_TEXT = " (the position is that in its text, decompressed)"


class StepRejects:
    """Rejects gathered in `found`; those of a unit in several parts are added with its last part."""

    __slots__ = ("_bad", "_rejected", "found")

    def __init__(self) -> None:
        self.found = BadUnits()
        self._rejected: list[InvalidPart] = []
        self._bad = 0

    def add(self, step: Step) -> None:
        """Adds a reject for each offset in the blob; each bad line counts."""
        self._rejected += step.rejected
        self._bad += step.bad
        if step.part_of is not None:
            return
        by_start: dict[int, list[InvalidPart]] = {}
        for one in self._rejected:
            by_start.setdefault(one.start, []).append(one)
        for start, some in by_start.items():
            self.found.add(BadUnit(start, some[0].position, _reason(some, self._bad), b""))
        self.found.count += self._bad - len(by_start)
        self._rejected, self._bad = [], 0


def _reason(some: Sequence[InvalidPart], bad: int) -> str:
    """Returns the reason of rejects at one offset; within a compressed unit these are all its bad lines."""
    first = some[0]
    sentence = first.reason[:1].upper() + first.reason[1:]
    more = (max(bad, len(some)) if first.compressed else len(some)) - 1
    where = _IN_TEXT if first.compressed and first.position else ""
    return f"{sentence}{where}{f'; and {more:,} more in this unit' if more else ''}."
