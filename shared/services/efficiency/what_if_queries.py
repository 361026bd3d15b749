"""Answers how a job would have ended on other nodes: a replay of its ended tasks, beside one under its own settings."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from shared.domain.core.amounts import amount
from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.usage_days import NodeKind
from shared.domain.efficiency.evidence import is_enough
from shared.domain.efficiency.offers import SlotOffer, node_offer
from shared.domain.efficiency.replay.durations import Stretch, UsedCores, lacking_gpus, lacking_memory, stretch_of
from shared.domain.efficiency.replay.estimates import MAX_INTERRUPTIONS, Estimate, estimate_of, expected_interruptions
from shared.domain.efficiency.replay.interruption_rates import rate_among
from shared.domain.efficiency.replay.plans import Scenario
from shared.domain.efficiency.replay.seen_runs import workload_of
from shared.domain.efficiency.replay.workloads import Workload
from shared.domain.efficiency.task_groups import Figure, TaskGroup
from shared.domain.pools.cores import vcpus_in_pool
from shared.domain.prices.price_keys import NO_PRICE
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import Task
from shared.errors import WhatIfError
from shared.services.efficiency.replay_evidence import PoolEvidence, ReplayEvidence
from shared.services.efficiency.replay_notes import replay_notes
from shared.services.queries.queries import Queries

_NO_RUNS = "No task of the job has ended with a run so far, so there is nothing to replay."
_NO_POOL = "The job's pool isn't stored any more, so its slots and prices aren't known."
_OTHER_SLOTS = (
    "Tasks of the job required more slots than a node of its pool has now: it was changed since, so how the job ran"
    " isn't known."
)
_NO_END = (
    "Spot nodes would be interrupted so often that some of these runs would hardly ever end, or only after more events"
    " than are replayed."
)
_TOO_OFTEN = (
    f"Spot nodes would be interrupted more than {MAX_INTERRUPTIONS:,} times while the job runs, more often than is"
    " replayed: ask for fewer nodes."
)
_ALONE = "The job has the nodes for itself, from when each took up its first task until its last task has ended."
_HOUR = 3_600_000  # milliseconds
_MOST_RUNS = 95  # percent


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Other settings than those of then; None leaves one as it was."""

    nodes: int | None = None
    slots: int | None = None
    vm_size: str | None = None
    spot: bool | None = None


@dataclass(frozen=True, slots=True)
class ScenarioReport:
    """A replay on `nodes` with `slots` each; `spot` is None on nodes of both kinds.

    `hourly` is the price of a node's hour, None where it isn't known, as `no_price` says. `estimate` is None where the
    replay doesn't end, or has too many interruptions, as `no_end` says.
    """

    nodes: int
    slots: int
    vm_size: str
    spot: bool | None
    estimate: Estimate | None
    hourly: Decimal | None
    no_price: str | None
    no_end: str | None = None

    def cost(self, node_time: float) -> Decimal | None:
        """Returns what milliseconds of nodes cost."""
        return None if self.hourly is None else self.hourly * Decimal(str(node_time)) / _HOUR


@dataclass(frozen=True, slots=True)
class WhatIfReport:
    """Replays of a job's `tasks`; all of them, or a sample of `replayed`. `measured` runs say how they use CPUs.

    `begin` is the creation of the first task, `end` when the last run ended. Without replays `reason` says why.
    """

    report: JobReport
    currency: str = ""
    tasks: int = 0
    replayed: int = 0
    measured: int = 0
    begin: datetime | None = None
    end: datetime | None = None
    as_it_was: ScenarioReport | None = None
    asked: ScenarioReport | None = None
    assumptions: Sequence[str] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Basis:
    """What both replays of an answer rest on."""

    report: JobReport
    workload: Workload
    pool: PoolEvidence
    kinds: Mapping[NodeKind, int]
    begin: datetime
    group: TaskGroup | None

    @property
    def vm_size(self) -> str:
        return max(self.kinds, key=lambda kind: self.kinds[kind]).vm_size

    @property
    def own(self) -> tuple[str, int]:
        """The VM size and the slots of then."""
        return self.vm_size, self.pool.facts.slots_per_node

    @property
    def required(self) -> int:
        slots = [task.slots for task in self.workload.tasks]
        return max(set(slots), key=slots.count)

    def offer(self, vm_size: str, slots: int) -> SlotOffer:
        """Returns what the slots of a task offer. Raises WhatIfError for an unknown size, and for too many slots."""
        node = node_offer(vm_size, vcpus_in_pool(vm_size, self.pool.facts))
        if vm_size != self.vm_size and (node.cores is None or node.memory is None):
            text = f"The vCPUs and memory of '{vm_size}' aren't known here, so nothing is said of it."
            raise WhatIfError(text, target="vmSize")
        if node.cores and slots > node.most_slots and (vm_size, slots) != self.own:
            text = f"Batch allows at most {node.most_slots} slots on a node of {vm_size}, as it has {node.cores} vCPUs."
            raise WhatIfError(text, target="slots")
        return SlotOffer(node, slots, self.required)


