"""Samples of a job's counts, which are exact only as of agreements with Get Task Counts."""

from typing import NamedTuple

from shared.domain.history.samples import SampleKind
from shared.domain.tasks.tasks import COUNT_FIELDS, TaskCounts

_NEVER, _DOUBTED = "-", "?"


class JobSample(NamedTuple):
    """Counts that one read found and later ones confirmed; times are milliseconds since 1970.

    `at` is the T0 of the read that found them. `through` is the last time they were found, even by Get Task Counts
    alone. `exact_through` is as of when both agreed, None if never. `doubted` where they differed since.
    """

    at: int
    through: int
    exact_through: int | None
    numbers: TaskCounts
    doubted: bool = False

    def text(self) -> str:
        """Returns the stored form: time, how long it held, how long exactly, and the counts."""
        exact = _NEVER if self.exact_through is None else str(self.exact_through - self.at)
        exact += _DOUBTED if self.doubted else ""
        counts = self.numbers
        return (
            f"{self.at} {self.through - self.at} {exact} {counts.active} {counts.preparing} {counts.running}"
            f" {counts.completed} {counts.succeeded} {counts.failed}"
        )

    def known_at(self, end: int, lag: int) -> tuple[int, bool]:
        """Returns as of when the counts hold at `end`, and whether they are exact.

        Counts that wait for another confirmation are dated as of the last, up to `lag` before, as in a job's verdict.
        """
        confirmed = None if self.exact_through is None else min(end, self.exact_through)
        if confirmed is not None and confirmed >= (end if self.doubted else end - lag):
            return confirmed, True
        return min(end, self.through), False


def job_sample_of(text: str) -> JobSample:
    """Returns the sample of a text by `JobSample.text`. Raises ValueError for any other text."""
    at, through, exact, *counts = text.split(" ")
    if len(counts) != len(COUNT_FIELDS):
        raise ValueError(f"it has {len(counts)} counts")
    begun, agreed = int(at), exact.removesuffix(_DOUBTED)
    exact_through = None if agreed == _NEVER else begun + int(agreed)
    return JobSample(begun, begun + int(through), exact_through, TaskCounts(*map(int, counts)), agreed != exact)


JOB_SAMPLES = SampleKind[TaskCounts]("job", job_sample_of)
