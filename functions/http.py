"""HTTP as every route of the API speaks it: parameters in, a value out as JSON, errors as statuses, ETags, paging.

The `route` decorator keeps a handler and what it was told of it, which is what OpenAPI is made of.
Handlers are coroutines of one `Call` that return a msgspec struct or text of the route's media type, or raise an error
of `shared.errors`.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import azure.functions as func
import msgspec

from functions.answers import Answer, ErrorDetail, UnreadableAnswer, error_response, failure
from functions.identity import Caller, identified, identify, require_settings
from functions.parameters import read_body, read_query
from functions.rate_limit import RateLimit
from functions.recent_answers import RecentAnswers
from functions.rendering import Rendered, rendered, response_of
from functions.route import Route
from shared.domain.accounts.account_roles import Role
from shared.errors import BatchscopeError
from shared.log import logger
from shared.runtime import Runtime, Services
from shared.services.accounts.registry import found
from shared.settings import Settings
from shared.stores.tables.patience import waiting_for_storage

_LOG = logger(__name__)
COUNT = "Batchscope-Count"
UNREADABLE = "Batchscope-Unreadable"
STORAGE_PATIENCE = timedelta(seconds=3.5)


class Query(msgspec.Struct, rename="camel", kw_only=True):
    """The root of query parameters: fields are parameters, anything else is refused.

    What may be left out is UNSET then, never None: the text `null` stands for itself.
    """


class Page[T](Answer, omit_defaults=True):
    """One page of a list; there is no nextLink on the last. `unreadable` is there where anything is.

    `count` is how many entries match on all pages, there where that costs nothing to tell.
    """

    value: Sequence[T]
    next_link: str | None = None
    count: int | None = None
    unreadable: Sequence[UnreadableAnswer] | None = None

    def table_headers(self) -> dict[str, str]:
        """What a table has no column for."""
        link = {"Link": f'<{self.next_link}>; rel="next"'} if self.next_link else {}
        count = {COUNT: str(self.count)} if self.count is not None else {}
        return link | count | ({UNREADABLE: str(len(self.unreadable))} if self.unreadable else {})


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with a status, headers or a media type of its own.

    `content` is what of it a weak ETag stands for, where the route has such: None for what its `looks` leaves.
    """

    value: Any
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    media: str | None = None
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Call[Q, B]:
    """One request: `path` parameters, the checked `query` and `body`, the services, `send` for the route's queue.

    `caller` is None for a stranger, whom only a route without a role lets in.
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

    async def services(self) -> Services:
        require_settings(self.runtime.settings, self.caller)
        return await self.runtime.services(patience=STORAGE_PATIENCE)

    def link(self, path: str) -> str:
        """An absolute address of the API, on the host that the client used."""
        scheme, host, *_ = urlsplit(self.request.url)
        return str(urlunsplit((scheme, host, f"/api/{quote(path)}", "", "")))

    def next_link(self, continuation: str | None) -> str | None:
        """This request's own address, to go on after `continuation`; None where nothing follows."""
        if continuation is None:
            return None
        scheme, host, path, _, _ = urlsplit(self.request.url)
        query = urlencode({**self.request.params, "continuation": continuation})
        return str(urlunsplit((scheme, host, path, query, "")))


type Handler = Callable[[Call[Any, Any]], Awaitable[Any]]


class Routes:
    """Routes with their handlers, by name."""

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
        repeats: bool = False,
        made_of: Collection[str] | None = None,
        looks: re.Pattern[bytes] | None = None,
    ) -> Callable[[Handler], Handler]:
        """Serves a handler at `/api/{path}`; its docstring's first line becomes the summary.

        A route with `{account}` in its path answers those who may read that account. A method other than GET needs the
        role Operator: of that account, or of all accounts where the path has none. `anonymous` opens a GET to anybody;
        on another method it is a ValueError.
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
                repeats=repeats,
                made_of=made_of,
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
    recent: RecentAnswers[Rendered],
    send: Callable[[str], None] = send_nowhere,
) -> func.HttpResponse:
    """Runs a handler and turns whatever comes of it into a response, which waits for storage only so long."""
    with waiting_for_storage(STORAGE_PATIENCE):
        return await _responded(runtime, route, handler, request, limit=limit, recent=recent, send=send)


async def _responded(
    runtime: Runtime,
    route: Route,
    handler: Handler,
    request: func.HttpRequest,
    *,
    limit: RateLimit,
    recent: RecentAnswers[Rendered],
    send: Callable[[str], None],
) -> func.HttpResponse:
    try:
        caller = _let_in(runtime.settings, route, request)
        if route.method != "GET":
            limit.take(asyncio.get_running_loop().time())
        query = read_query(request, route.query)
        body = read_body(request, route.body) if route.body else None
        call = Call(runtime, request, caller, dict(request.route_params), query, body, send)

        async def made() -> Rendered:
            return _rendered(route, await handler(call))

        if route.repeats and runtime.settings.clock_url is None:  # a second of stepped time is another second
            version = (await call.services()).table_writes(route.made_of)
            return await response_of(request, await recent.get((request.url, call.readable), version, made))
        return await response_of(request, await made())
    except BatchscopeError as error:
        return error_response(request, error)
    except Exception as error:
        _LOG.exception("The function %s failed", route.name)
        detail = ErrorDetail(code="InternalError", message=f"{type(error).__name__}; see the log.", target=None)
        return failure(request, 500, detail)


def _let_in(settings: Settings, route: Route, request: func.HttpRequest) -> Caller | None:
    """The caller of a route. An account that the caller may not read is, to all appearances, not there.

    Without an account in its path, a route that writes concerns all of them.
    Raises UnauthenticatedError, ForbiddenError, NotFoundError, SettingsError.
    """
    if route.role is None:
        return identified(settings, request)
    caller = identify(settings, request)
    if "account" in request.route_params:
        require_settings(settings, caller)
        readable = {name: name for name in caller.reads}
        caller.require(route.role, found(readable, request.route_params["account"]))
    elif route.role == "Operator":
        require_settings(settings, caller)
        caller.require_operator_of_all()
    return caller


def _rendered(route: Route, answer: Any) -> Rendered:
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    media = reply.media or (route.media if isinstance(reply.value, str) else "application/json")
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
