"""GET accounts/{account}/jobs/{job}/history: a job's task counts over time."""

from datetime import datetime, timedelta
from typing import Annotated, Any, TypedDict

from msgspec import UNSET, Meta, UnsetType, field

from functions.api.endpoints import JOB
from functions.api.jobs.job_models import TaskCountsAnswer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format, Time, given
from shared.domain.core.stamps import format_duration
from shared.domain.history.points import Point, Series
from shared.domain.tasks.tasks import TaskCounts

Step = Annotated[timedelta, Meta(description="Whole minutes, like PT1M, PT15M or P1D.")]


class Range(TypedDict):
    """A requested range; None where a bound or the step is left to the service."""

    since: datetime | None
    until: datetime | None
    step: timedelta | None


class HistoryQuery(Query):
    """The range and the step; by default the last 24 hours in at most 500 points."""

    since: Time | UnsetType = field(default=UNSET, name="from")
    until: Time | UnsetType = field(default=UNSET, name="to")
    step: Step | UnsetType = UNSET
    format: Format = "json"

    @property
    def range(self) -> Range:
        return Range(since=given(self.since), until=given(self.until), step=given(self.step))


class PointAnswer(Answer):
    """The counts at the end of a step, as of then or shortly before; all null if no poll covered it.

    `exact` is true if Get Task Counts confirmed these counts.
    """

    time: datetime
    as_of: datetime | None
    exact: bool | None
    task_counts: TaskCountsAnswer | None


class SpanAnswer(Answer):
    """A range of time, from `from` to before `to`."""

    since: datetime = field(name="from")
    until: datetime = field(name="to")


class RangeAnswer(SpanAnswer):
    """Common fields of histories: the points of a range; each point describes the end of a step."""

    step: str
    value: list[Any]


class HistoryAnswer(RangeAnswer):
    """The points of a range; each describes the end of a step."""

    value: list[PointAnswer]


def add_history(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/history", query=HistoryQuery, returns=HistoryAnswer, cacheable=True)
    async def get_job_history(call: RouteRequest[HistoryQuery, None]) -> HistoryAnswer | RouteResponse:
        """Returns a job's task counts over time: one point per step, with the last known counts at its end."""
        services = await call.services()
        found = await services.histories.read(call.path["account"], call.path["job"], **call.query.range)
        points = list(map(_point_answer, found.points))
        return history_reply(call.query, found.series, points, HistoryAnswer, table=PointAnswer)


def history_reply[A: RangeAnswer](
    query: HistoryQuery, series: Series, points: list[Any], answer: type[A], *, table: type[Answer]
) -> A | RouteResponse:
    """Returns the points of a history as JSON or as a table with the columns of `table`."""
    if query.format == "csv":
        return csv_reply(Page(value=points), table)
    return answer.of(series, step=format_duration(series.step), value=points)


def _point_answer(point: Point[TaskCounts]) -> PointAnswer:
    return PointAnswer.of(point, task_counts=TaskCountsAnswer.of(point.numbers) if point.numbers else None)
