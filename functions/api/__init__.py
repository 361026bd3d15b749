"""The HTTP API, one package per subject. Handler modules load with the first request, not with this package.

Each package imports `functions.http`, and of the others only those that its docstring names.
"""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import azure.functions as func

from functions.api.endpoints import ENDPOINTS, Endpoint
from shared.runtime import Runtime

if TYPE_CHECKING:
    from functions.api.handlers import Handlers


def api_blueprint(runtime: Runtime) -> func.Blueprint:
    """Returns a blueprint with every route of the API."""
    blueprint = func.Blueprint()

    @cache
    def handlers() -> "Handlers":
        from functions.api.handlers import Handlers

        return Handlers(runtime)

    for endpoint in ENDPOINTS:
        _bind(blueprint, endpoint, handlers, queue=runtime.settings.poll_queue)
    return blueprint


def _bind(blueprint: func.Blueprint, endpoint: Endpoint, handlers: Callable[[], "Handlers"], *, queue: str) -> None:
    async def plain(req: func.HttpRequest) -> func.HttpResponse:
        return await handlers().respond(endpoint, req)

    async def sending(req: func.HttpRequest, message: func.Out[str]) -> func.HttpResponse:
        return await handlers().respond(endpoint, req, message.set)

    function: Any = sending if endpoint.sends else plain
    if endpoint.sends:
        output = blueprint.queue_output(arg_name="message", queue_name=queue, connection="AzureWebJobsStorage")
        function = output(function)
    serve = blueprint.route(
        route=f"api/{endpoint.path}", methods=list(endpoint.methods), auth_level=func.AuthLevel.ANONYMOUS
    )
    blueprint.function_name(endpoint.name)(serve(function))
