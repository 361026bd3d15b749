"""GET accounts/{account}/jobs/{job}/efficiency: what a job's tasks used of what their slots offer, with advice."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Literal

from msgspec import field

from functions.api.cost.account_cost import rounded
from functions.api.endpoints import JOB
from functions.api.jobs.explanation import FindingAnswer, finding_answer
from functions.http.answers import Answer, utc
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format
from shared.domain.efficiency.distributions import Distribution, Extreme
from shared.domain.efficiency.evidence import THOUSAND
from shared.domain.efficiency.exit_groups import ExitKey, RunResult
from shared.domain.efficiency.job_context import TaskLimit
from shared.domain.efficiency.offers import SlotOffer
from shared.domain.efficiency.task_groups import FIGURES, Figure, GroupKey, TaskGroup
from shared.domain.efficiency.used_shares import UsedShares
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MIN_MEASURED_OF_SMALL_JOBS, MIN_MEASURED_RUNS
from shared.services.efficiency.efficiency_reports import EfficiencyReport

type Unit = Literal["s", "cores", "B", "B/s", "threads", "gpus"]
_UNITS: Mapping[Figure, tuple[Unit, int]] = {
    "duration": ("s", THOUSAND),
    "cores": ("cores", THOUSAND),
    "memory": ("B", 1),
    "diskRate": ("B/s", 1),
    "threads": ("threads", 1),
    "gpus": ("gpus", THOUSAND),
    "gpuMemory": ("B", 1),
}
"""Units of figures, with the divisor of stored whole numbers."""


type EfficiencyGrouping = Literal["prefix", "exit"]


class EfficiencyQuery(Query):
    """Groups by prefix of the task's id or by exit, and JSON or a table."""

    group_by: EfficiencyGrouping = field(default="prefix", name="groupBy")
    format: Format = "json"


class ExtremeAnswer(Answer):
    """The value at one end, and a task that has it."""

    value: float
    task: str


class FigureAnswer(Answer):
    """The distribution of a figure over the `count` runs for which it is known; quantiles are at most 6 % off.

    `duration` is that of runs, `cores` those busy on average, `memory` and `gpuMemory` the peaks, `diskRate` what was
    read and written on average, `threads` the most at a sample, `gpus` those busy on average. `offered` is what the
    slots of a task offer of it, null where that isn't known. `enough` says whether the count is enough to judge from.
    """

    name: Figure
    unit: Unit
    count: int
    enough: bool
    mean: float
    p50: float
    p95: float
    lowest: ExtremeAnswer
    highest: ExtremeAnswer
    offered: float | None


class TaskGroupAnswer(Answer):
    """Runs of tasks whose ids begin with `prefix` (null: all tasks) on nodes of a VM size; null where unknown.

    With `groupBy=exit` they have a `result` and an `exitCode`, null where there is none: `followed` runs had another
    one of the same task after them, and tasks of `unknown` ones aren't stored. `enough` says whether so many runs are
    enough to conclude from.
    """

    prefix: str | None
    result: RunResult | None
    exit_code: int | None
    vm_size: str | None
    runs: int
    enough: bool
    figures: list[FigureAnswer]


class EfficiencyFindingAnswer(FindingAnswer):
    """A finding on the job's efficiency; `amount` is the money that its advice would have saved, null if unknown."""

    amount: Decimal | None


class UsedSharesAnswer(Answer):
    """Used shares of the vCPUs, the memory and the GPUs that slots offer, over the time of runs; null if unknown."""

    cpu: float | None
    memory: float | None
    gpu: float | None


class TaskLimitAnswer(Answer):
    """The time limit (maxWallClockTime) that `tasks` have in Batch, null without one, or why it isn't known."""

    tasks: list[str]
    max_wall_clock_seconds: float | None
    reason: str | None


class EfficiencyLine(Answer):
    """The table columns."""

    prefix: str | None
    result: str | None
    exit_code: int | None
    vm_size: str | None
    figure: str
    unit: str
    count: int
    mean: float
    p50: float
    p95: float
    lowest: float
    lowest_task: str
    highest: float
    highest_task: str
    offered: float | None
    enough: bool


class EfficiencyAnswer(Answer):
    """What a job's tasks used, by group, and findings, those that save most first.

    `runs` of tasks were measured by the node agent until `asOf`, null without any; `completedTasks` is null before the
    job's first read. Each task requires `requiredSlots` of `slotsPerNode`; null where they differ or the pool is
    unknown, which `reason` says. `cost` is the money for what the job's tasks held, null where it has no price.
    `taskLimit` is null of too few runs. Findings rest on `enoughRuns` of a VM size, or on `enoughOfAll` if these are
    all tasks of the job.
    """

    account: str
    job: str
    as_of: datetime | None
    runs: int
    completed_tasks: int | None
    enough_runs: int
    enough_of_all: int
    slots_per_node: int | None
    required_slots: int | None
    currency: str
    cost: Decimal | None
    used_shares: UsedSharesAnswer
    task_limit: TaskLimitAnswer | None
    groups: list[TaskGroupAnswer]
    findings: list[EfficiencyFindingAnswer]
    reason: str | None


