"""Counters of jobs whose rows were deleted, so that the sums over an account don't fall with them.

A job's counters come in before its row is deleted, in two writes. Meanwhile, and for an hour after, `leaving` names the
job with the numbers that are in the sums already. Whoever reads the rows of jobs first and the sums after them counts
each number once: what `leaving` has of a row that is still there is taken off.

A pool's sums stay with its id while Batch doesn't list the pool, as one that is created again under the id counts on.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import msgspec

from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.jobs.job_counters import NO_POOL, CountersByPool, JobCounters, summed_by_pool
from shared.domain.tasks.task_counters import NOTHING, TaskCounters

KEPT = timedelta(hours=1)
MAX_GONE_POOLS = 1000
"""Ids of pools that aren't listed any more, for which an account's sums are kept apart; those of others have no pool.

The first to go are those for which no stored job counts, and of these the longest gone: if such a pool is created
again, its counters begin with nothing, as after a restart. Jobs of auto pools leave a new id each.
"""
type Leaving = tuple[str, int]
"""A job's key, and the `since` of its counters: a later job of that id is another."""


@dataclass(frozen=True, slots=True)
class LeavingJob:
    """The time at which a job's counters came into the sums, and those numbers."""

    at: datetime
    pools: CountersByPool


@dataclass(frozen=True, slots=True)
class DeletedJobCounters:
    """Sums by pool, the jobs in them that left lately, and since when pools with sums aren't listed any more."""

    pools: CountersByPool = field(default_factory=dict)
    leaving: Mapping[Leaving, LeavingJob] = field(default_factory=dict)
    gone: Mapping[str, datetime] = field(default_factory=dict)
    etag: str | None = None

    def with_job(self, key: str, counters: JobCounters, at: datetime) -> "DeletedJobCounters":
        """Returns the sums with a job whose row is about to be deleted; the same again adds nothing."""
        name = key, counters.since
        before = self.leaving[name].pools if name in self.leaving else {}
        pools = summed_by_pool([self.pools, _less(counters.pools, before)])
        return replace(self, pools=pools, leaving={**self.leaving, name: LeavingJob(at, counters.pools)})

    def pruned(self, stored: Mapping[str, JobCounters], pools: Collection[str], now: datetime) -> "DeletedJobCounters":
        """Returns the sums without jobs that left long ago, and without the ids of too many pools that are gone.

        `stored` are the counters of jobs that have a row, by key, `pools` the keys of pools that have one.
        """
        names = {(key, job.since) for key, job in stored.items()}
        leaving = {name: job for name, job in self.leaving.items() if name in names or now - job.at < KEPT}
        gone = {pool: self.gone.get(pool, now) for pool in self.pools if pool not in pools and pool != NO_POOL}
        dropped = _first_to_go(gone, {pool for job in stored.values() for pool in job.pools})
        return replace(
            self,
            pools=summed_by_pool([{NO_POOL if pool in dropped else pool: one} for pool, one in self.pools.items()]),
            leaving=leaving,
            gone={pool: at for pool, at in gone.items() if pool not in dropped},
        )

    def with_jobs(self, jobs: Mapping[str, JobCounters]) -> CountersByPool:
        """Returns the sums over deleted and stored jobs, the latter by key, by pool."""
        rest = [
            _less(counters.pools, self.leaving[key, counters.since].pools)
            if (key, counters.since) in self.leaving
            else counters.pools
            for key, counters in jobs.items()
        ]
        return summed_by_pool([self.pools, *rest])

    def plain(self) -> list[Any]:
        """Returns all but `gone` as lists and numbers, for storage."""
        leaving = [
            [key, since, to_milliseconds(job.at), _plain(job.pools)] for (key, since), job in self.leaving.items()
        ]
        return [_plain(self.pools), leaving]

    def plain_gone(self) -> dict[str, int]:
        """Returns `gone` in milliseconds, for storage apart: earlier versions leave it out."""
        return {pool: to_milliseconds(at) for pool, at in self.gone.items()}

    @classmethod
    def of_plain(cls, stored: Any, gone: Any = None) -> "DeletedJobCounters":
        """Returns the inverse of `plain` and `plain_gone`. Raises ValueError."""
        pools, leaving = msgspec.convert(stored, tuple[_Pools, list[tuple[str, int, int, _Pools]]])
        return cls(
            _of_plain(pools),
            {(key, since): LeavingJob(from_milliseconds(at), _of_plain(own)) for key, since, at, own in leaving},
            {pool: from_milliseconds(at) for pool, at in msgspec.convert(gone or {}, dict[str, int]).items()},
        )


type _Pools = dict[str, tuple[int, int, int, int]]


def _first_to_go(gone: Mapping[str, datetime], counted: Collection[str]) -> frozenset[str]:
    """Returns the ids of pools beyond MAX_GONE_POOLS; `counted` are those for which stored jobs count."""
    order = sorted(gone, key=lambda pool: (pool in counted, gone[pool], pool))
    return frozenset(order[: max(0, len(order) - MAX_GONE_POOLS)])


def _less(pools: CountersByPool, others: CountersByPool) -> dict[str, TaskCounters]:
    """Returns what counters have beyond others, nothing where they have less."""
    return {pool: counters.at_least(others.get(pool, NOTHING)) - others.get(pool, NOTHING)
            for pool, counters in pools.items()}  # fmt: skip


def _plain(pools: CountersByPool) -> dict[str, tuple[int, ...]]:
    return {pool: counters.values() for pool, counters in pools.items()}


def _of_plain(pools: _Pools) -> dict[str, TaskCounters]:
    return {pool: TaskCounters(*numbers) for pool, numbers in pools.items()}
