"""Answers what a job's tasks used of what their slots offer, from stored summaries, pools and costs.

The agent doesn't measure how many slots a task requires. That is looked up for the tasks at the ends of each figure:
if they differ, nothing is said of offers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.cost.job_costs import held_amount
from shared.domain.efficiency.evidence import EfficiencyEvidence, is_enough
from shared.domain.efficiency.exit_groups import MAX_RUNS, ExitGroups, exit_groups
from shared.domain.efficiency.findings import efficiency_findings
from shared.domain.efficiency.job_context import JobContext, TaskLimit
from shared.domain.efficiency.offers import SlotOffer, advised_nodes, node_offer
from shared.domain.efficiency.task_groups import Figure, TaskGroup, TaskGroups, by_vm_size
from shared.domain.efficiency.used_shares import job_efficiency
from shared.domain.findings.finding import Finding
from shared.domain.jobs.job_efficiency import JobEfficiency
from shared.domain.pools.cores import vcpus_in_pool
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.prices.pool_prices import hourly_prices
from shared.domain.prices.price_keys import Priority
from shared.domain.prices.price_table import PriceTable
from shared.domain.reports.reports import JobReport
from shared.errors import UnreadableError
from shared.services.cost.cost_queries import CostQueries, JobCostReport
from shared.services.efficiency.job_contexts import JobContextReader
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.pools.pools import PoolStore
from shared.stores.telemetry.measured_attempts import MeasuredAttemptStore

_LOOKED_UP: tuple[Figure, ...] = ("duration", "cores", "memory")
_CLOCKS_DIFFER = timedelta(minutes=1)  # a node's from Batch's
_NO_RUNS = "No run of a task was measured: the node agent writes a record at the end of each."
_NO_POOL = "The job's pool isn't stored any more, so what its slots offered is unknown."
_TOO_MANY = (
    f"Runs are grouped by exit in jobs of up to {MAX_RUNS:,} tasks and measured runs: the agent doesn't record exits,"
    " so they are looked up task by task."
)
_NO_SLOTS = "How many slots the tasks require isn't the same for all of them, or isn't known."


class AccountPrices(NamedTuple):
    """The prices that count for an account, and its region, None where it isn't known."""

    table: PriceTable
    region: str | None


@dataclass(frozen=True, slots=True)
class EfficiencyReport:
    """A job's measured runs in groups, what its tasks' slots offer by VM size, and findings, the dearest first.

    `as_of` is the last end of a run. `required` are the slots of each task, None where they differ. `reason` is a
    sentence why there are no offers, or no groups. `cost` is the money for what the job's tasks held, in `currency`.
    `task_limit` is None where it wasn't looked up, as of too few runs. `exits` are the same runs by exit, None where
    they weren't grouped so; `days` are their groups by day since 1970.
    """

    report: JobReport
    groups: TaskGroups
    as_of: datetime | None
    currency: str
    cost: Decimal | None
    offers: Mapping[str, SlotOffer] = field(default_factory=dict)
    slots: int | None = None
    required: int | None = None
    findings: Sequence[Finding] = ()
    reason: str | None = None
    exits: ExitGroups | None = None
    days: Mapping[int, TaskGroups] = field(default_factory=dict)
    task_limit: TaskLimit | None = None

    @property
    def efficiency(self) -> JobEfficiency:
        """What all runs used of what their slots offered, as far as enough of them are known."""
        as_of = to_milliseconds(self.as_of) // 1000 if self.as_of else 0
        return job_efficiency(by_vm_size(self.groups), self.offers, as_of, self.is_enough)

    @property
    def runs(self) -> int:
        return sum(group.runs for group in self.groups.values())

    @property
    def main_size(self) -> str:
        """The VM size with most of the runs, empty where it isn't known."""
        sizes = by_vm_size(self.groups)
        return max(sizes, key=lambda size: sizes[size].runs, default="")

    def is_enough(self, runs: int) -> bool:
        """Returns whether so many measured runs are enough to conclude from."""
        return is_enough(runs, self.tasks)

    @property
    def tasks(self) -> int | None:
        """The job's tasks in any state, None before its first read."""
        snapshot = self.report.job.snapshot
        return snapshot.counts.total if snapshot else None

    @property
    def completed(self) -> int | None:
        """The job's completed tasks, None before its first read."""
        snapshot = self.report.job.snapshot
        return snapshot.counts.completed if snapshot else None


