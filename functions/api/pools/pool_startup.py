"""GET accounts/{account}/pools/{pool}/startup: how long nodes take from the wish for them to their first task."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Annotated

from msgspec import Meta

from functions.api.endpoints import POOL
from functions.api.jobs.explanation import FindingAnswer, finding_answer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format
from functions.http.rendering import LOOKS
from shared.domain.nodes.start_ups import REASONS
from shared.domain.pools.start_up_figures import PhaseFigures, StartUpFigures, nearest_rank
from shared.services.queries.start_up_queries import StartUpReport

_Days = Annotated[int, Meta(ge=1, le=31, description="Days of allocation (UTC), today included.")]
_ERA = date(1970, 1, 1).toordinal()


class StartUpQuery(Query):
    """The days whose nodes count, and the format."""

    days: _Days = 7
    format: Format = "json"


class StartUpReasonAnswer(Answer):
    """Why so many nodes have no figure of a phase."""

    reason: str
    nodes: int
    detail: str


class StartUpPhaseAnswer(Answer):
    """A phase over `nodes` that have it: half took at most `p50Seconds`, 95 % at most `p95Seconds`.

    Both are null where no node has it; `reason` is then the most frequent one of `unknown`.
    """

    phase: str
    nodes: int
    p50_seconds: float | None
    p95_seconds: float | None
    reason: str | None
    unknown: list[StartUpReasonAnswer]


class StartUpGroupAnswer(Answer):
    """The start-ups of a day, a VM size or an image, whose name is empty where unknown."""

    name: str
    nodes: int
    phases: list[StartUpPhaseAnswer]


class StartUpLine(Answer):
    """The table columns: a line for each phase of each group; `grouping` is `all`, `day`, `vmSize` or `image`."""

    grouping: str
    name: str
    phase: str
    nodes: int
    p50_seconds: float | None
    p95_seconds: float | None
    reason: str | None


class PreparationTasksAnswer(Answer):
    """Runs of job preparation tasks on the pool's nodes, the latest thousand that Batch's events show."""

    runs: int
    p50_seconds: float
    p95_seconds: float


class StartUpAnswer(Answer):
    """The start-ups of nodes that were allocated since `since`, with their phases in the order of time.

    `overhead` is the total without the wait for a task. `medianTaskSeconds` is the median run of the tasks of the
    pool's jobs, null before any has completed. `preparationTasks` are null where no event shows any. `limited`: a day
    had more nodes than are kept.
    """

    account: str
    pool: str
    as_of: datetime | None
    since: date
    nodes: int
    limited: bool
    phases: list[StartUpPhaseAnswer]
    by_day: list[StartUpGroupAnswer]
    by_size: list[StartUpGroupAnswer]
    by_image: list[StartUpGroupAnswer]
    median_task_seconds: float | None
    preparation_tasks: PreparationTasksAnswer | None
    findings: list[FindingAnswer]


def add_pool_startup(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/startup", query=StartUpQuery, returns=StartUpAnswer, cacheable=True, looks=LOOKS)
    async def get_pool_startup(call: RouteRequest[StartUpQuery, None]) -> StartUpAnswer | RouteResponse:
        """Returns how long a pool's nodes took to start, by phase: from the wish for a node to its first task."""
        services = await call.services()
        found = await services.start_ups.of_pool(call.path["account"], call.path["pool"], call.query.days)
        answer = _answer(found)
        if call.query.format == "csv":
            lines = list(_lines(answer))
            return csv_reply(Page(value=lines, count=len(lines)), StartUpLine)
        return answer


def _answer(report: StartUpReport) -> StartUpAnswer:
    pool = report.pool.pool
    days = {_day(day).isoformat(): figures for day, figures in report.days.items()}
    return StartUpAnswer(
        account=report.pool.account.id,
        pool=pool.facts.id,
        as_of=pool.nodes_as_of,
        since=_day(report.first),
        nodes=report.figures.nodes,
        limited=report.is_cut,
        phases=_phases(report.figures),
        by_day=_groups(days),
        by_size=_groups(report.sizes),
        by_image=_groups(report.images),
        median_task_seconds=_seconds(report.runs.quantile(50)) if report.runs.count else None,
        preparation_tasks=_preparation_tasks(report.preparations),
        findings=list(map(finding_answer, report.findings)),
    )


def _lines(answer: StartUpAnswer) -> Iterator[StartUpLine]:
    whole = StartUpGroupAnswer(name="", nodes=answer.nodes, phases=answer.phases)
    groupings = {"all": [whole], "day": answer.by_day, "vmSize": answer.by_size, "image": answer.by_image}
    for grouping, groups in groupings.items():
        for group in groups:
            for one in group.phases:
                yield StartUpLine.of(one, grouping=grouping, name=group.name)


def _preparation_tasks(runs: Sequence[int]) -> PreparationTasksAnswer | None:
    p50, p95 = nearest_rank(runs, 50), nearest_rank(runs, 95)
    if p50 is None or p95 is None:
        return None
    return PreparationTasksAnswer(runs=len(runs), p50_seconds=_seconds(p50), p95_seconds=_seconds(p95))


def _groups(found: Mapping[str, StartUpFigures]) -> list[StartUpGroupAnswer]:
    return [
        StartUpGroupAnswer(name=name, nodes=figures.nodes, phases=_phases(figures)) for name, figures in found.items()
    ]


def _phases(figures: StartUpFigures) -> list[StartUpPhaseAnswer]:
    return list(map(_phase, figures.phases))


def _phase(one: PhaseFigures) -> StartUpPhaseAnswer:
    unknown = [StartUpReasonAnswer(reason=why, nodes=nodes, detail=REASONS[why]) for why, nodes in one.unknown]
    return StartUpPhaseAnswer(
        phase=one.phase,
        nodes=one.nodes,
        p50_seconds=None if one.p50 is None else _seconds(one.p50),
        p95_seconds=None if one.p95 is None else _seconds(one.p95),
        reason=unknown[0].reason if unknown and not one.nodes else None,
        unknown=unknown,
    )


def _seconds(milliseconds: float) -> float:
    return round(milliseconds / 1000, 3)


def _day(day: int) -> date:
    return date.fromordinal(_ERA + day)
