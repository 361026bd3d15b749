"""GET accounts/{account}/pools/{pool}/history: a pool's nodes, slots, cores and interruptions over time."""

from datetime import datetime

from functions.api.endpoints import POOL
from functions.api.jobs.history import HistoryQuery, RangeAnswer, history_reply
from functions.api.jobs.job_models import seconds_of
from functions.api.pools.pool_models import CoresAnswer, SlotsAnswer
from functions.http.answers import Answer
from functions.http.handling import RouteRequest, RouteResponse, Routes
from shared.domain.history.points import Point
from shared.domain.jobs.waiting_causes import ByCause
from shared.domain.nodes.nodes import by_state
from shared.domain.pools.pool_samples import PoolNumbers


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
    waited_seconds: dict[str, float] | None


class PoolPointAnswer(PoolPointLine):
    """The numbers at the end of a step, as of then or shortly before; all null if no poll covered it.

    `preempted` counts interruptions of spot nodes that polls found within the step, null if unknown. `waitedSeconds` is
    how long tasks waited by cause, summed over tasks, as passes within the step found; null where none covers it.
    """

    node_counts: dict[str, int] | None


class PoolHistoryAnswer(RangeAnswer):
    """The points of a range; each describes the end of a step."""

    value: list[PoolPointAnswer]


def add_pool_history(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/history", query=HistoryQuery, returns=PoolHistoryAnswer, cacheable=True)
    async def get_pool_history(call: RouteRequest[HistoryQuery, None]) -> PoolHistoryAnswer | RouteResponse:
        """Returns a pool's numbers over time: one point per step, with the last known numbers at its end."""
        services = await call.services()
        found = await services.pool_histories.read(call.path["account"], call.path["pool"], **call.query.range)
        waited = await services.waited_histories.read(call.path["account"], call.path["pool"], found.series)
        points = list(map(_point_answer, found.points, waited))
        return history_reply(call.query, found.series, points, PoolHistoryAnswer, table=PoolPointLine)


def _point_answer(point: Point[PoolNumbers], waited: ByCause | None) -> PoolPointAnswer:
    numbers = point.numbers
    cores = numbers.cores if numbers else None
    return PoolPointAnswer.of(
        point,
        node_counts=by_state(numbers.counts) if numbers else None,
        target=KindsAnswer(dedicated=numbers.dedicated[1], spot=numbers.spot[1]) if numbers else None,
        current=KindsAnswer(dedicated=numbers.dedicated[0], spot=numbers.spot[0]) if numbers else None,
        slots=SlotsAnswer.of(numbers, total=numbers.slots) if numbers else None,
        cores=CoresAnswer(total=cores[0], busy=cores[1]) if cores else None,
        tasks=numbers.tasks if numbers else None,
        preempted=point.increase,
        resize_errors=numbers.resize_errors if numbers else None,
        waited_seconds=None if waited is None else seconds_of(waited),
    )
