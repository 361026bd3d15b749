"""HTTP as every route of the API speaks it: parameters in, a value out as JSON, errors as statuses, ETags, paging.

The `route` decorator registers a handler with the app and keeps what it was told, which is what OpenAPI is made of.
Handlers are coroutines of one `Call` that return a msgspec struct, a `Text`, or raise an error of `shared.errors`.
"""

import logging
import re
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import azure.functions as func
import msgspec

from functions.parameters import BadRequestError, read_body, read_query
from shared.errors import (
    BatchError,
    BatchscopeError,
    BatchThrottledError,
    CacheConflictError,
    MonitoringOffError,
    NotFoundError,
    SettingsError,
)
from shared.runtime import Runtime, Services
from shared.settings import Settings

_LOG = logging.getLogger(__name__)
SECURITY_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


class UnauthenticatedError(BatchscopeError):
    """Nobody vouches for the caller."""


class Query(msgspec.Struct, rename="camel", kw_only=True):
    """The root of query parameters: fields are parameters, anything else is refused."""


class Answer(msgspec.Struct, rename="camel", kw_only=True):
    """The root of answers: fields are JSON properties in camelCase."""


class Page[T](Answer, omit_defaults=True):
    """One page of a list; there is no nextLink on the last."""

    value: Sequence[T]
    next_link: str | None = None


class ErrorDetail(Answer):
    """What went wrong, in a word for programs and a sentence for people, and where."""

    code: str
    message: str
    target: str | None


class ErrorAnswer(Answer):
    """The body of every answer that isn't a success."""

    error: ErrorDetail


@dataclass(frozen=True, slots=True)
class Text:
    """An answer that isn't JSON."""

    body: str
    content_type: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with a status or headers of its own."""

    value: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


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
    """All that is known of a route; `anonymous` ones answer without an identity, `queue` is what `send` sends to."""

    name: str
    method: str
    path: str
    summary: str
    query: type[Any]
    body: type[Any] | None
    returns: Any
    status: int
    anonymous: bool
    queue: str | None


type Handler = Callable[[Call[Any, Any]], Awaitable[Any]]


class Routes:
    """The routes of one app, on a blueprint."""

    def __init__(self, runtime: Runtime) -> None:
        self.blueprint = func.Blueprint()
        self.all: list[Route] = []
        self._runtime = runtime

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
        status: int = 200,
        anonymous: bool = False,
        queue: str | None = None,
    ) -> Callable[[Handler], Handler]:
        """Serves a handler at `/api/{path}`; its docstring's first line becomes the summary."""

        def register(handler: Handler) -> Handler:
            summary = (handler.__doc__ or "").strip().split("\n")[0]
            route = Route(handler.__name__, method, path, summary, query, body, returns, status, anonymous, queue)
            self.all.append(route)
            self._bind(route, handler)
            return handler

        return register

    def _bind(self, route: Route, handler: Handler) -> None:
        runtime = self._runtime

        async def plain(req: func.HttpRequest) -> func.HttpResponse:
            return await respond(runtime, route, handler, req, _send_nowhere)

        async def queueing(req: func.HttpRequest, message: func.Out[str]) -> func.HttpResponse:
            return await respond(runtime, route, handler, req, message.set)

        function: Any = queueing if route.queue else plain
        if route.queue:
            function = self.blueprint.queue_output(
                arg_name="message", queue_name=route.queue, connection="AzureWebJobsStorage"
            )(function)
        serve = self.blueprint.route(
            route=f"api/{route.path}", methods=[route.method], auth_level=func.AuthLevel.ANONYMOUS
        )
        self.blueprint.function_name(route.name)(serve(function))


async def respond(
    runtime: Runtime, route: Route, handler: Handler, request: func.HttpRequest, send: Callable[[str], None]
) -> func.HttpResponse:
    """Runs a handler and turns whatever comes of it into a response."""
    try:
        _authenticate(runtime, route, request)
        query = read_query(request, route.query)
        body = read_body(request, route.body) if route.body else None
        reply = await handler(Call(runtime, request, dict(request.route_params), query, body, send))
        return _response(request, reply if isinstance(reply, Reply) else Reply(reply, route.status))
    except BatchscopeError as error:
        return _error_response(error)
    except Exception as error:
        _LOG.exception("%s failed", route.name)
        return _failure(
            500, ErrorDetail(code="InternalError", message=f"{type(error).__name__}; see the log.", target=None)
        )


def _authenticate(runtime: Runtime, route: Route, request: func.HttpRequest) -> None:
    """In Azure every caller but the anonymous routes' must come through Easy Auth, which names them in a header."""
    settings = runtime.settings
    if route.anonymous or not settings.in_azure:
        return
    if not settings.behind_easy_auth:
        raise UnauthenticatedError(
            "This API is closed until authentication is set up: turn on App Service authentication (Easy Auth)."
        )
    if not request.headers.get("x-ms-client-principal"):
        raise UnauthenticatedError("Sign in, or send a token of Microsoft Entra ID.")


def _response(request: func.HttpRequest, reply: Reply) -> func.HttpResponse:
    value = reply.value
    body = value.body.encode() if isinstance(value, Text) else msgspec.json.encode(value)
    kind = value.content_type if isinstance(value, Text) else "application/json"
    headers = {**SECURITY_HEADERS, "Cache-Control": "no-cache", "x-ms-request-id": str(uuid.uuid4()), **reply.headers}
    if request.method == "GET" and reply.status == HTTPStatus.OK:
        headers["ETag"] = f'"{blake2b(body, digest_size=12).hexdigest()}"'
        known = {tag.removeprefix("W/") for tag in re.split(r",\s*", request.headers.get("if-none-match", ""))}
        if headers["ETag"] in known or "*" in known:
            return func.HttpResponse(status_code=304, headers=headers)
    return func.HttpResponse(body, status_code=reply.status, headers=headers, mimetype=kind)


def _error_response(error: BatchscopeError) -> func.HttpResponse:
    status, code, target = status_of(error)
    response = _failure(status, ErrorDetail(code=code, message=str(error), target=target))
    if isinstance(error, BatchThrottledError):
        response.headers["Retry-After"] = str(int(error.retry_after.total_seconds()) or 1)
    return response


def status_of(error: BatchscopeError) -> tuple[int, str, str | None]:
    """The HTTP status, error code and target that an error becomes."""
    if isinstance(error, BadRequestError):
        return 400, error.code, error.target
    if isinstance(error, NotFoundError):
        return 404, f"{error.kind.capitalize()}NotFound", error.kind
    status, code = next((found for kind, found in _STATUSES if isinstance(error, kind)), (502, "StorageFailed"))
    return status, code, None


_STATUSES: tuple[tuple[type[BatchscopeError], tuple[int, str]], ...] = (
    (UnauthenticatedError, (401, "Unauthenticated")),
    (SettingsError, (503, "NotConfigured")),
    (BatchThrottledError, (503, "BatchThrottled")),
    (BatchError, (502, "BatchFailed")),
    (MonitoringOffError, (409, "MonitoringOff")),
    (CacheConflictError, (503, "Busy")),
)


def _failure(status: int, detail: ErrorDetail) -> func.HttpResponse:
    headers = {**SECURITY_HEADERS, "x-ms-error-code": detail.code, "x-ms-request-id": str(uuid.uuid4())}
    body = msgspec.json.encode(ErrorAnswer(error=detail))
    return func.HttpResponse(body, status_code=status, headers=headers, mimetype="application/json")


def _send_nowhere(_message: str) -> None:
    raise RuntimeError("this route has no queue")
