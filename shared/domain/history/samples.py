"""Samples of a job's counts, and the placement of samples in the history of a job or a pool.

A history has rows of an hour with a slot per minute, and rows of a day with a slot per quarter-hour. A slot begins just
after its start time and includes its end, where its sample is the latest. A sample that holds into later rows is also
in the first slot of each, so a query reads only the requested rows. No two samples share a slot, so late or repeated
writes give the same result.
"""

from collections.abc import Sequence
from typing import NamedTuple

from shared.domain.history.grains import MINUTES, QUARTERS, HistoryRetention, HistorySample
from shared.domain.tasks.tasks import COUNT_FIELDS, TaskCounts

_NEVER, _DOUBTED = "-", "?"


class Sample(NamedTuple):
    """Counts that one read found and later ones confirmed; times are milliseconds since 1970.

    `at` is the T0 of the read that found them. `through` is the last time they were found, even by Get Task Counts
    alone. `exact_through` is as of when both agreed, None if never. `doubted` where they differed since.
    """

    at: int
    through: int
    exact_through: int | None
    counts: TaskCounts
    doubted: bool = False

    def text(self) -> str:
        """Returns the stored form: time, how long it held, how long exactly, and the counts."""
        exact = _NEVER if self.exact_through is None else str(self.exact_through - self.at)
        exact += _DOUBTED if self.doubted else ""
        counts = self.counts
        return (
            f"{self.at} {self.through - self.at} {exact} {counts.active} {counts.preparing} {counts.running}"
            f" {counts.completed} {counts.succeeded} {counts.failed}"
        )


def sample_of(text: str) -> Sample:
    """Returns the sample of a text by `Sample.text`. Raises ValueError for any other text."""
    at, through, exact, *counts = text.split(" ")
    if len(counts) != len(COUNT_FIELDS):
        raise ValueError(f"it has {len(counts)} counts")
    begun, held = int(at), exact.removesuffix(_DOUBTED)
    exact_through = None if held == _NEVER else begun + int(held)
    return Sample(begun, begun + int(through), exact_through, TaskCounts(*map(int, counts)), held != exact)


type Columns = dict[str, str]


def rows_of[S: HistorySample](samples: Sequence[S], last: S | None, retention: HistoryRetention) -> dict[str, Columns]:
    """Returns the columns to merge into a history, by row key.

    `samples` are consecutive and followed by `last`, which isn't written but ends them; None without one.
    """
    rows: dict[str, Columns] = {}
    now = (last or samples[-1]).through
    for sample, following in zip(samples, [*samples[1:], last], strict=True):
        for grain in (MINUTES, QUARTERS):
            for slot in grain.slots_of(sample, following.at if following else None, retention.oldest(grain, now)):
                rows.setdefault(grain.row(slot), {})[grain.column(slot)] = sample.text()
    return rows