class WhatIfQueries:
    def __init__(self, jobs: Queries, evidence: ReplayEvidence) -> None:
        self._jobs = jobs
        self._evidence = evidence

    async def of_job(self, account_id: str, job_id: str, wanted: WhatIf) -> WhatIfReport:
        """Returns the replays of a job.

        Raises NotFoundError, WhatIfError, CacheConflictError, StorageError.
        """
        report = await self._jobs.job(account_id, job_id)
        pool, ended = await self._evidence.pool(report), await self._evidence.tasks(report)
        tasks = [task for task in ended if task.start]
        if pool is None:
            return WhatIfReport(report, reason=_NO_POOL)
        workload = _workload(report, pool, tasks)
        if workload is None:
            return WhatIfReport(report, pool.prices.currency, reason=_NO_RUNS)
        if workload.widest > pool.facts.slots_per_node:
            return WhatIfReport(report, pool.prices.currency, reason=_OTHER_SLOTS)
        sizes = await self._evidence.measured(report)
        begin = from_milliseconds(min(task.creation or task.start for task in tasks))
        basis = _Basis(report, workload, pool, pool.kinds(tasks), begin, None)
        basis = replace(basis, group=sizes.get(basis.vm_size))
        return await asyncio.to_thread(_answer, basis, wanted)


def _workload(report: JobReport, pool: PoolEvidence, tasks: Sequence[Task]) -> Workload | None:
    snapshot = report.job.snapshot
    statistics = snapshot.statistics.unpack() if snapshot and snapshot.statistics else None
    runs = statistics.runs if statistics and statistics.runs.count else None
    found = workload_of(
        tasks,
        total=runs.count if runs else len(tasks),
        slots=pool.facts.slots_per_node,
        uses_dependencies=report.job.facts.rules.uses_task_dependencies,
        run_mean=runs.mean if runs else None,
    )
    return found and replace(found, start_up=pool.start_up, is_packed=pool.is_packed)


def _answer(basis: _Basis, wanted: WhatIf) -> WhatIfReport:
    workload, group = basis.workload, basis.group
    slots, vm_size = wanted.slots or basis.pool.facts.slots_per_node, (wanted.vm_size or basis.vm_size).lower()
    if workload.widest > slots:
        text = f"Some tasks require {workload.widest} slots, more than the {slots} of a node: they would never run."
        raise WhatIfError(text, target="slots")
    was, will = basis.offer(*basis.own), basis.offer(vm_size, slots)
    peak, gpus = _peaks(group)
    stretch = stretch_of(_used_cores(basis), was, will)
    before = _scenario(basis, WhatIf(), Stretch(1.0, ""))
    asked = before if wanted == WhatIf() else _scenario(basis, wanted, stretch)
    misfit = before.estimate.misfit(workload.end) if before.estimate else 0.0
    notes = [_ALONE, stretch.assumption, *_notes(basis, asked, misfit)]
    notes += replay_notes(asked.estimate) if asked.estimate else []
    notes += filter(None, (lacking_memory(peak, will), lacking_gpus(gpus, was, will)))
    return WhatIfReport(
        report=basis.report,
        currency=basis.pool.prices.currency,
        tasks=workload.total,
        replayed=len(workload.tasks),
        measured=group.runs if group else 0,
        begin=basis.begin,
        end=from_milliseconds(round(basis.begin.timestamp() * 1000) + workload.end),
        as_it_was=before,
        asked=replace(asked, estimate=asked.estimate and asked.estimate.widened(misfit)),
        assumptions=notes,
        reason=asked.no_end or before.no_end,
    )


