"""Gathers from storage what a replay of a job needs: its ended tasks, its pool with nodes and prices, measured runs.

Of large jobs some leaves are read, at equal distances, so an answer takes the same time for any number of tasks.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.usage_days import DAY, NodeKind, PoolDay
from shared.domain.efficiency.replay.interruption_rates import interruption_rate
from shared.domain.efficiency.replay.workloads import InterruptionRate
from shared.domain.efficiency.task_groups import TaskGroup, by_vm_size
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.prices.price_keys import NoPriceReason, Price
from shared.domain.prices.price_table import PriceTable
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import COMPLETED, Task, TaskCounts
from shared.errors import UnreadableError
from shared.services.cost.pool_days import pool_day
from shared.services.prices.price_queries import PriceQueries
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.pools.nodes import StoredNodes
from shared.stores.stores import Stores
from shared.stores.telemetry.measured_attempts import MeasuredAttemptStore

MAX_TASKS_READ = 20_000
_START_UP_DAYS = 3
_CLOCKS_DIFFER = timedelta(minutes=1)  # a node's from Batch's


@dataclass(frozen=True, slots=True)
class PoolEvidence:
    """A job's pool with its stored nodes, the prices that count for them, and the usual start-up in milliseconds."""

    facts: PoolFacts
    stored: StoredNodes
    priced: PoolDay | None
    prices: PriceTable
    start_up: int

    def kinds(self, tasks: Sequence[Task]) -> Mapping[NodeKind, int]:
        """Returns the nodes that ran some tasks by kind; those that are gone count as the most frequent kind there."""
        known = [self.stored.nodes.get(key_of(node)) for node in {task.node[1] for task in tasks}]
        kinds = Counter(NodeKind(node.vm_size.lower(), node.dedicated) if node else None for node in known)
        if gone := kinds.pop(None, 0):
            kinds[max(kinds, key=lambda kind: kinds[kind]) if kinds else self._usual_kind] += gone
        return {kind: number for kind, number in kinds.items() if kind}

    @property
    def _usual_kind(self) -> NodeKind:
        """The kind of node that the pool had for the longest time, as far as its ledger goes back, else has now."""
        times, usage, size = Counter[NodeKind](), self.stored.usage, self.facts.vm_size
        for amounts in usage.hours.values() if usage else ():
            for kind, time in amounts.items():
                times[NodeKind((kind.vm_size or size).lower(), kind.dedicated)] += time
        if times:
            return max(times, key=lambda kind: times[kind])
        return NodeKind(size.lower(), not self.facts.has_only_spot_nodes)

    def hourly(self, kinds: Mapping[NodeKind, int], at: datetime) -> Decimal | NoPriceReason:
        """Returns the mean price of a node's hour, or why there is none."""
        if self.priced is None:
            return "osUnknown"
        total = Decimal(0)
        for kind, number in kinds.items():
            price = self.prices.at(self.priced.price_key(kind), at)
            if not isinstance(price, Price):
                return price
            total += price.hourly * number
        return total / sum(kinds.values())

    @property
    def interruptions(self) -> InterruptionRate:
        """How often its spot nodes were interrupted, as far as its ledger goes back."""
        usage = self.stored.usage
        if usage is None:
            return InterruptionRate()
        as_of = max(usage.as_of, usage.since)
        return interruption_rate(usage.total(self.stored.nodes, as_of), self.stored.tally, usage.since, as_of)

    @property
    def is_packed(self) -> bool:
        policy = self.facts.settings.task_scheduling_policy if self.facts.settings else None
        return ((policy.node_fill_type if policy else None) or "").lower() == "pack"


async def ended_tasks(leaves: LeafReader, report: JobReport, most: int = MAX_TASKS_READ) -> list[Task]:
    """Returns a job's ended tasks; where more than `most` tasks are in their leaves, those of some at equal distances.

    Raises CacheConflictError.
    """
    every, seen = max(-(-await _tasks_beside_ended(leaves, report, most) // most), 1), 0

    def wanted(counts: TaskCounts, _summary: bytes | None) -> bool:
        nonlocal seen
        seen += counts.completed > 0
        return counts.completed > 0 and seen % every == 1 % every

    found = list[Task]()
    async with aclosing(leaves.slices(report.account.id, report.job.facts.id, wanted=wanted)) as slices:
        async for part in slices:
            states = part.leaf.column("state")
            found += part.leaf.rows([at for at in part.places if states[at] == COMPLETED])
    return found


async def _tasks_beside_ended(leaves: LeafReader, report: JobReport, most: int) -> int:
    """Returns how many tasks the leaves with ended ones have; of a job with at most `most` tasks, all of it."""
    counts = report.job.snapshot.counts if report.job.snapshot else TaskCounts()
    if counts.total <= most or counts.completed == counts.total:
        return counts.total
    found = 0

    def counted(each: TaskCounts, _summary: bytes | None) -> bool:
        nonlocal found
        found += each.total if each.completed else 0
        return False

    async with aclosing(leaves.slices(report.account.id, report.job.facts.id, wanted=counted)) as slices:
        async for _ in slices:
            pass
    return found


class ReplayEvidence:
    def __init__(
        self, leaves: LeafReader, stores: Stores, prices: PriceQueries, attempts: MeasuredAttemptStore
    ) -> None:
        self._leaves = leaves
        self._stores = stores
        self._prices = prices
        self._attempts = attempts

    async def tasks(self, report: JobReport) -> list[Task]:
        """Returns a job's ended tasks, or a part of many. Raises CacheConflictError."""
        return await ended_tasks(self._leaves, report)

    async def pool(self, report: JobReport) -> PoolEvidence | None:
        """Returns what is stored of a job's pool, None where it isn't. Raises StorageError, CacheConflictError."""
        pool_id, account = report.job.facts.pool_id, report.account
        if not pool_id:
            return None
        try:
            _, pool = await self._stores.pools.load(account.key, pool_id)
        except UnreadableError:
            return None
        if pool is None:
            return None
        stored = await self._stores.nodes.read(account.key, pool.key)
        region = self._prices.region_of(account)
        first = to_milliseconds(report.job.facts.creation_time) // DAY
        days = [await self._stores.start_ups.read(account.key, pool.key, first + day) for day in range(_START_UP_DAYS)]
        starts = [
            (one.ready or one.busy) - one.allocated
            for day in days
            for one in day.start_ups.values()
            if one.allocated and (one.ready or one.busy)
        ]
        return PoolEvidence(
            facts=pool.facts,
            stored=stored,
            priced=pool_day(pool.facts, stored.usage, region),
            prices=await self._prices.table(account),
            start_up=round(max(median(starts), 0)) if starts else 0,
        )

    async def measured(self, report: JobReport) -> Mapping[str, TaskGroup]:
        """Returns a job's measured runs by VM size. Raises StorageError."""
        since = to_milliseconds(report.job.facts.creation_time - _CLOCKS_DIFFER) // 1000
        found = await self._attempts.load(report.account.key, report.job.key, max(since, 0))
        return by_vm_size(found.groups)
