"""Operations on the autoscaling of pools. Rules follow the reference of each operation."""

from collections.abc import Mapping
from typing import Any

from local.batch_emulator.core.errors import BatchError, conflict, missing_property
from local.batch_emulator.core.stamps import SECOND
from local.batch_emulator.entities import Pool
from local.batch_emulator.operations.pools import changed, require_open_pool
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.pool_rules import check_scaling
from local.batch_emulator.protocol.requests import Request, Response

_ENABLE = bodies.BodyProperties(frozenset(["autoScaleFormula", "autoScaleEvaluationInterval"]))
_EVALUATE = bodies.BodyProperties(frozenset(["autoScaleFormula"]), ("autoScaleFormula",))
_MIN_ENABLE_INTERVAL = 30 * SECOND


def enable_pool_auto_scale(request: Request) -> Response:
    """Enables autoscaling; if it is already enabled, omitted values stay (documented)."""
    pool = require_open_pool(request)
    sent = request.body
    _ENABLE.check(sent)
    if not sent or not (pool.is_autoscaled or sent.get("autoScaleFormula")):
        raise missing_property("autoScaleFormula")
    check_scaling(sent)
    if pool.allocation != "steady":
        raise conflict("PoolBeingResized", "The specified pool is being resized.")
    _check_pace(request, pool)
    pool.spec |= {**sent, "enableAutoScale": True}
    request.simulation.scaling.begin(pool)
    return changed(request, pool, "/enableautoscale", 200)


def disable_pool_auto_scale(request: Request) -> Response:
    pool = require_open_pool(request)
    for name in _ENABLE.known:
        pool.spec.pop(name, None)
    pool.spec["enableAutoScale"] = False
    request.simulation.scaling.end(pool)
    return changed(request, pool, "/disableautoscale", 200)


def evaluate_pool_auto_scale(request: Request) -> Response:
    """Evaluates a formula without applying it; autoscaling must be enabled on the pool (documented)."""
    pool = require_open_pool(request)
    _EVALUATE.check(request.body)
    check_scaling(request.body)
    if not pool.is_autoscaled:
        raise conflict("OperationNotValidOnPool", "Autoscaling is not enabled on the specified pool.")
    scaling = request.simulation.scaling
    run: Mapping[str, Any] = scaling.run_of(scaling.evaluate_formula(pool, request.body["autoScaleFormula"]))
    where = f"{request.url}/pools/{pool.id}/evaluateautoscale"
    return Response(200, {"odata.metadata": f"{request.url}/$metadata#autoscalerun", **run}, {"DataServiceId": where})


def _check_pace(request: Request, pool: Pool) -> None:
    """Raises BatchError: requests to enable must be 30 seconds apart (documented)."""
    context = request.simulation.context
    if (
        pool.scaling
        and (context.clock.simulated - pool.scaling.asked) * context.event_queue.speed < _MIN_ENABLE_INTERVAL
    ):
        text = "Enable AutoScale requests for the same pool must be separated by at least 30 seconds."
        raise BatchError(503, "TooManyEnableAutoScaleRequests", text)


ACTIONS = (enable_pool_auto_scale, disable_pool_auto_scale, evaluate_pool_auto_scale)
