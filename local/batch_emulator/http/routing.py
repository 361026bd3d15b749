"""Finds the operation of a request, and rejects unsupported parameters."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import unquote

from local.batch_emulator.core.errors import BatchError, invalid_query
from local.batch_emulator.http.routes import ROUTES
from local.batch_emulator.operations import (
    account,
    auto_scale,
    files,
    jobs,
    node_agent,
    node_users,
    nodes,
    pools,
    schedules,
    tasks,
)
from local.batch_emulator.protocol.conditions import CONDITIONAL, DATED
from local.batch_emulator.protocol.older_names import in_version
from local.batch_emulator.protocol.requests import Request, Response
from local.batch_emulator.protocol.versions import VERSIONS

_COMMON = {"api-version", "timeout"}
_MAX_TIMEOUT = 30
_MAX_DIGITS = 9
_CONDITIONS: Mapping[str, tuple[str, ...]] = {"if": CONDITIONAL, "dated": DATED}
_MARKERS = ("paged", *_CONDITIONS)
type Action = Callable[[Request], Response]
_MODULES = (node_users, account, node_agent, files, jobs, nodes, pools, auto_scale, schedules, tasks)
_ACTIONS: Mapping[str, Action] = {action.__name__: action for module in _MODULES for action in module.ACTIONS}


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation; `query` and `conditions` are its supported names, in lower case; `action` raises BatchError."""

    method: str
    template: str
    name: str
    query: frozenset[str]
    conditions: tuple[str, ...]
    action: Action
    pattern: re.Pattern[str]

    @property
    def route(self) -> str:
        return f"{self.method} {self.template}"

    def run(self, request: Request) -> Response:
        """Returns the response in the format of the request's api-version. Raises BatchError."""
        response = self.action(request)
        return replace(response, body=in_version(response.body, request.version))

    def validate_query(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, str]:
        """Returns the query by lower-case name. Raises BatchError."""
        query = {name.lower(): value for name, value in pairs}
        for name, value in pairs:
            if name.lower() not in self.query:
                raise _unsupported(name, value)
        if len(query) < len(pairs):
            raise _unsupported("", "a parameter was sent twice")
        _check_version(query.get("api-version"))
        if not query.get("timeout", "30").isdecimal():
            raise invalid_query("timeout", query["timeout"], "it is not a number of seconds")
        return query


def _operation(row: str) -> Operation:
    method, template, name, *markers = row.split()
    query = {each.lower() for each in markers if each not in _MARKERS} | _COMMON
    if "paged" in markers:
        query |= {"maxresults", "$skiptoken"}
    with_slashes = re.sub(r"{filePath}", r"(?P<filePath>.+)", template)
    pattern = re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", with_slashes))
    conditions = next((_CONDITIONS[each] for each in markers if each in _CONDITIONS), ())
    return Operation(method, template, name, frozenset(query), conditions, _ACTIONS[name], pattern)


OPERATIONS = tuple(_operation(row) for row in ROUTES.strip().splitlines())


_MAX_PARTS = max(len(each.template.split("/")) for each in OPERATIONS) + 1


@lru_cache(256)
def _operations_of(resource: str, parts: int) -> tuple[Operation, ...]:
    """Returns the operations of paths that begin with `/resource` and have so many parts; only file paths have more."""
    found = []
    for each in OPERATIONS:
        own = each.template.split("/")
        if own[1] == resource and (len(own) == parts or ("{filePath}" in own and len(own) < parts)):
            found.append(each)
    return tuple(found)


def find_operation(method: str, path: str) -> tuple[Operation, Mapping[str, str]]:
    """Returns the operation of a path as on the wire, and the ids in it. Raises BatchError."""
    parts = path.split("/")
    possible = _operations_of(parts[1] if len(parts) > 1 else "", min(len(parts), _MAX_PARTS))
    found = [(each, match) for each in possible if (match := each.pattern.fullmatch(path))]
    for operation, match in found:
        if operation.method == method:
            return operation, {name: unquote(value) for name, value in match.groupdict().items()}
    if found:
        raise BatchError(405, "UnsupportedHttpVerb", "The resource doesn't support the specified HTTP verb.")
    raise BatchError(404, "ResourceNotFound", "The specified resource does not exist.", {"Path": path})


def timeout_of(query: Mapping[str, str]) -> int:
    """Returns a request's time limit in seconds: its `timeout`, at most 30 (documented)."""
    text = next((value for name, value in query.items() if name.lower() == "timeout"), "")
    return min(int(text[:_MAX_DIGITS]), _MAX_TIMEOUT) if text.isdecimal() else _MAX_TIMEOUT


def _check_version(version: str | None) -> None:
    if version is None:
        raise BatchError(
            400,
            "MissingRequiredQueryParameter",
            "A query parameter that is required for this request was not specified.",
            {"QueryParameterName": "api-version"},
        )
    if version not in VERSIONS:
        known = ", ".join(VERSIONS)
        raise BatchError(
            400,
            "UnsupportedRequestVersion",
            f"The specified request version is not supported; the emulator knows {known}.",
            {"QueryParameterName": "api-version", "QueryParameterValue": version},
        )


def _unsupported(name: str, value: str) -> BatchError:
    return BatchError(
        400,
        "UnsupportedQueryParameter",
        "A query parameter in the request's address is not supported.",
        {"QueryParameterName": name, "QueryParameterValue": value},
    )
