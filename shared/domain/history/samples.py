"""Samples of a job's counts, and where in the history of a job or a pool each sample is kept.

A history has rows of an hour with a slot for each minute, and rows of a day with a slot for each quarter of an hour. A
slot reaches from just after its beginning to its end, so that at its end its sample is the last one there was. A sample
that holds into later rows stands in the first slot of each, so nobody looks back further than the rows asked for. No
two samples ever want the same slot: whoever writes one, however late or often, writes the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

from shared.domain.history.grains import MINUTES, QUARTERS, Held, HistoryRetention
from shared.domain.tasks.tasks import COUNT_FIELDS, TaskCounts

_NEVER, _DOUBTED = "-", "?"


class Sample(NamedTuple):
    """Counts that one read found and later ones confirmed; times are milliseconds since 1970.

    `at` is the T0 of the read that found them, `through` when they were last found so, be it by Get Task Counts alone,
    `exact_through` as of when both agreed, None where they never did; `doubted` where they differed since.
    """

    at: int
    through: int
    exact_through: int | None
    counts: TaskCounts
    doubted: bool = False

    def text(self) -> str:
        """As it is stored: when, for how long, for how long exactly, and the counts."""
        exact = _NEVER if self.exact_through is None else str(self.exact_through - self.at)
        exact += _DOUBTED if self.doubted else ""
        counts = self.counts
        return (
            f"{self.at} {self.through - self.at} {exact} {counts.active} {counts.preparing} {counts.running}"
            f" {counts.completed} {counts.succeeded} {counts.failed}"
        )


def sample_of(text: str) -> Sample:
    """The sample that `Sample.text` wrote. Raises ValueError where it isn't one."""
    at, through, exact, *counts = text.split(" ")
    if len(counts) != len(COUNT_FIELDS):
        raise ValueError(f"it has {len(counts)} counts")
    begun, held = int(at), exact.removesuffix(_DOUBTED)
    exact_through = None if held == _NEVER else begun + int(held)
    return Sample(begun, begun + int(through), exact_through, TaskCounts(*map(int, counts)), held != exact)


type Columns = dict[str, str]


def rows_of[S: Held](samples: Sequence[S], last: S | None, retention: HistoryRetention) -> dict[str, Columns]:
    """What is to be merged into a history: columns by row key.

    `samples` follow each other and are followed by `last`, which is not to be written yet; None where the end is it.
    """
    rows: dict[str, Columns] = {}
    now = (last or samples[-1]).through
    for sample, following in zip(samples, [*samples[1:], last], strict=True):
        for grain in (MINUTES, QUARTERS):
            for slot in grain.slots_of(sample, following.at if following else None, retention.oldest(grain, now)):
                rows.setdefault(grain.row(slot), {})[grain.column(slot)] = sample.text()
    return rows
