"""The handlers of the API; each module loads with the first request that it serves."""

from collections.abc import Callable
from importlib import import_module

import azure.functions as func

from functions.api.endpoints import ENDPOINTS, Endpoint
from functions.http.handling import Routes, respond, send_nowhere
from functions.http.rate_limit import RateLimit
from functions.http.recent_answers import RecentAnswers
from functions.http.rendering import EncodedResponse
from functions.http.route import Route
from shared.runtime import Runtime
from shared.settings import Settings

_WRITES_A_MINUTE = 300


class Handlers:
    """Serves the requests of one app."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._routes = Routes(runtime.settings)
        self._writes = RateLimit(_WRITES_A_MINUTE)
        self._recent = RecentAnswers[EncodedResponse]()

    async def respond(
        self, endpoint: Endpoint, request: func.HttpRequest, send: Callable[[str], None] = send_nowhere
    ) -> func.HttpResponse:
        """Returns the response of an endpoint, for errors too."""
        if endpoint.name not in self._routes.handlers:
            _add(self._routes, endpoint.module)
        route, handler = self._routes.handlers[endpoint.name]
        return await respond(self._runtime, route, handler, request, limit=self._writes, recent=self._recent, send=send)


def all_routes(settings: Settings) -> list[Route]:
    """Returns the declarations of all routes, in the order of the endpoints. Loads all modules of the API."""
    routes = Routes(settings)
    for module in dict.fromkeys(endpoint.module for endpoint in ENDPOINTS):
        _add(routes, module)
    return [route for route, _ in routes.handlers.values()]


def _add(routes: Routes, module: str) -> None:
    """Adds the routes of a module; by convention, `functions.api.jobs.history` defines `add_history`."""
    getattr(import_module(f"functions.api.{module}"), f"add_{module.rpartition('.')[2]}")(routes)
