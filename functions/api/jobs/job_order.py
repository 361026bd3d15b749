"""Orders of job lists: by the columns of the job tables."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from functions.http.lists import Order, Value
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.reports.reports import JobReport

JobsOrderBy = Annotated[
    Literal[
        "id", "id desc",
        "state", "state desc",
        "poolId", "poolId desc",
        "priority", "priority desc",
        "creationTime", "creationTime desc",
        "stateTransitionTime", "stateTransitionTime desc",
        "startTime", "startTime desc",
        "endTime", "endTime desc",
        "taskCounts.active", "taskCounts.active desc",
        "taskCounts.preparing", "taskCounts.preparing desc",
        "taskCounts.running", "taskCounts.running desc",
        "taskCounts.completed", "taskCounts.completed desc",
        "taskCounts.succeeded", "taskCounts.succeeded desc",
        "taskCounts.failed", "taskCounts.failed desc",
        "taskCounts.total", "taskCounts.total desc",
    ],
    Meta(description="Jobs without the value come last in both directions, equal values in the order of ids."),
]  # fmt: skip


def order_of(orderby: str) -> Order[JobReport]:
    """Returns the order of an `orderby` value."""
    kind, value = _COLUMNS[orderby.removesuffix(" desc")]
    return Order(orderby, kind, value, lambda report: report.job.key)


def _time(name: str) -> tuple[type[int], Callable[[JobReport], Value]]:
    def value(report: JobReport) -> Value:
        moment: datetime | None = getattr(report.job.facts, name)
        return to_milliseconds(moment) if moment else None

    return int, value


def _count(name: str) -> tuple[type[int], Callable[[JobReport], Value]]:
    def value(report: JobReport) -> Value:
        picture = report.job.picture
        return int(getattr(picture.counts, name)) if picture else None

    return int, value


def _pool(report: JobReport) -> Value:
    return key_of(report.job.facts.pool_id) if report.job.facts.pool_id else None


_COLUMNS: dict[str, tuple[type[int | str], Callable[[JobReport], Value]]] = {
    "id": (str, lambda report: report.job.key),
    "state": (str, lambda report: report.job.facts.state),
    "poolId": (str, _pool),
    "priority": (int, lambda report: report.job.facts.priority),
    "creationTime": _time("creation_time"),
    "stateTransitionTime": _time("state_transition_time"),
    "startTime": _time("start_time"),
    "endTime": _time("end_time"),
    **{
        f"taskCounts.{name}": _count(name)
        for name in ("active", "preparing", "running", "completed", "succeeded", "failed", "total")
    },
}
