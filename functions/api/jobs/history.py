"""GET accounts/{account}/jobs/{job}/history: a job's task counts over time."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType, field

from functions.api.jobs.job_models import TaskCountsAnswer, counts_answer
from functions.api.jobs.jobs import Format
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from shared.domain.core.stamps import format_duration
from shared.domain.history.points import Point, Series
from shared.domain.tasks.tasks import TaskCounts
from shared.services.queries.histories import History

Time = Annotated[datetime, Meta(tz=True, extra_json_schema={"format": "date-time"})]
Step = Annotated[timedelta, Meta(description="Whole minutes, like PT1M, PT15M or P1D.")]


class HistoryQuery(Query):
    """The range and the step; by default the last 24 hours in at most 500 points."""

    since: Time | UnsetType = field(default=UNSET, name="from")
    until: Time | UnsetType = field(default=UNSET, name="to")
    step: Step | UnsetType = UNSET
    format: Format = "json"

    @property
    def begin(self) -> datetime | None:
        return None if self.since is UNSET else self.since

    @property
    def end(self) -> datetime | None:
        return None if self.until is UNSET else self.until

    @property
    def length(self) -> timedelta | None:
        return None if self.step is UNSET else self.step


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
    def of(cls, series: Series, points: list[Any]) -> Self:
        """Returns the answer for a series with these points."""
        since, until = series.since.astimezone(UTC), series.until.astimezone(UTC)
        return cls(since=since, until=until, step=format_duration(series.step), value=points)


class HistoryAnswer(RangeAnswer):
    """The points of a range; each describes the end of a step."""

    value: list[PointAnswer]


def add_history(routes: Routes) -> None:
    @routes.route(
        "GET", "accounts/{account}/jobs/{job}/history", query=HistoryQuery, returns=HistoryAnswer, repeats=True
    )
    async def get_job_history(call: RouteRequest[HistoryQuery, None]) -> HistoryAnswer | RouteResponse:
        """Returns a job's task counts over time: one point per step, with the last known counts at its end."""
        services, query = await call.services(), call.query
        found = await services.histories.read(
            call.path["account"], call.path["job"], since=query.begin, until=query.end, step=query.length
        )
        answer = history_answer(found)
        return csv_reply(Page(value=answer.value), PointAnswer) if query.format == "csv" else answer


def history_answer(found: History[TaskCounts]) -> HistoryAnswer:
    return HistoryAnswer.of(found.series, [_point_answer(point) for point in found.points])


def _point_answer(point: Point[TaskCounts]) -> PointAnswer:
    counts = counts_answer(point.numbers) if point.numbers else None
    return PointAnswer(time=point.time, as_of=point.as_of, exact=point.exact, task_counts=counts)
