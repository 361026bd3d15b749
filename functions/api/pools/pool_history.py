"""GET accounts/{account}/pools/{pool}/history: a pool's nodes, slots, cores and interruptions over time."""

from datetime import datetime

from functions.api.jobs.history import HistoryQuery, RangeAnswer
from functions.api.pools.pool_models import CoresAnswer, SlotsAnswer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, RouteRequest, RouteResponse, Routes
from shared.domain.history.points import Point
from shared.domain.nodes.nodes import by_state
from shared.domain.pools.pool_samples import PoolNumbers
from shared.services.queries.histories import History


class KindsAnswer(Answer):
    """A number of nodes of each kind; null where Batch reports none."""

    dedicated: int | None
    spot: int | None


class PoolPointLine(Answer):
    """The table columns of a point: everything except nodes by state."""

    time: datetime
    as_of: datetime | None
    exact: bool | None
    target: KindsAnswer | None
    current: KindsAnswer | None
    slots: SlotsAnswer | None
    cores: CoresAnswer | None
    tasks: int | None
    preempted: int | None
    resize_errors: int | None


class PoolPointAnswer(PoolPointLine):
    """The numbers at the end of a step, as of then or shortly before; all null if no poll covered it.

    `preempted` counts interruptions of spot nodes that polls found within the step, null if unknown.
    """

    node_counts: dict[str, int] | None


class PoolHistoryAnswer(RangeAnswer):
    """The points of a range; each describes the end of a step."""

    value: list[PoolPointAnswer]


def add_pool_history(routes: Routes) -> None:
    @routes.route(
        "GET", "accounts/{account}/pools/{pool}/history", query=HistoryQuery, returns=PoolHistoryAnswer, repeats=True
    )
    async def get_pool_history(call: RouteRequest[HistoryQuery, None]) -> PoolHistoryAnswer | RouteResponse:
        """Returns a pool's numbers over time: one point per step, with the last known numbers at its end."""
        services, query = await call.services(), call.query
        found = await services.pool_histories.read(
            call.path["account"], call.path["pool"], since=query.begin, until=query.end, step=query.length
        )
        answer = pool_history_answer(found)
        return csv_reply(Page(value=answer.value), PoolPointLine) if query.format == "csv" else answer


def pool_history_answer(found: History[PoolNumbers]) -> PoolHistoryAnswer:
    return PoolHistoryAnswer.of(found.series, [_point_answer(point) for point in found.points])


def _point_answer(point: Point[PoolNumbers]) -> PoolPointAnswer:
    numbers = point.numbers
    return PoolPointAnswer(
        time=point.time,
        as_of=point.as_of,
        exact=point.exact,
        node_counts=by_state(numbers.counts) if numbers else None,
        target=_kinds(numbers.dedicated[1], numbers.spot[1]) if numbers else None,
        current=_kinds(numbers.dedicated[0], numbers.spot[0]) if numbers else None,
        slots=SlotsAnswer(total=numbers.slots, used=numbers.used, free=numbers.free) if numbers else None,
        cores=_cores(numbers) if numbers else None,
        tasks=numbers.tasks if numbers else None,
        preempted=point.increase,
        resize_errors=numbers.resize_errors if numbers else None,
    )


def _kinds(dedicated: int | None, spot: int | None) -> KindsAnswer:
    return KindsAnswer(dedicated=dedicated, spot=spot)


def _cores(numbers: PoolNumbers) -> CoresAnswer | None:
    return CoresAnswer(total=numbers.cores[0], busy=numbers.cores[1]) if numbers.cores else None