def _scenario(basis: _Basis, wanted: WhatIf, stretch: Stretch) -> ScenarioReport:
    pool, vm_size = basis.pool, wanted.vm_size
    kinds: dict[NodeKind, int] = {}
    for kind, number in basis.kinds.items():
        other = NodeKind(
            vm_size.lower() if vm_size else kind.vm_size,
            kind.dedicated if wanted.spot is None else not wanted.spot,
        )
        kinds[other] = kinds.get(other, 0) + number
    dedicated = {kind.dedicated for kind in kinds}
    spot = None if len(dedicated) > 1 else not dedicated.pop()
    nodes, slots = wanted.nodes or basis.workload.nodes, wanted.slots or pool.facts.slots_per_node
    spot_nodes = sum(number for kind, number in kinds.items() if not kind.dedicated)
    interruptions = rate_among(pool.interruptions, spot_nodes, sum(kinds.values()))
    scenario = Scenario(nodes, slots, stretch.factor, interruptions, stretch.bounds)
    seed = f"{basis.report.job.key}/{nodes}/{slots}/{vm_size}/{spot}"
    price = pool.hourly(kinds, basis.begin)
    estimate = estimate_of(basis.workload, scenario, seed=seed)
    is_too_often = expected_interruptions(basis.workload, scenario) > MAX_INTERRUPTIONS
    return ScenarioReport(
        nodes=nodes,
        slots=slots,
        vm_size=vm_size.lower() if vm_size else basis.vm_size,
        spot=spot,
        estimate=estimate,
        hourly=price if isinstance(price, Decimal) else None,
        no_price=None if isinstance(price, Decimal) else NO_PRICE[price],
        no_end=None if estimate else _TOO_OFTEN if is_too_often else _NO_END,
    )


def _used_cores(basis: _Basis) -> UsedCores:
    """Returns the use of vCPUs by measured runs, each by its time; none where too few of the job's runs have it."""
    figures, total = basis.group.figures if basis.group else {}, basis.workload.total
    cores, threads = figures.get("cores"), figures.get("threads")
    if cores is None or not is_enough(cores.count, total):
        return UsedCores(runs=cores.count if cores else 0)
    most = threads.quantile(_MOST_RUNS) if threads and is_enough(threads.count, total) else None
    return UsedCores(cores.mean_over_time / 1000, most, cores.count)


def _peaks(group: TaskGroup | None) -> tuple[float | None, float | None]:
    """Returns the highest peak of memory, and of GPUs, in measured runs; None if not measured."""
    names: tuple[Figure, ...] = ("memory", "gpus")
    memory, gpus = (group.figures.get(name) if group else None for name in names)
    return float(memory.highest.value) if memory else None, gpus.highest.value / 1000 if gpus else None


def _notes(basis: _Basis, asked: ScenarioReport, misfit: float) -> list[str]:
    """Returns what else a replay takes for granted, in sentences."""
    workload, pool, found = basis.workload, basis.pool, list[str]()
    usual = sum(workload.gaps) / len(workload.gaps) / 1000
    found.append(
        f"Nodes are ready as {amount(len(workload.arrivals), 'node')} of then were, and slots wait about {usual:.1f} s"
        " between two runs, as then."
    )
    if asked.spot is not False:
        rate = pool.interruptions.per_hour
        found.append(
            f"Spot nodes are interrupted {rate:.2g} times an hour, as far as the pool shows, and their runs begin anew."
            if rate
            else "No interruption of spot nodes was seen in this pool, so none is replayed."
        )
    if any(task.runs > 1 for task in workload.tasks):
        found.append("Earlier runs of retried tasks took as long as their last.")
    if basis.report.job.facts.rules.uses_task_dependencies:
        found.append(
            "Groups of tasks that began after others had ended wait for these. Dependencies of single tasks aren't"
            " replayed: where each waits for one before it, the job takes longer than this says."
        )
    if workload.is_sampled:
        found.append(f"{len(workload.tasks):,} of {workload.total:,} tasks stand for all.")
    snapshot = basis.report.job.snapshot
    if snapshot and (left := snapshot.counts.total - snapshot.counts.completed):
        found.append(f"{amount(left, 'task')} that haven't ended aren't replayed.")
    found.append(f"A replay as it was ends {misfit:.1%} away from what was seen; the spread includes as much.")
    return found
