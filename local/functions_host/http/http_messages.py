"""HTTP between the network and the worker, without a socket: requests in, responses out.

The rules are those of Azure's host: lower-case header names, repeated headers and query parameters joined by commas,
empty query values dropped, and a body only if the request has one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.cookies import SimpleCookie

from yarl import URL

from local.functions_host.app.errors import FunctionFailedError
from local.functions_host.app.functions import Function
from local.functions_host.app.invoker import Invoker
from local.functions_host.app.messages import RpcHttp, RpcHttpCookie, TypedData
from local.functions_host.http.routes import RouteMatch, RouteTable

_SAME_SITE = {1: "Lax", 2: "Strict", 3: "None"}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request; `url` is absolute, `body` is empty without a Content-Length."""

    method: str
    url: URL
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    @property
    def path(self) -> str:
        """The decoded path, as by Azure's web server: escaped slashes stay, as they would change the segments."""
        return self.url.path_safe.replace("%25", "%")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class HttpFunctions:
    def __init__(self, functions: Mapping[str, Function], routes: RouteTable, invoker: Invoker) -> None:
        self._functions = functions
        self._invoker = invoker
        self.table = routes

    def find(self, request: HttpRequest) -> tuple[Function, RouteMatch] | None:
        """Returns the function and match, or None for a 404, also for a wrong method."""
        match = self.table.find(request.method.upper(), request.path)
        return (self._functions[match.function], match) if match else None

    async def answer(self, request: HttpRequest, function: Function, match: RouteMatch) -> HttpResponse:
        """Runs the function; the response to a failure is 500 without a body, and the log has the reason."""
        try:
            trigger = TypedData(http=request_message(request, match.parameters))
            result = await self._invoker.run(function, trigger, values=match.parameters)
        except FunctionFailedError:
            return HttpResponse(HTTPStatus.INTERNAL_SERVER_ERROR)
        return response_from(result.outputs.get("$return") or result.return_value)


def request_message(request: HttpRequest, parameters: Mapping[str, str]) -> RpcHttp:
    query = join_repeated(request.url.query.items())
    return RpcHttp(
        method=request.method,
        url=str(request.url),
        headers=join_repeated(request.headers, str.lower),
        query={name: value for name, value in query.items() if value},
        params=parameters,
        body=TypedData(bytes=request.body) if request.body else TypedData(),
    )


def response_from(value: TypedData | None) -> HttpResponse:
    if value is None:
        return HttpResponse(HTTPStatus.NO_CONTENT)
    if value.http is not None:
        headers = [*value.http.headers.items()]
        headers += [("set-cookie", cookie_text(one)) for one in value.http.cookies or ()]
        return HttpResponse(int(value.http.status_code), tuple(headers), value.http.body.bytes or b"")
    if value.json is not None:
        return HttpResponse(HTTPStatus.OK, (("content-type", "application/json; charset=utf-8"),), value.json.encode())
    text = value.string if value.string is not None else ""
    return HttpResponse(HTTPStatus.OK, (("content-type", "text/plain; charset=utf-8"),), value.bytes or text.encode())


def join_repeated(pairs: Iterable[tuple[str, str]], rename: Callable[[str], str] = str) -> dict[str, str]:
    out: dict[str, str] = {}
    for name, value in pairs:
        key = rename(name)
        out[key] = f"{out[key]},{value}" if key in out else value
    return out


def cookie_text(cookie: RpcHttpCookie) -> str:
    morsel = SimpleCookie({cookie.name: cookie.value})[cookie.name]
    for name, part in (("domain", cookie.domain), ("path", cookie.path), ("secure", cookie.secure)):
        if part and part.value:
            morsel[name] = part.value
    if cookie.http_only and cookie.http_only.value:
        morsel["httponly"] = True
    if cookie.max_age:
        morsel["max-age"] = int(cookie.max_age.value)
    if cookie.same_site:
        morsel["samesite"] = _SAME_SITE[cookie.same_site]
    return morsel.OutputString()
