"""HTTP for every API route: reads parameters, renders values as JSON, maps errors to statuses, adds ETags and paging.

The `route` decorator records each handler with its declaration, from which OpenAPI is generated. Handlers are
coroutines that take one `RouteRequest`. They return a msgspec struct or text of the route's media type, or raise an
error of `shared.errors`.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import azure.functions as func
import msgspec
from msgspec import UNSET, UnsetType

from functions.http.answers import Answer, ErrorDetail, UnreadableAnswer, error_response, failure
from functions.http.identity import Caller, admitted, require_settings
from functions.http.parameters import read_body, read_query
from functions.http.rate_limit import RateLimit
from functions.http.recent_answers import RecentAnswers
from functions.http.rendering import EncodedResponse, rendered, response_of
from functions.http.route import Route
from shared.domain.accounts.account_roles import Role
from shared.errors import BatchscopeError
from shared.log import logger
from shared.runtime import Runtime
from shared.services.accounts.registry import found
from shared.settings import Settings
from shared.stores.tables.table_requests import waiting_for_storage

if TYPE_CHECKING:
    from shared.composition.opening import Services

_LOG = logger(__name__)
COUNT = "Batchscope-Count"
UNREADABLE = "Batchscope-Unreadable"
STORAGE_PATIENCE = timedelta(seconds=3.5)


class Query(msgspec.Struct, rename="camel", kw_only=True):
    """Base class of query parameters: each field is a parameter, and unknown parameters are refused.

    An omitted optional parameter is UNSET, never None, because the text `null` is a valid value.
    """


class Page[T](Answer, omit_defaults=True):
    """One page of a list. The last page has no `nextLink`; `unreadable` is present only if some rows can't be read.

    `count` is the number of matching entries on all pages, given only where it costs nothing.
    """

    value: Sequence[T]
    next_link: str | None = None
    count: int | None = None
    unreadable: Sequence[UnreadableAnswer] | None = None

    def table_headers(self) -> dict[str, str]:
        """Returns the fields that a table has no column for, as headers."""
        link = {"Link": f'<{self.next_link}>; rel="next"'} if self.next_link else {}
        count = {COUNT: str(self.count)} if self.count is not None else {}
        return link | count | ({UNREADABLE: str(len(self.unreadable))} if self.unreadable else {})


@dataclass(frozen=True, slots=True)
class RouteResponse:
    """An answer with its own status, headers or media type.

    `content` is the input of the weak ETag on routes with `looks`; None means the body without matches of `looks`.
    """

    value: Any
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    media: str | None = None
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class RouteRequest[Q, B]:
    """One request: `path` parameters, checked `query` and `body`, the services, and `send` for the route's queue.

    `caller` is None for an unidentified caller, which only a route without a role accepts.
    """

    runtime: Runtime
    request: func.HttpRequest
    caller: Caller | None
    path: dict[str, str]
    query: Q
    body: B
    send: Callable[[str], None]

    @property
    def readable(self) -> frozenset[str]:
        """The ids of the accounts that the caller may read."""
        return self.caller.reads if self.caller else frozenset()

    def readable_of(self, account: str | UnsetType) -> Collection[str]:
        """Returns the accounts of a list for one account or all.

        Raises NotFoundError for one that the caller may not read, as for a missing one.
        """
        return self.readable if account is UNSET else {found({name: name for name in self.readable}, account)}

    async def services(self) -> "Services":
        require_settings(self.runtime.settings, self.caller)
        return await self.runtime.services(patience=STORAGE_PATIENCE)

    def link(self, path: str) -> str:
        """Returns an absolute API address on the host that the client used."""
        scheme, host, *_ = urlsplit(self.request.url)
        return str(urlunsplit((scheme, host, f"/api/{quote(path)}", "", "")))

    def next_link(self, continuation: str | None) -> str | None:
        """Returns this request's address with `continuation` as the next position; None where no page follows."""
        if continuation is None:
            return None
        scheme, host, path, _, _ = urlsplit(self.request.url)
        query = urlencode({**self.request.params, "continuation": continuation})
        return str(urlunsplit((scheme, host, path, query, "")))


type Handler = Callable[[RouteRequest[Any, Any]], Awaitable[Any]]


class Routes:
    """Registered routes with their handlers, by name."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.handlers: dict[str, tuple[Route, Handler]] = {}

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
        cacheable: bool = False,
        depends_on_tables: Collection[str] | None = None,
        reuse_seconds: float = 1.0,
        looks: re.Pattern[bytes] | None = None,
    ) -> Callable[[Handler], Handler]:
        """Registers a handler at `/api/{path}`; the first line of its docstring becomes the OpenAPI summary.

        A route with `{account}` in its path requires read access to that account. A method other than GET requires the
        role Operator: of that account, or of all accounts if the path has none. `anonymous` opens a GET to everybody;
        raises ValueError for other methods.
        """
        if anonymous and method != "GET":
            raise ValueError(f"{method} {path} can't be anonymous: only a GET can")
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
                cacheable=cacheable,
                depends_on_tables=depends_on_tables,
                reuse_seconds=reuse_seconds,
                looks=looks,
            )
            self.handlers[route.name] = route, handler
            return handler

        return register


def send_nowhere(_message: str) -> None:
    raise RuntimeError("this route has no queue")


async def respond(
    runtime: Runtime,
    route: Route,
    handler: Handler,
    request: func.HttpRequest,
    *,
    limit: RateLimit,
    recent: RecentAnswers[EncodedResponse],
    send: Callable[[str], None] = send_nowhere,
) -> func.HttpResponse:
    """Runs a handler and returns its result or error as a response; bounds each wait for storage."""
    try:
        with waiting_for_storage(STORAGE_PATIENCE):
            caller = admitted(runtime.settings, route.role, request)
            if route.method != "GET":
                limit.take(asyncio.get_running_loop().time())
            query = read_query(request, route.query)
            body = read_body(request, route.body) if route.body else None
            call = RouteRequest(runtime, request, caller, dict(request.route_params), query, body, send)

            async def made() -> EncodedResponse:
                return _rendered(route, await handler(call))

            if route.cacheable and runtime.settings.clock_url is None:  # not with simulated time, which runs faster
                version = (await call.services()).table_writes(route.depends_on_tables)
                key = request.url, call.readable
                return await response_of(request, await recent.get(key, version, made, seconds=route.reuse_seconds))
            return await response_of(request, await made())
    except BatchscopeError as error:
        return error_response(request, error)
    except Exception as error:
        _LOG.exception("The function %s failed", route.name)
        detail = ErrorDetail(code="InternalError", message=f"{type(error).__name__}; see the log.", target=None)
        return failure(request, 500, detail)


def _rendered(route: Route, answer: Any) -> EncodedResponse:
    reply = answer if isinstance(answer, RouteResponse) else RouteResponse(answer)
    media = reply.media or (route.media if isinstance(reply.value, str | bytes) else "application/json")
    status = reply.status or route.statuses[0]
    return rendered(
        route.method,
        reply.value,
        status=status,
        headers=reply.headers,
        media=media,
        looks=route.looks,
        content=reply.content,
    )
