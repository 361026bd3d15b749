"""The part of Azure's admin API that developers use: list functions, run one now, get the host's status."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus

from local.functions_host.app.functions import HTTP, Function
from local.functions_host.http.http_messages import HttpRequest, HttpResponse

_FUNCTIONS = "/admin/functions"


class AdminHandler:
    def __init__(self, functions: Mapping[str, Function], host_id: str, start: Callable[[Function, str], None]) -> None:
        """`start` runs a function without HTTP trigger, with a text as its input, and doesn't wait for it."""
        self._functions, self._host_id, self._start = functions, host_id, start

    def answer(self, request: HttpRequest) -> HttpResponse:
        path = request.path.rstrip("/")
        if request.method == "GET" and path == "/admin/host/status":
            return _json(HTTPStatus.OK, {"id": self._host_id, "state": "Running"})
        if request.method == "GET" and path == _FUNCTIONS:
            return _json(HTTPStatus.OK, [_description(one) for one in self._functions.values()])
        name = path.removeprefix(f"{_FUNCTIONS}/")
        if request.method == "POST" and name != path:
            return self._run(name, request.body)
        return HttpResponse(HTTPStatus.NOT_FOUND)

    def _run(self, name: str, body: bytes) -> HttpResponse:
        function = self._functions.get(name)
        if function is None:
            return _json(HTTPStatus.NOT_FOUND, {"error": f"there is no function '{name}'"})
        if function.trigger.kind == HTTP:
            return _json(HTTPStatus.BAD_REQUEST, {"error": f"'{name}' is an HTTP function: call its address"})
        try:
            text = _input(body)
        except ValueError:
            return _json(HTTPStatus.BAD_REQUEST, {"error": 'the body must be {"input":"text"}'})
        self._start(function, text)
        return HttpResponse(HTTPStatus.ACCEPTED)


def _input(body: bytes) -> str:
    content = json.loads(body or b"{}")
    text = content.get("input", "") if isinstance(content, dict) else None
    if text is None or not isinstance(text, str):
        raise ValueError("no input")
    return text


def _description(function: Function) -> dict[str, object]:
    bindings = [dict(one.options) for one in (function.trigger, *function.others)]
    return {"name": function.name, "isDisabled": False, "config": {"bindings": bindings}}


def _json(status: HTTPStatus, content: object) -> HttpResponse:
    return HttpResponse(status, (("content-type", "application/json"),), json.dumps(content).encode())
