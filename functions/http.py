"""HTTP as every route of the API speaks it: parameters in, a value out as JSON, errors as statuses, ETags, paging.

The `route` decorator registers a handler with the app and keeps what it was told, which is what OpenAPI is made of.
Handlers are coroutines of one `Call` that return a msgspec struct or text of the route's media type, or raise an error
of `shared.errors`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import azure.functions as func
import msgspec

from functions.answers import Answer, ErrorDetail, UnreadableAnswer, error_response, failure
from functions.identity import Role, require
from functions.parameters import read_body, read_query
from functions.rate_limit import RateLimit
from functions.recent_answers import RecentAnswers
from functions.rendering import Rendered, rendered, response_of
from shared.errors import BatchscopeError
from shared.runtime import Runtime, Services
from shared.settings import Settings

_LOG = logging.getLogger(__name__)
_WRITES_A_MINUTE = 300


class Query(msgspec.Struct, rename="camel", kw_only=True):
    """The root of query parameters: fields are parameters, anything else is refused.

    What may be left out is UNSET then, never None: the text `null` stands for itself.
    """


class Page[T](Answer, omit_defaults=True):
    """One page of a list; there is no nextLink on the last. `unreadable` is there where anything is."""

    value: Sequence[T]
    next_link: str | None = None
    unreadable: Sequence[UnreadableAnswer] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with a status, headers or a media type of its own."""

    value: Any
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    media: str | None = None


@dataclass(frozen=True, slots=True)
class Call[Q, B]:
    """One request: `path` parameters, the checked `query` and `body`, the services, `send` for the route's queue."""

    runtime: Runtime
    request: func.HttpRequest
    path: dict[str, str]
    query: Q
    body: B
    send: Callable[[str], None]

    async def services(self) -> Services:
        return await self.runtime.services()

    def link(self, path: str) -> str:
        """An absolute address of the API, on the host that the client used."""
        scheme, host, *_ = urlsplit(self.request.url)
        return str(urlunsplit((scheme, host, f"/api/{quote(path)}", "", "")))

    def next_link(self, continuation: str) -> str:
        """This request's own address, to go on after `continuation`."""
        scheme, host, path, _, _ = urlsplit(self.request.url)
        query = urlencode({**self.request.params, "continuation": continuation})
        return str(urlunsplit((scheme, host, path, query, "")))


@dataclass(frozen=True, slots=True)
class Route:
    """All that is known of a route.

    `statuses` are those of its answers when all is well, the usual one first; `refusals` those that only this route
    refuses with; `role` is what its callers need, None where anybody may call; `media` is the content type of answers
    that aren't JSON; `queue` is what `send` sends to; with `repeats` an answer may be given again for a second, until a
    table is written that it is `made_of` (None: any).
    """

    name: str
    method: str
    path: str
    summary: str
    query: type[Any]
    body: type[Any] | None
    returns: Any
    statuses: tuple[int, ...]
    refusals: tuple[int, ...]
    role: Role | None
    media: str
    queue: str | None
    repeats: bool
    made_of: Collection[str] | None


type Handler = Callable[[Call[Any, Any]], Awaitable[Any]]


class Routes:
    """The routes of one app, on a blueprint."""

    def __init__(self, runtime: Runtime) -> None:
        self.blueprint = func.Blueprint()
        self.all: list[Route] = []
        self._runtime = runtime
        self._writes = RateLimit(_WRITES_A_MINUTE)
        self._recent = RecentAnswers[Rendered]()

    @property
    def settings(self) -> Settings:
        return self._runtime.settings

    def route(
        self,
        method: str,
        path: str,
        *,
        returns: Any,
        query: type[Any] = Query,
        body: type[Any] | None = None,
        statuses: tuple[int, ...] = (200,),
        refusals: tuple[int, ...] = (),
        anonymous: bool = False,
        media: str = "application/json",
        queue: str | None = None,
        repeats: bool = False,
        made_of: Collection[str] | None = None,
    ) -> Callable[[Handler], Handler]:
        """Serves a handler at `/api/{path}`; its docstring's first line becomes the summary.

        Whatever isn't a GET needs the role Operator.
        """
        role: Role | None = None if anonymous else "Reader" if method == "GET" else "Operator"

        def register(handler: Handler) -> Handler:
            summary = (handler.__doc__ or "").strip().split("\n")[0]
            route = Route(
                name=handler.__name__,
                method=method,
                path=path,
                summary=summary,
                query=query,
                body=body,
                returns=returns,
                statuses=statuses,
                refusals=refusals,
                role=role,
                media=media,
                queue=queue,
                repeats=repeats,
                made_of=made_of,
            )
            self.all.append(route)
            self._bind(route, handler)
            return handler

        return register

    def _bind(self, route: Route, handler: Handler) -> None:
        runtime, limit, recent = self._runtime, self._writes, self._recent

        async def plain(req: func.HttpRequest) -> func.HttpResponse:
            return await respond(runtime, route, handler, req, limit=limit, recent=recent)

        async def queueing(req: func.HttpRequest, message: func.Out[str]) -> func.HttpResponse:
            return await respond(runtime, route, handler, req, limit=limit, recent=recent, send=message.set)

        function: Any = queueing if route.queue else plain
        if route.queue:
            function = self.blueprint.queue_output(
                arg_name="message", queue_name=route.queue, connection="AzureWebJobsStorage"
            )(function)
        serve = self.blueprint.route(
            route=f"api/{route.path}", methods=[route.method], auth_level=func.AuthLevel.ANONYMOUS
        )
        self.blueprint.function_name(route.name)(serve(function))


def _send_nowhere(_message: str) -> None:
    raise RuntimeError("this route has no queue")


async def respond(
    runtime: Runtime,
    route: Route,
    handler: Handler,
    request: func.HttpRequest,
    *,
    limit: RateLimit,
    recent: RecentAnswers[Rendered],
    send: Callable[[str], None] = _send_nowhere,
) -> func.HttpResponse:
    """Runs a handler and turns whatever comes of it into a response."""
    try:
        if route.role:
            require(runtime.settings, request, route.role)
        if route.method != "GET":
            limit.take(asyncio.get_running_loop().time())
        query = read_query(request, route.query)
        body = read_body(request, route.body) if route.body else None
        call = Call(runtime, request, dict(request.route_params), query, body, send)

        async def made() -> Rendered:
            return _rendered(route, await handler(call))

        if route.repeats and runtime.settings.clock_url is None:  # a second of stepped time is another second
            version = (await runtime.services()).table_writes(route.made_of)
            return response_of(request, await recent.get(request.url, version, made))
        return response_of(request, await made())
    except BatchscopeError as error:
        return error_response(request, error)
    except Exception as error:
        _LOG.exception("%s failed", route.name)
        detail = ErrorDetail(code="InternalError", message=f"{type(error).__name__}; see the log.", target=None)
        return failure(request, 500, detail)


def _rendered(route: Route, answer: Any) -> Rendered:
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    media = reply.media or (route.media if isinstance(reply.value, str) else "application/json")
    status = reply.status or route.statuses[0]
    return rendered(route.method, reply.value, status=status, headers=reply.headers, media=media)