def add_job_efficiency(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/efficiency", query=EfficiencyQuery, returns=EfficiencyAnswer, cacheable=True)
    async def get_job_efficiency(call: RouteRequest[EfficiencyQuery, None]) -> EfficiencyAnswer | RouteResponse:
        """Returns what a job's tasks used of what their slots offer, and what would have sufficed."""
        services = await call.services()
        efficiency = services.efficiency
        report = efficiency.by_exit if call.query.group_by == "exit" else efficiency.of_job
        answer = _answer(await report(call.path["account"], call.path["job"]))
        if call.query.format == "csv":
            return csv_reply(Page(value=list(_lines(answer))), EfficiencyLine)
        return answer


def _answer(found: EfficiencyReport) -> EfficiencyAnswer:
    return EfficiencyAnswer(
        account=found.report.account.id,
        job=found.report.job.facts.id,
        as_of=utc(found.as_of),
        runs=found.runs,
        completed_tasks=found.completed,
        enough_runs=MIN_MEASURED_RUNS,
        enough_of_all=MIN_MEASURED_OF_SMALL_JOBS,
        slots_per_node=found.slots,
        required_slots=found.required,
        currency=found.currency,
        cost=None if found.cost is None else rounded(found.cost),
        used_shares=UsedSharesAnswer.of(found.efficiency),
        task_limit=_task_limit(found.task_limit) if found.task_limit else None,
        groups=list(_groups(found)),
        findings=list(map(_finding, found.findings)),
        reason=found.reason,
    )


def _task_limit(found: TaskLimit) -> TaskLimitAnswer:
    limit = found.limit
    return TaskLimitAnswer(
        tasks=list(found.tasks),
        max_wall_clock_seconds=None if limit is None else limit.total_seconds(),
        reason=found.reason,
    )


def used_shares_answer(found: UsedShares, *, enough: bool) -> UsedSharesAnswer:
    """Returns the shares if so many runs are enough, else none."""
    return UsedSharesAnswer.of(found.of_job(0, enough=enough))


def _groups(found: EfficiencyReport) -> Iterator[TaskGroupAnswer]:
    """Yields groups, those with most runs first."""
    groups: list[tuple[GroupKey | ExitKey, TaskGroup]] = [
        *(found.groups if found.exits is None else found.exits).items()
    ]
    for key, group in sorted(groups, key=lambda one: (-one[1].runs, tuple(map(str, one[0])))):
        offer = found.offers.get(key.vm_size)
        yield TaskGroupAnswer(
            prefix=key.prefix if isinstance(key, GroupKey) else None,
            result=key.result if isinstance(key, ExitKey) else None,
            exit_code=key.exit_code if isinstance(key, ExitKey) else None,
            vm_size=key.vm_size or None,
            runs=group.runs,
            enough=found.is_enough(group.runs),
            figures=[
                _figure(name, group.figures[name], offer, enough=found.is_enough(group.figures[name].count))
                for name in FIGURES
                if name in group.figures
            ],
        )


def _figure(name: Figure, values: Distribution, offer: SlotOffer | None, *, enough: bool) -> FigureAnswer:
    unit, divisor = _UNITS[name]
    return FigureAnswer(
        name=name,
        unit=unit,
        count=values.count,
        enough=enough,
        mean=round(values.mean / divisor, 3),
        p50=round(values.quantile(50) / divisor, 3),
        p95=round(values.quantile(95) / divisor, 3),
        lowest=_extreme(values.lowest, divisor),
        highest=_extreme(values.highest, divisor),
        offered=_offered(name, offer) if offer else None,
    )


def _extreme(extreme: Extreme, divisor: int) -> ExtremeAnswer:
    return ExtremeAnswer(value=extreme.value / divisor, task=extreme.task)


def _offered(name: Figure, offer: SlotOffer) -> float | None:
    """Returns what the slots of a task offer of a figure; None where it is unknown or the figure has no bound."""
    offered = {"cores": offer.cores, "memory": offer.memory}
    if offer.node.gpus:
        offered |= {"gpus": offer.gpus, "gpuMemory": offer.gpu_memory}
    return offered.get(name)


def _finding(found: Finding) -> EfficiencyFindingAnswer:
    saved = found.amount
    return EfficiencyFindingAnswer.of(
        finding_answer(found), amount=rounded(saved.number) if saved and isinstance(saved.number, Decimal) else None
    )


def _lines(answer: EfficiencyAnswer) -> Iterator[EfficiencyLine]:
    for group in answer.groups:
        for one in group.figures:
            yield EfficiencyLine.of(
                one,
                prefix=group.prefix,
                result=group.result,
                exit_code=group.exit_code,
                vm_size=group.vm_size,
                figure=one.name,
                lowest=one.lowest.value,
                lowest_task=one.lowest.task,
                highest=one.highest.value,
                highest_task=one.highest.task,
            )