class EfficiencyQueries:
    def __init__(
        self,
        costs: CostQueries,
        tasks: TaskQueries,
        pools: PoolStore,
        attempts: MeasuredAttemptStore,
        contexts: JobContextReader,
    ) -> None:
        self._costs = costs
        self._tasks = tasks
        self._pools = pools
        self._attempts = attempts
        self._contexts = contexts

    async def by_exit(self, account_id: str, job_id: str) -> EfficiencyReport:
        """Returns a job's efficiency with its runs by exit; a larger job has a reason why it has none of these.

        Raises the errors of `of_job`.
        """
        found = await self.of_job(account_id, job_id)
        job, snapshot = found.report.job, found.report.job.snapshot
        tasks = snapshot.counts.total if snapshot else 0
        if max(found.runs, tasks) > MAX_RUNS:
            return replace(found, reason=_TOO_MANY, exits={})
        runs = await self._attempts.load_runs(found.report.account.key, job.key, _since(found.report))
        named = await self._tasks.named(account_id, job_id, {key_of(one.task) for one in runs})
        return replace(found, exits=exit_groups(runs, named))

    async def of_job(self, account_id: str, job_id: str) -> EfficiencyReport:
        """Returns a job's efficiency since its creation. Raises NotFoundError, CacheConflictError, StorageError."""
        cost = await self._costs.of_job(account_id, job_id, "none", dearest=False)
        measured = await self._measured(cost.report, cost.currency, _held(cost))
        return await self._judged(measured, AccountPrices(cost.prices, cost.region), cost)

    async def of_share(self, report: JobReport, prices: AccountPrices) -> EfficiencyReport:
        """Returns a job's efficiency with amounts as shares of its money, without findings that need its costs.

        Raises NotFoundError, CacheConflictError, StorageError.
        """
        return await self._judged(await self._measured(report, "", Decimal(1)), prices)

    async def _measured(self, report: JobReport, currency: str, cost: Decimal | None) -> EfficiencyReport:
        """Returns what was measured of a job, before anything is concluded."""
        measured = await self._attempts.load(report.account.key, report.job.key, _since(report))
        return EfficiencyReport(
            report=report,
            groups=measured.groups,
            as_of=None if measured.latest is None else from_milliseconds(measured.latest * 1000),
            currency=currency,
            cost=cost,
            days=measured.days,
        )

    async def _judged(
        self, found: EfficiencyReport, prices: AccountPrices, costs: JobCostReport | None = None
    ) -> EfficiencyReport:
        """Returns the report with offers and findings, or a reason why there are none.

        Without costs the job's context is read only where its runs lead to advice, which it may contradict.
        """
        sizes = by_vm_size(found.groups)
        if not sizes:
            return replace(found, reason=_NO_RUNS)
        facts = await self._pool(found.report)
        if facts is None:
            return replace(found, reason=_NO_POOL)
        required = await self._required(found.report, sizes.values())
        if required is None:
            return replace(found, slots=facts.slots_per_node, reason=_NO_SLOTS)
        offers = {
            size: SlotOffer(node_offer(size, vcpus_in_pool(size, facts)), facts.slots_per_node, required)
            for size in sizes
            if size
        }
        found = replace(found, offers=offers, slots=facts.slots_per_node, required=required)
        is_spot = costs.use.spot.held > costs.use.dedicated.held if costs else facts.has_only_spot_nodes
        hourly = _hourly(prices, facts, found.as_of, offers, is_spot=is_spot) if found.as_of else {}
        context = await self._context(found, _evidence(found, hourly, JobContext()), costs)
        if len(sizes) == 1 and context.nodes:
            found = replace(found, offers=_with_memory(offers, context.nodes.memory))
        findings = [one for each in _evidence(found, hourly, context) for one in efficiency_findings(each)]
        findings.sort(key=lambda one: -(one.amount.number if one.amount else 0))
        return replace(found, findings=findings, task_limit=context.task_limit)

    async def _context(
        self, found: EfficiencyReport, runs: Sequence[EfficiencyEvidence], costs: JobCostReport | None
    ) -> JobContext:
        """Returns the context of the VM size with most runs; without costs that which may contradict their advice."""
        cores = {each.offer.node.vm_size: each.offer.node.cores for each in runs}
        most = found.main_size
        if most not in cores or not found.as_of:
            return JobContext()
        if costs:
            (examples,) = (_longest_and_shortest(each) for each in runs if each.offer.node.vm_size == most)
            return await self._contexts.context(costs, found.as_of, cores[most], examples)
        if not any(map(efficiency_findings, runs)):
            return JobContext()
        with_nodes = any(each.may_wait or each.offer.gpus for each in runs)
        return await self._contexts.without_costs(found.report, found.as_of, cores[most], with_nodes=with_nodes)

    async def _pool(self, report: JobReport) -> PoolFacts | None:
        pool_id = report.job.facts.pool_id
        if not pool_id:
            return None
        try:
            _, pool = await self._pools.load(report.account.key, pool_id)
        except UnreadableError:
            return None
        return pool.facts if pool else None

    async def _required(self, report: JobReport, groups: Iterable[TaskGroup]) -> int | None:
        """Returns the slots that the tasks at the ends of some figures require, None where they differ."""
        known = (group.figures[figure] for group in groups for figure in _LOOKED_UP if figure in group.figures)
        keys = {key_of(extreme.task) for values in known for extreme in (values.lowest, values.highest)}
        tasks = await self._tasks.named(report.account.id, report.job.facts.id, keys)
        slots = {task.slots for task in tasks.values()}
        return slots.pop() if len(slots) == 1 else None


