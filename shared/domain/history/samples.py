"""Samples of a resource's numbers, and the placement of samples in its history.

A history has rows of an hour with a slot per minute, and rows of a day with a slot per quarter-hour. A slot begins just
after its start time and includes its end, where its sample is the latest. A sample that holds into later rows is also
in the first slot of each, so a query reads only the requested rows. No two samples share a slot, so late or repeated
writes give the same result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import msgspec

from shared.domain.core.stamps import to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS, Grain, HistoryRetention, HistorySample

_UNSEEN = 180_000  # milliseconds between two polls within which equal numbers count as unchanged
_ENCODER = msgspec.json.Encoder()


class Sample[N](NamedTuple):
    """Numbers that one round found and later ones confirmed; times are milliseconds since 1970.

    `at` is the T0 of the round that found them, `through` that of the last one that confirmed them. `exact` where the
    first round had no doubt about them. Its text is JSON; `msgspec.json.Decoder(Sample[N])` decodes it.
    """

    at: int
    through: int
    exact: bool
    numbers: N

    def text(self) -> str:
        """Returns the stored form."""
        return _ENCODER.encode(self).decode()

    def known_at(self, end: int, _lag: int) -> tuple[int, bool]:
        """Returns as of when the numbers hold at `end`, and whether they are exact."""
        return min(end, self.through), self.exact

    def confirmed(self, as_of: datetime) -> "Sample[N]":
        """Returns the sample after a later round confirmed it."""
        return self._replace(through=max(self.through, to_milliseconds(as_of)))

    def continues(self, later: "Sample[N]", *, is_unchanged: bool) -> bool:
        """Returns whether a later sample only extends this one: it is equal, and near, or nothing else changed either.

        `is_unchanged` says so of all that was read, as numbers alone may change and change back.
        """
        is_near = later.at - self.through <= _UNSEEN
        return (is_near or is_unchanged) and (self.exact, self.numbers) == (later.exact, later.numbers)


type Increase[N] = Callable[[N, int, N | None], int | None]
"""Returns the increase of a counter among the numbers since an earlier time.

Takes the numbers, that time in milliseconds since 1970, and the numbers then; None where either is unknown.
"""


@dataclass(frozen=True, slots=True)
class SampleKind[N]:
    """The samples of one kind of resource, which messages call by `noun`: how to decode and count them.

    `decode` raises ValueError for invalid texts. `increase` is that of their counter, None without one.
    """

    noun: str
    decode: Callable[[str], HistorySample[N]]
    increase: Increase[N] | None = None


type Columns = dict[str, str]


def rows_of[S: HistorySample[object]](
    samples: Sequence[S],
    last: S | None,
    retention: HistoryRetention,
    grains: tuple[Grain, Grain] = (MINUTES, QUARTERS),
) -> dict[str, Columns]:
    """Returns the columns to merge into a history, by row key.

    `samples` are consecutive and followed by `last`, which isn't written but ends them; None without one. `grains` are
    those of minutes and of quarter-hours with letters of their own.
    """
    rows: dict[str, Columns] = {}
    now = (last or samples[-1]).through
    for sample, following in zip(samples, [*samples[1:], last], strict=True):
        for grain, kept in zip(grains, (MINUTES, QUARTERS), strict=True):
            for slot in grain.slots_of(sample, following.at if following else None, retention.oldest(kept, now)):
                rows.setdefault(grain.row(slot), {})[grain.column(slot)] = sample.text()
    return rows
