"""What measured runs of an account used on one day (UTC) of their starts, by job, and advice on each job.

It holds no money: advice says which share it would have saved of what a job's tasks held on nodes of its VM size.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from shared.domain.efficiency.used_shares import UsedShares

MAX_JOBS = 10_000
"""The most jobs of a day; of more, those with the longest runs are kept."""
MAX_ADVICE = 3
"""The most advice on a job."""
_MAX_TEXT = 400


class Advice(NamedTuple):
    """A finding's rule, title and advice, its VM size, and the share that it would have saved of the money of that."""

    rule: str
    vm_size: str
    share: float
    title: str
    advice: str

    def shortened(self) -> "Advice":
        """Returns it with texts of bounded length."""
        return self._replace(title=self.title[:_MAX_TEXT], advice=self.advice[:_MAX_TEXT])


class JobUse(NamedTuple):
    """A job's runs of a day; its advice stands on the last of its days."""

    job_id: str
    shares: UsedShares
    advice: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class DayUse:
    """Use by job key."""

    jobs: Mapping[str, JobUse] = field(default_factory=dict)
    etag: str | None = None

    def with_jobs(self, jobs: Mapping[str, JobUse]) -> "DayUse":
        """Returns the day with the use of some jobs, the same object where that changes nothing."""
        found = {**self.jobs, **jobs}
        if len(found) > MAX_JOBS:
            longest = sorted(found, key=lambda key: (-found[key].shares.cpu.offered, key))[:MAX_JOBS]
            found = {key: found[key] for key in longest}
        return self if found == self.jobs else DayUse(found, self.etag)

    def plain(self) -> list[Any]:
        """Returns lists, texts and numbers, for storage."""
        return [msgspec.to_builtins((key, *one)) for key, one in sorted(self.jobs.items())]

    @classmethod
    def of_plain(cls, stored: Any, etag: str | None = None) -> "DayUse":
        """Returns the inverse of `plain`. Raises ValueError."""
        rows = msgspec.convert(stored, list[tuple[str, str, UsedShares, tuple[Advice, ...]]])
        return cls({key: JobUse(job_id, shares, advice) for key, job_id, shares, advice in rows}, etag)


def latest_advice(days: Iterable[DayUse]) -> dict[str, tuple[Advice, ...]]:
    """Returns the advice on each job on the last day with its use, of some days in order, where there is any.

    That of a day before may be about another job, which had the id until it was deleted.
    """
    last = {key: one.advice for day in days for key, one in day.jobs.items()}
    return {key: advice for key, advice in last.items() if advice}