def _evidence(found: EfficiencyReport, hourly: Mapping[str, Decimal], context: JobContext) -> list[EfficiencyEvidence]:
    """Returns the evidence for each VM size that offers something; the context is that of the size with most runs."""
    sizes = by_vm_size(found.groups)
    run = sum(map(_run_time, sizes.values()))
    return [
        EfficiencyEvidence(
            job_id=found.report.job.facts.id,
            group=sizes[size],
            offer=offer,
            tasks=found.tasks,
            cost=found.cost * _run_time(sizes[size]) / run if found.cost and run else None,
            context=context if size == found.main_size else JobContext(),
            hourly=hourly,
        )
        for size, offer in found.offers.items()
    ]


def _with_memory(offers: Mapping[str, SlotOffer], memory: float | None) -> dict[str, SlotOffer]:
    """Returns offers of nodes that have so much memory where their size isn't known."""
    return {size: replace(offer, node=offer.node.with_memory(memory)) for size, offer in offers.items()}


def _since(report: JobReport) -> int:
    """Returns the first second since 1970 of a job's runs."""
    return max(to_milliseconds(report.job.facts.creation_time - _CLOCKS_DIFFER) // 1000, 0)


def _longest_and_shortest(runs: EfficiencyEvidence) -> tuple[str, ...]:
    """Returns the tasks with the longest and the shortest run; none of fewer runs than are enough."""
    durations = runs.enough("duration")
    return tuple(dict.fromkeys((durations.highest.task, durations.lowest.task))) if durations else ()


def _run_time(group: TaskGroup) -> int:
    """Returns the milliseconds of all runs of a group."""
    durations = group.figures.get("duration")
    return durations.values.sum if durations else 0


def _hourly(
    prices: AccountPrices, facts: PoolFacts, at: datetime, own: Iterable[str], *, is_spot: bool
) -> dict[str, Decimal]:
    """Returns the known hourly prices of the job's and all advised VM sizes, of one kind of node."""
    sizes = {*own, *(node.vm_size for node in advised_nodes())}
    priority: Priority = "spot" if is_spot else "dedicated"
    return hourly_prices(prices.table, facts, prices.region, priority, sizes=sizes, at=at)


def _held(cost: JobCostReport) -> Decimal | None:
    """Returns the money for what the job's tasks held, None where nothing of it has a price."""
    return held_amount(cost.cost.total) or None
