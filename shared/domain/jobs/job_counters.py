"""Counters of all tasks that a job's id has had, by pool: over deleted tasks, new generations and new incarnations.

The sum over the leaves of the served generation is `base` less than the numbers here. A new generation gets another
base, from a comparison of its tasks with those of the one before. The published numbers are the greatest so far, so
a leaf of an older version, which holds no counters, takes nothing away.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.tasks.task_counters import NOTHING, TaskCounters

MAX_POOLS = 50
"""Pools for which one job's numbers are kept apart; tasks on further ones count for no pool.

The first ones are kept, because a counter of a pool must not fall.
"""
NO_POOL = ""
type CountersByPool = Mapping[str, TaskCounters]
"""Counters by the key of a pool; NO_POOL for tasks that were counted while their job had none, or too many."""


@dataclass(frozen=True, slots=True)
class JobCounters:
    """Counters by pool; `since` (milliseconds) is the creation of the first job whose tasks they include.

    Together with the job's key it tells these counters from those of a later row of the same id.
    """

    since: int
    base: TaskCounters = NOTHING
    pools: CountersByPool = field(default_factory=dict)

    @property
    def total(self) -> TaskCounters:
        return sum(self.pools.values(), NOTHING)

    def counted(self, leaves: TaskCounters, pool_id: str | None) -> "JobCounters":
        """Returns the counters after a poll, with the sum over the leaves; what is new counts for the job's pool."""
        before = self.total
        new = (self.base + leaves).at_least(before) - before
        if new == NOTHING:
            return self
        pool = self._counted_for(key_of(pool_id)) if pool_id else NO_POOL
        return replace(self, pools={**self.pools, pool: self.pools.get(pool, NOTHING) + new})

    def _counted_for(self, pool: str) -> str:
        is_known = pool in self.pools or len(self.pools.keys() - {NO_POOL}) < MAX_POOLS
        return pool if is_known else NO_POOL

    def continued(self, before: TaskCounters, leaves: TaskCounters) -> "JobCounters":
        """Returns the counters for a new generation: `before` are those of the old one as of the new one's tasks."""
        return replace(self, base=self.base + before - leaves)

    def begun_anew(self) -> "JobCounters":
        """Returns the counters for another job under the same id, whose leaves begin with nothing."""
        return replace(self, base=self.total)

    def plain(self) -> list[Any]:
        """Returns lists and numbers, for storage."""
        return [self.since, self.base.values(), {pool: counters.values() for pool, counters in self.pools.items()}]

    @classmethod
    def of_plain(cls, stored: Any) -> "JobCounters":
        """Returns the inverse of `plain`. Raises ValueError."""
        since, base, pools = msgspec.convert(stored, tuple[int, _Numbers, dict[str, _Numbers]])
        return cls(since, TaskCounters(*base), {pool: TaskCounters(*numbers) for pool, numbers in pools.items()})


type _Numbers = tuple[int, int, int, int]


def summed_by_pool(many: "list[CountersByPool]") -> dict[str, TaskCounters]:
    """Returns the sums by pool."""
    sums: dict[str, TaskCounters] = {}
    for pools in many:
        for pool, counters in pools.items():
            sums[pool] = sums.get(pool, NOTHING) + counters
    return sums
