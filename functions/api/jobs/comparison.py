"""GET accounts/{account}/jobs/{job}/comparison: what sets a job's failed tasks apart from those that succeeded."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Literal

from functions.api.endpoints import JOB
from functions.api.jobs.explanation import FindingAnswer, finding_answer
from functions.api.jobs.group_filters import task_filter
from functions.http.answers import Answer, stamp, utc
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format
from shared.domain.contrasts.attributes import HOUR, SETTING_CHANGE
from shared.domain.contrasts.comparison import LEVEL
from shared.domain.contrasts.contrast import ComparisonResult, Contrast, TaskComparison
from shared.domain.contrasts.titles import title_of
from shared.domain.tasks.tasks import FAILURE
from shared.services.tasks.task_comparisons import ComparisonReport

type ContrastUnit = Literal["s", "B", "gpus", "number"]
_UNITS: Mapping[str, tuple[ContrastUnit, int]] = {
    "wait": ("s", 1000),
    "runTime": ("s", 1000),
    "memoryPeak": ("B", 1),
    "gpuMemoryPeak": ("B", 1),
    "gpus": ("gpus", 1000),
}
_TIMES = ("start", "startHour", SETTING_CHANGE)
_DIGITS, _MAX_TASKS = 6, 20


class ComparisonQuery(Query):
    """JSON or a table."""

    format: Format = "json"


class SameTasksAnswer(Answer):
    """Mostly the same tasks, by another attribute."""

    attribute: str
    title: str


class ContrastAnswer(Answer):
    """A group of tasks, and which share of the failed, and of the succeeded, tasks is in it.

    `value` is a single value. Else `low` and `high`, or `since` and `until`, are bounds, null without one. `failed` and
    `succeeded` are the compared tasks in the group. `difference` is that of both shares, with its 95 % bounds.
    `taskFilter` has the parameters of the task list that show the group, none where the list has no such filter.
    `tasks` are its first 20 failed tasks, by id.
    """

    attribute: str
    title: str
    value: str | None
    low: float | None
    high: float | None
    unit: ContrastUnit | None
    since: datetime | None
    until: datetime | None
    failed: int
    succeeded: int
    failed_share: float
    succeeded_share: float
    difference: float
    difference_low: float
    difference_high: float
    p_value: float
    task_filter: dict[str, str]
    tasks: list[str]
    same_tasks: list[SameTasksAnswer]


class ComparisonLine(Answer):
    """The table columns; `kind` is cause or consequence."""

    kind: Literal["cause", "consequence"]
    attribute: str
    title: str
    failed: int
    succeeded: int
    failed_share: float
    succeeded_share: float
    difference: float
    p_value: float


class ComparisonAnswer(Answer):
    """What sets failed tasks apart, the best explanation first, each later one among the tasks outside those before.

    `failed` and `succeeded` are the job's tasks, `comparedFailed` and `comparedSucceeded` those that were compared: of
    large jobs a sample. `consequences` are differences that follow from failing. p-values are corrected for all
    `triedGroups`, and at most `level`. `findings` name nodes whose tasks fail more often than chance explains.
    """

    account: str
    job: str
    as_of: datetime | None
    result: ComparisonResult
    failed: int
    succeeded: int
    compared_failed: int
    compared_succeeded: int
    attributes: list[str]
    tried_groups: int
    level: float
    contrasts: list[ContrastAnswer]
    consequences: list[ContrastAnswer]
    findings: list[FindingAnswer]


def add_comparison(routes: Routes) -> None:
    @routes.route(
        "GET",
        f"{JOB}/comparison",
        query=ComparisonQuery,
        returns=ComparisonAnswer,
        cacheable=True,
        depends_on_tables=("tasks",),
        reuse_seconds=60.0,
    )
    async def get_job_comparison(call: RouteRequest[ComparisonQuery, None]) -> ComparisonAnswer | RouteResponse:
        """Returns what a job's failed tasks have that those that succeeded don't."""
        services = await call.services()
        answer = _answer(await services.comparisons.of_job(call.path["account"], call.path["job"]))
        if call.query.format == "csv":
            return csv_reply(Page(value=list(_lines(answer))), ComparisonLine)
        return answer


def _answer(found: ComparisonReport) -> ComparisonAnswer:
    compared = found.comparison
    return ComparisonAnswer(
        account=found.report.account.id,
        job=found.report.job.facts.id,
        as_of=utc(found.as_of),
        result="allFailed" if found.counts.failed and not found.counts.succeeded else compared.result,
        failed=found.counts.failed,
        succeeded=found.counts.succeeded,
        compared_failed=compared.failed,
        compared_succeeded=compared.succeeded,
        attributes=list(compared.attributes),
        tried_groups=compared.tried,
        level=LEVEL,
        contrasts=[_contrast(compared, one) for one in compared.contrasts],
        consequences=[_contrast(compared, one) for one in compared.consequences],
        findings=list(map(finding_answer, found.findings)),
    )


def _contrast(compared: TaskComparison, one: Contrast) -> ContrastAnswer:
    tally, is_time = one.tally, one.attribute in _TIMES
    since, until = _times(one) if is_time else (0, 0)
    unit, divisor = _UNITS.get(one.attribute, ("number", 1))
    is_range = not one.is_value and not is_time
    low, high = one.difference_bounds
    succeeded = tally.total - tally.failed
    return ContrastAnswer(
        attribute=one.attribute,
        title=title_of(one),
        value=_value(one) if one.is_value and not is_time else None,
        low=one.low / divisor if is_range and one.low is not None else None,
        high=one.high / divisor if is_range and one.high is not None else None,
        unit=unit if is_range else None,
        since=stamp(since),
        until=stamp(until),
        failed=tally.failed,
        succeeded=succeeded,
        failed_share=round(tally.failed / tally.all_failed, _DIGITS),
        succeeded_share=round(succeeded / (tally.all_total - tally.all_failed), _DIGITS),
        difference=round(tally.difference, _DIGITS),
        difference_low=round(low, _DIGITS),
        difference_high=round(high, _DIGITS),
        p_value=float(f"{one.p_value:.3g}"),
        task_filter=task_filter(one),
        tasks=_first_tasks(compared, one),
        same_tasks=[SameTasksAnswer(attribute=same.attribute, title=title_of(same)) for same in one.alike],
    )


def _times(one: Contrast) -> tuple[int, int]:
    """Returns the bounds of times in milliseconds since 1970, 0 for none."""
    if one.attribute == SETTING_CHANGE:
        return one.low.since if one.low else 0, one.high.until if one.high else 0
    return one.low or 0, one.high + (HOUR if one.is_value else 0) if one.high else 0


def _value(one: Contrast) -> str:
    return str(one.low[1] if one.attribute == "node" else one.low)


def _first_tasks(compared: TaskComparison, one: Contrast) -> list[str]:
    """Returns the ids of the first failed tasks of a group."""
    failed = (
        task.id for task, is_in in zip(compared.tasks, one.inside, strict=True) if is_in and task.result == FAILURE
    )
    return list(islice(failed, _MAX_TASKS))


def _lines(answer: ComparisonAnswer) -> Iterator[ComparisonLine]:
    for one in answer.contrasts:
        yield ComparisonLine.of(one, kind="cause")
    for one in answer.consequences:
        yield ComparisonLine.of(one, kind="consequence")
