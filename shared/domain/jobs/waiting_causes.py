"""The causes for which an account's jobs wait, as last explained, and the time that tasks have waited by cause."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.jobs.job_counters import NO_POOL
from shared.domain.jobs.jobs import Job

UNKNOWN_CAUSE = "unknown"
INTERVAL = timedelta(minutes=5)
"""The time between two passes over the waiting jobs of an account."""
MAX_GAP = 3 * INTERVAL
"""The longest time between two passes that counts as waited: in a longer one the app didn't run."""
type ByCause = Mapping[str, int]


class WaitingCause(NamedTuple):
    """The code of a cause, and when the job was explained; None where it wasn't so far."""

    cause: str = UNKNOWN_CAUSE
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class WaitingCauses:
    """The last pass: its time, the causes of jobs by key, and milliseconds waited by pool and cause, over all tasks.

    Those of a pool are counted since `since`, in milliseconds since 1970; without it from before. `added` is what the
    last pass added to those of the pass before, which was at `previous`.
    """

    at: datetime | None = None
    jobs: Mapping[str, WaitingCause] = field(default_factory=dict)
    waited: Mapping[str, ByCause] = field(default_factory=dict)
    since: Mapping[str, int] = field(default_factory=dict)
    previous: datetime | None = None
    added: Mapping[str, ByCause] = field(default_factory=dict)
    etag: str | None = None

    def is_due(self, now: datetime) -> bool:
        return self.at is None or not timedelta() <= now - self.at < INTERVAL

    def next_jobs(self, waiting: Mapping[str, Job], most: int) -> Sequence[Job]:
        """Returns the jobs to explain now, those explained longest ago first."""
        known = {key: cause.at.timestamp() for key, cause in self._known(waiting).items() if cause.at}
        return sorted(waiting.values(), key=lambda job: (known.get(job.key, 0.0), job.key))[:most]

    def _known(self, jobs: Mapping[str, Job]) -> dict[str, WaitingCause]:
        """Returns the causes of jobs that waited in the last pass, without jobs created anew under their ids since."""
        at = self.at
        known = {key: self.jobs[key] for key in jobs.keys() & self.jobs.keys()}
        return {key: cause for key, cause in known.items() if at and jobs[key].facts.creation_time <= at}

    def after(self, waiting: Mapping[str, Job], found: Mapping[str, str], now: datetime) -> "WaitingCauses":
        """Returns the causes after a pass, with those `found` by job key.

        The time since the last pass counts for jobs that waited then, by the cause that was known.
        """
        passed = max(timedelta(), min(now - self.at, MAX_GAP)) if self.at else timedelta()
        known, added = self._known(waiting), dict[str, dict[str, int]]()
        for key, (cause, _) in known.items():
            causes = added.setdefault(_pool(waiting[key]), {})
            more = waiting_tasks(waiting[key]) * (passed // timedelta(milliseconds=1))
            causes[cause] = causes.get(cause, 0) + more
        explained = {key: WaitingCause(cause, now) for key, cause in found.items()}
        new = dict.fromkeys(added.keys() - self.waited.keys(), to_milliseconds(self.at or now))
        return replace(
            self,
            at=now,
            jobs={key: WaitingCause() for key in waiting} | known | explained,
            waited=_summed((self.waited, added)),
            since={**self.since, **new},
            previous=self.at,
            added=added,
        )

    def within(self, pools: Container[str]) -> "WaitingCauses":
        """Returns the causes with the time waited for pools that aren't stored any more in NO_POOL, by their keys."""
        gone = [{NO_POOL: causes} for pool, causes in self.waited.items() if pool not in pools]
        kept = {pool: causes for pool, causes in self.waited.items() if pool in pools}
        return replace(
            self,
            waited=_summed((kept, *gone)),
            since={pool: at for pool, at in self.since.items() if pool in pools},
            added={pool: causes for pool, causes in self.added.items() if pool in pools},
        )

    def of_job(self, job: Job) -> WaitingCause | None:
        """Returns the cause for which a job waits; None if it doesn't wait."""
        return self._known({job.key: job}).get(job.key, WaitingCause()) if waiting_tasks(job) else None

    def plain(self) -> list[Any]:
        """Returns all but what the history needs as lists and numbers, for storage."""
        jobs = {key: [cause, to_milliseconds(at) if at else 0] for key, (cause, at) in self.jobs.items()}
        return [to_milliseconds(self.at) if self.at else None, jobs, self.waited]

    def plain_steps(self) -> list[Any]:
        """Returns what the history needs besides, for storage apart: earlier versions leave it out."""
        return [self.since, to_milliseconds(self.previous) if self.previous else None, self.added]

    @classmethod
    def of_plain(cls, stored: Any, steps: Any = None) -> "WaitingCauses":
        """Returns the inverse of `plain` and `plain_steps`. Raises ValueError."""
        at, jobs, waited = msgspec.convert(stored, _Stored)
        since, previous, added = msgspec.convert(steps or ({}, None, {}), _Steps)
        causes = {
            key: WaitingCause(cause, from_milliseconds(moment) if moment else None)
            for key, (cause, moment) in jobs.items()
        }
        moments = [None if moment is None else from_milliseconds(moment) for moment in (at, previous)]
        return cls(moments[0], causes, waited, since, moments[1], added)


_Stored = tuple[int | None, dict[str, tuple[str, int]], dict[str, dict[str, int]]]
_Steps = tuple[dict[str, int], int | None, dict[str, dict[str, int]]]


def _summed(many: Iterable[Mapping[str, ByCause]]) -> dict[str, dict[str, int]]:
    """Returns the sums by pool and cause."""
    sums: dict[str, dict[str, int]] = {}
    for one in many:
        for pool, causes in one.items():
            into = sums.setdefault(pool, {})
            for cause, number in causes.items():
                into[cause] = into.get(cause, 0) + number
    return sums


def waiting_tasks(job: Job) -> int:
    """Returns how many tasks of a job wait; none of a deleted or completed one."""
    return job.snapshot.counts.active if job.snapshot and job.is_live and job.facts.state != "completed" else 0


def _pool(job: Job) -> str:
    return key_of(job.facts.pool_id) if job.facts.pool_id else NO_POOL
