"""What steps of a blob reject, as what is kept of it: for each unit what is wrong first, and how much more there is.

Without samples, as a part of a secret has no looks.
"""

from collections.abc import Sequence

from shared.domain.blobs.rejects import Refusal, Refusals
from shared.domain.telemetry.decode.decoding import Step
from shared.domain.telemetry.records.metrics import Rejected

_IN_TEXT = " (the position is that in its text, decompressed)"


class StepRefusals:
    """Gathered in `found`; of a unit that comes in parts once its last one is there."""

    __slots__ = ("_bad", "_rejected", "found")

    def __init__(self) -> None:
        self.found = Refusals()
        self._rejected: list[Rejected] = []
        self._bad = 0

    def add(self, step: Step) -> None:
        """Adds one for each place in the blob; bad lines count each."""
        self._rejected += step.rejected
        self._bad += step.bad
        if step.part_of is not None:
            return
        by_start: dict[int, list[Rejected]] = {}
        for one in self._rejected:
            by_start.setdefault(one.start, []).append(one)
        for start, some in by_start.items():
            self.found.add(Refusal(start, some[0].position, _reason(some, self._bad), b""))
        self.found.count += self._bad - len(by_start)
        self._rejected, self._bad = [], 0


def _reason(some: Sequence[Rejected], bad: int) -> str:
    """Of what is wrong in one place; within a compressed unit these are all the bad lines."""
    first = some[0]
    sentence = first.reason[:1].upper() + first.reason[1:]
    more = (max(bad, len(some)) if first.compressed else len(some)) - 1
    where = _IN_TEXT if first.compressed and first.position else ""
    return f"{sentence}{where}{f'; and {more:,} more in this unit' if more else ''}."
