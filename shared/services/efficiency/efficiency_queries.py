"""Answers what a job's tasks used of what their slots offer, from stored summaries, pools and costs.

The agent doesn't measure how many slots a task requires. That is looked up for the tasks at the ends of each figure:
if they differ, nothing is said of offers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.cost.job_costs import held_amount
from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.exit_groups import MAX_RUNS, exit_groups
from shared.domain.efficiency.findings import efficiency_findings
from shared.domain.efficiency.job_context import JobContext
from shared.domain.efficiency.offers import SlotOffer, advised_nodes, node_offer
from shared.domain.efficiency.task_groups import Figure, TaskGroup, by_vm_size
from shared.domain.pools.cores import vcpus_in_pool
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.prices.pool_prices import hourly_prices
from shared.domain.prices.price_keys import Priority
from shared.domain.prices.price_table import PriceTable
from shared.domain.reports.reports import JobReport
from shared.errors import UnreadableError
from shared.services.cost.cost_queries import CostQueries, JobCostReport
from shared.services.efficiency.efficiency_reports import EfficiencyReport
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
        measured = replace(measured, amounts=cost.use.amounts)
        return await self._judged(measured, AccountPrices(cost.prices, cost.region), cost)

    async def of_share(self, report: JobReport, prices: AccountPrices) -> EfficiencyReport:
        """Returns a job's efficiency with amounts as shares of the money of their VM size, without those of its costs.

        Findings that would have saved most time of vCPUs come first.

        Raises NotFoundError, CacheConflictError, StorageError.
        """
        measured = await self._measured(report, "", None)
        found = await self._judged(
            replace(measured, amounts=dict.fromkeys(by_vm_size(measured.groups), Decimal(1))), prices
        )
        return replace(found, findings=sorted(found.findings, key=found.share_of_time, reverse=True))

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

        Without costs the job's context is read only where its runs lead to advice, which it may contradict; of other
        runs without figures of the GPUs that slots offer, that of nodes alone.
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
        context = await self._context(found, found.evidence(hourly, JobContext()), costs)
        if len(sizes) == 1 and context.nodes:
            found = replace(found, offers=_with_memory(offers, context.nodes.memory))
        findings = [one for each in found.evidence(hourly, context) for one in efficiency_findings(each)]
        findings.sort(key=lambda one: -(one.amount.number if one.amount else 0))
        has_gpus = context.nodes is not None and context.nodes.gpus is not None
        return replace(found, findings=findings, task_limit=context.task_limit, has_gpu_figures=has_gpus)

    async def _context(
        self, found: EfficiencyReport, runs: Sequence[EfficiencyEvidence], costs: JobCostReport | None
    ) -> JobContext:
        """Returns the job's context, with tasks of the main VM size; without costs that which may contradict advice."""
        if not runs or not found.as_of:
            return JobContext()
        main = next((each for each in runs if each.is_main_size), None)
        cores = main.offer.node.cores if main else None
        if costs:
            examples = _longest_and_shortest(main) if main else ()
            return await self._contexts.context(costs, found.as_of, cores, examples)
        if any(map(efficiency_findings, runs)):
            with_nodes = any(each.may_wait or each.offer.gpus for each in runs)
            return await self._contexts.without_costs(found.report, found.as_of, cores, with_nodes=with_nodes)
        if any(each.offer.gpus and "gpus" not in each.group.figures for each in runs):
            return await self._contexts.of_nodes(found.report, found.as_of, cores)
        return JobContext()

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
