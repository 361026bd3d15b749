"""GET accounts/{account}/jobs/{job}/history: a job's task counts over time."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Self

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


class HistoryQuery(Query):
    """The range and the step; by default the last 24 hours in at most 500 points."""

    since: Time | UnsetType = field(default=UNSET, name="from")
    until: Time | UnsetType = field(default=UNSET, name="to")
    step: Step | UnsetType = UNSET
    format: Format = "json"


class PointAnswer(Answer):
    """The counts at the end of a step, as of then or shortly before; all null if no poll covered it.

    `exact` is true if Get Task Counts confirmed these counts.
    """

    time: datetime
    as_of: datetime | None
    exact: bool | None
    task_counts: TaskCountsAnswer | None


class RangeAnswer(Answer):
    """Common fields of histories: the points of a range; each point describes the end of a step."""

    since: datetime = field(name="from")
    until: datetime = field(name="to")
    step: str
    value: list[Any]

    @classmethod
    def of_points(cls, series: Series, points: list[Any]) -> Self:
        """Returns the answer for a series with these points."""
        return cls.of(series, step=format_duration(series.step), value=points)


class HistoryAnswer(RangeAnswer):
    """The points of a range; each describes the end of a step."""

    value: list[PointAnswer]


def add_history(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/history", query=HistoryQuery, returns=HistoryAnswer, cacheable=True)
    async def get_job_history(call: RouteRequest[HistoryQuery, None]) -> HistoryAnswer | RouteResponse:
        """Returns a job's task counts over time: one point per step, with the last known counts at its end."""
        services, query = await call.services(), call.query
        found = await services.histories.read(
            call.path["account"],
            call.path["job"],
            since=given(query.since),
            until=given(query.until),
            step=given(query.step),
        )
        answer = HistoryAnswer.of_points(found.series, list(map(_point_answer, found.points)))
        return csv_reply(Page(value=answer.value), PointAnswer) if query.format == "csv" else answer


def _point_answer(point: Point[TaskCounts]) -> PointAnswer:
    return PointAnswer.of(point, task_counts=TaskCountsAnswer.of(point.numbers) if point.numbers else None)
