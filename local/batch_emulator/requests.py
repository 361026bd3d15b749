"""A request as operations see it, and what they answer: no web framework in sight."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from local.batch_emulator.entities import Account, Json
from local.batch_emulator.faults import BatchFaultError, bad_header, bad_property, bad_query
from local.batch_emulator.settings import Knobs
from local.batch_emulator.simulation import Simulation
from local.batch_emulator.stamps import etag, http_date, parse_http_date

_ID = re.compile(r"[A-Za-z0-9_\-]{1,64}")
_CONDITIONS = ("if-match", "if-none-match", "if-modified-since", "if-unmodified-since")
_SECOND = 10_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """`query` by lower-cased name, `headers` too; `url` is the account's address as the client wrote it."""

    account: Account
    simulation: Simulation
    knobs: Knobs
    now: int
    url: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    path: Mapping[str, str]
    raw: bytes

    def json(self) -> Json:
        """The body. Raises BatchFaultError."""
        try:
            body = orjson.loads(self.raw or b"{}")
        except orjson.JSONDecodeError:
            body = None
        if not isinstance(body, dict):
            raise BatchFaultError(400, "InvalidRequestBody", "The specified Request Body is not syntactically valid.")
        return body

    def check_conditions(self, modified: int) -> None:
        """Honours conditional headers. Raises BatchFaultError 304 or 412."""
        tag, headers = etag(modified), self.headers
        if (wanted := headers.get("if-match")) and wanted.strip('"') not in ("*", tag):
            raise _failed()
        if (unwanted := headers.get("if-none-match")) and unwanted.strip('"') in ("*", tag):
            raise _not_modified()
        whole = modified // _SECOND * _SECOND
        if (since := headers.get("if-modified-since")) and whole <= _date("If-Modified-Since", since):
            raise _not_modified()
        if (until := headers.get("if-unmodified-since")) and whole > _date("If-Unmodified-Since", until):
            raise _failed()

    def refuse_conditions(self) -> None:
        """Where the documentation names no conditional header, one is refused rather than ignored."""
        for name in _CONDITIONS:
            if name in self.headers:
                raise bad_header(name, self.headers[name], "This operation doesn't take conditional headers.")


@dataclass(frozen=True, slots=True)
class Response:
    """`items` is how many entities it carries, for the counters."""

    status: int
    body: Json | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    items: int = 0


def entity(status: int, body: Json | None, modified: int, extra: Mapping[str, str] | None = None) -> Response:
    """An answer about one entity: its ETag and Last-Modified go along."""
    headers = {"ETag": etag(modified), "Last-Modified": http_date(modified), **(extra or {})}
    return Response(status, body, headers, items=1)


def written(status: int, request: Request, path: str, modified: int) -> Response:
    """An accepted write of one entity."""
    where = f"{request.url}/{path}"
    headers = {"DataServiceId": where} | ({"Location": where} if status == 201 else {})  # noqa: PLR2004 - Created
    return entity(status, None, modified, headers)


def selected(body: Json, request: Request, kind: str) -> Json:
    """What `$select` leaves, behind the metadata."""
    names = [name.strip() for name in request.query.get("$select", "").split(",") if name.strip()]
    kept = {name: value for name, value in body.items() if name in names} if names else body
    return {"odata.metadata": f"{request.url}/$metadata#{kind}", **kept}


def checked_id(value: object) -> str:
    """Raises BatchFaultError unless it is 1 to 64 of letters, digits, hyphens and underscores."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise bad_property("id", value, "An id has 1 to 64 letters, digits, hyphens and underscores.")
    return value


def page_size(request: Request) -> int:
    text = request.query.get("maxresults", "1000")
    if not text.isdecimal() or not 1 <= int(text) <= 1000:  # noqa: PLR2004 - the documented maximum
        raise BatchFaultError(
            400,
            "OutOfRangeQueryParameterValue",
            "Value for one of the query parameters specified in the request URI is outside the permissible range.",
            {
                "QueryParameterName": "maxresults",
                "QueryParameterValue": text,
                "MinimumAllowed": "1",
                "MaximumAllowed": "1000",
            },
        )
    return min(int(text), request.knobs.pageSize)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list runs over: keys in order, the JSON of one, and a test."""

    keys: list[str]
    order: Callable[[str], Any]
    render: Callable[[str], Json]
    matches: Callable[[Mapping[str, Any]], bool]


def list_page(request: Request, listing: Listing, kind: str) -> Response:
    """One page, with a link that goes on after its last key, whatever changes meanwhile."""
    size = page_size(request)
    after = request.query.get("$skiptoken")
    keys: Iterable[str] = listing.keys
    if after is not None:
        serial, _, last = after.partition(".")
        if not serial.isdecimal():
            raise bad_query("$skiptoken", after, "It isn't one of this service's.")
        if last:
            place = listing.order(last)
            keys = (key for key in listing.keys if listing.order(key) > place)
    serial_number = int(after.partition(".")[0]) + 1 if after else 1
    found, last_key, more = _take(keys, listing, size if not _is_empty(request.knobs, serial_number) else 0)
    if _is_empty(request.knobs, serial_number):
        last_key, more = (after.partition(".")[2] if after else ""), True
    body: Json = {
        "odata.metadata": f"{request.url}/$metadata#{kind}",
        "value": [_projected(row, request) for row in found],
    }
    if more:
        body["odata.nextLink"] = f"{request.url}{request.path['*']}?{_next_query(request, serial_number, last_key)}"
    return Response(200, body, items=len(found))


def _take(keys: Iterable[str], listing: Listing, size: int) -> tuple[list[Json], str, bool]:
    found: list[Json] = []
    last = ""
    for key in keys:
        row = listing.render(key)
        if not listing.matches(row):
            continue
        if len(found) >= size:
            return found, last, True
        found.append(row)
        last = key
    return found, last, False


def _is_empty(knobs: Knobs, serial: int) -> bool:
    return knobs.emptyPageEvery > 0 and serial % knobs.emptyPageEvery == 0


def _projected(row: Json, request: Request) -> Json:
    names = request.query.get("$select")
    if not names:
        return row
    wanted = {name.strip() for name in names.split(",")}
    return {name: value for name, value in row.items() if name in wanted}


def _next_query(request: Request, serial: int, last: str) -> str:
    kept = {name: value for name, value in request.query.items() if name != "$skiptoken"}
    return urlencode({**kept, "$skiptoken": f"{serial}.{last}"}, quote_via=quote)


def _date(name: str, text: str) -> int:
    try:
        return parse_http_date(text)
    except (ValueError, TypeError):
        raise bad_header(name, text, "It isn't an HTTP date.") from None


def _failed() -> BatchFaultError:
    return BatchFaultError(412, "ConditionNotMet", "The condition specified in the request's header was not met.")


def _not_modified() -> BatchFaultError:
    return BatchFaultError(304, "ConditionNotMet", "")
