"""The dearest tasks of a job, by the money for what their latest runs held: a few of any number of runs.

Node ids say whether a node is dedicated, and stored days which sizes and prices a pool's nodes had. Tasks whose nodes
have no price, or had none on a day, are left out.
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
    """The price of a pool's node for an hour, and how many slots share it."""

    hourly: Decimal
    slots_per_node: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A run by its money; of equal amounts, that of the last id is the least."""

    amount: Decimal
    run: Run

    def __lt__(self, other: "_Candidate") -> bool:
        return (self.amount, other.run.task) < (other.amount, self.run.task)


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
            money = self._amount(run)
            if money is None:
                continue
            if len(self._best) < MOST:
                heapq.heappush(self._best, _Candidate(money, run))
            elif money >= self._best[0].amount:
                heapq.heappushpop(self._best, _Candidate(money, run))

    def tasks(self) -> Sequence[DearTask]:
        """Returns the dearest tasks, dearest first."""
        return [self._task(one.amount, one.run) for one in sorted(self._best, reverse=True)]

    def _amount(self, run: Run) -> Decimal | None:
        """Returns the money of a run: a price holds for the day at whose start (UTC) it is valid.

        It is None where nodes like its own have no price on any of its days, and for a run that took no time.
        """
        (pool_id, node_id), end = run.node, self._end(run)
        if end <= run.start:
            return None
        total = Decimal(0)
        for day in range(run.start // DAY, (end - 1) // DAY + 1):
            rate = self._rate(pool_id, node_id, day)
            if rate is None:
                return None
            held = min(end, (day + 1) * DAY) - max(run.start, day * DAY)
            total += amount(held * run.slots, slots_per_node=rate.slots_per_node, hourly=rate.hourly)
        return total

    def _rate(self, pool_id: str, node_id: str, day: int) -> _Rate | None:
        known_by = (pool_id, node_id.endswith("_p"), day)
        if known_by not in self._rates:
            self._rates[known_by] = self._looked_up(key_of(pool_id), node_id, day)
        return self._rates[known_by]

    def _looked_up(self, key: str, node_id: str, day: int) -> _Rate | None:
        pool = self.pools.get(key)
        if pool is None:
            return None
        found = self.prices.at(pool.price_key(self.kinds[key].of(node_id)), from_milliseconds(day * DAY))
        return _Rate(found.hourly, pool.slots_per_node) if isinstance(found, Price) else None

    def _end(self, run: Run) -> int:
        return self.known if run.end is None else run.end

    def _task(self, money: Decimal, run: Run) -> DearTask:
        pool_id, node_id = run.node
        return DearTask(run.task, pool_id, node_id, outcome_of(run), run.slots, self._end(run) - run.start, money)
