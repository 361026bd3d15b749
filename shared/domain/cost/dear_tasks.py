"""The dearest tasks of a job, by the money for what their latest runs held: a few of any number of runs.

Node ids say whether a node is dedicated, and stored days which sizes and prices a pool's nodes had. Tasks whose nodes
have no price are left out.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.allocation import amount
from shared.domain.cost.busy_nodes import Outcome, outcome_of
from shared.domain.cost.day_rollups import NodeKinds
from shared.domain.cost.usage_days import DAY, NodeKind, PoolDay, UsageDay
from shared.domain.prices.price_keys import Price
from shared.domain.prices.price_table import PriceTable
from shared.domain.timeline.timeline import Run

MOST = 10
_PLACES = 10**12  # for ranks, which are whole numbers


@dataclass(frozen=True, slots=True)
class DearTask:
    """A task's latest run: milliseconds, the slots that it held, and the money for them."""

    task: str
    pool: str
    node: str
    outcome: Outcome
    slots: int
    time: int
    amount: Decimal


class _Rate(NamedTuple):
    """What a slot millisecond costs, for ranks only."""

    pool: PoolDay
    kind: NodeKind
    rank: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A run by its rank; of equal ranks, that of the last id is the least."""

    rank: int
    run: Run
    rate: _Rate

    def __lt__(self, other: "_Candidate") -> bool:
        return (self.rank, other.run.task) < (other.rank, self.run.task)


@dataclass(slots=True)
class DearestTasks:
    """The dearest of the runs that `take` was given.

    `pools` and `kinds` are those of the days in which the job ran, by pool key. `known` is the time up to which running
    tasks are known to have run, in milliseconds since 1970.
    """

    pools: Mapping[str, PoolDay]
    kinds: Mapping[str, NodeKinds]
    prices: PriceTable
    known: int
    _best: list[_Candidate] = field(default_factory=list)
    _rates: dict[tuple[str, bool, int], _Rate | None] = field(default_factory=dict)

    @classmethod
    def of_days(cls, days: Iterable[UsageDay], prices: PriceTable, known: int) -> "DearestTasks":
        """Returns the search among runs on the pools of some days, in their order."""
        pools, kinds = dict[str, PoolDay](), defaultdict[str, set[NodeKind]](set)
        for day in days:
            pools |= day.pools
            for key, pool in day.pools.items():
                kinds[key].update(pool.units)
        return cls(pools, {key: NodeKinds(all_kinds=frozenset(found)) for key, found in kinds.items()}, prices, known)

    def take(self, runs: Iterable[Run]) -> None:
        """Adds runs; those of equal cost count in the order of their tasks' ids."""
        for run in runs:
            span = (self.known if run.end is None else run.end) - run.start
            rate = self._rate(run) if span > 0 else None
            if rate is None:
                continue
            rank = span * run.slots * rate.rank
            if len(self._best) < MOST:
                heapq.heappush(self._best, _Candidate(rank, run, rate))
            elif rank >= self._best[0].rank:
                heapq.heappushpop(self._best, _Candidate(rank, run, rate))

    def tasks(self) -> Sequence[DearTask]:
        """Returns the dearest tasks, dearest first."""
        found = [self._task(one.run, one.rate) for one in self._best]
        return sorted(found, key=lambda one: (-one.amount, one.task))

    def _rate(self, run: Run) -> _Rate | None:
        pool_id, node_id = run.node
        known_by = (pool_id, node_id.endswith("_p"), run.start // DAY)
        if known_by not in self._rates:
            self._rates[known_by] = self._looked_up(key_of(pool_id), node_id, run.start // DAY)
        return self._rates[known_by]

    def _looked_up(self, key: str, node_id: str, day: int) -> _Rate | None:
        pool = self.pools.get(key)
        if pool is None:
            return None
        kind = self.kinds[key].of(node_id)
        hourly = self._hourly(pool, kind, day)
        return None if hourly is None else _Rate(pool, kind, int(hourly * _PLACES) // pool.slots_per_node)

    def _hourly(self, pool: PoolDay, kind: NodeKind, day: int) -> Decimal | None:
        found = self.prices.at(pool.price_key(kind), from_milliseconds(day * DAY))
        return found.hourly if isinstance(found, Price) else None

    def _task(self, run: Run, rate: _Rate) -> DearTask:
        """Returns a task with its exact money: a price holds for the day at whose start (UTC) it is valid."""
        end, total = self.known if run.end is None else run.end, Decimal(0)
        for day in range(run.start // DAY, end // DAY + 1):
            held = min(end, (day + 1) * DAY) - max(run.start, day * DAY)
            hourly = self._hourly(rate.pool, rate.kind, day) or Decimal(0)
            total += amount(held * run.slots, slots_per_node=rate.pool.slots_per_node, hourly=hourly)
        pool_id, node_id = run.node
        return DearTask(run.task, pool_id, node_id, outcome_of(run), run.slots, end - run.start, total)
