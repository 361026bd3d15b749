"""Decodes the rows of responses, which takes the SDK ten times as long: an `eval` per value, a `strptime` per time.

The SDK still signs, sends, retries and pages reads. It gets the responses without their rows.
"""

import json
from binascii import a2b_base64
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from azure.core.exceptions import DecodeError

_OK = 200
_TYPE = "@odata.type"
_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "Edm.Binary": a2b_base64,
    "Edm.DateTime": datetime.fromisoformat,
    "Edm.Double": float,
    "Edm.Int64": int,
}
_INVALID = (ValueError, TypeError, LookupError, AttributeError)


class RowReader:
    """The `raw_response_hook` of one read, of a list of rows or of a single row.

    `decode` returns the rows of the latest response, each with its `etag`. It raises DecodeError if the response isn't
    a list of rows, or a row. It is called when the SDK is done, which would repeat a request whose hook fails.
    """

    def __init__(self, *, listed: bool) -> None:
        self._listed = listed
        self.decode: Callable[[], list[dict[str, Any]]] = list

    def __call__(self, response: Any) -> None:
        answer = response.http_response
        if answer.status_code == _OK:
            self.decode = partial(_decoded, answer, listed=self._listed)
            response.http_response = _WithoutRows(answer)


class _WithoutRows:
    """A response whose body is an empty list, and the rest as it was."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._answer, name)

    def text(self, _encoding: str | None = None) -> str:
        return '{"value": []}'


def _decoded(answer: Any, *, listed: bool) -> list[dict[str, Any]]:
    try:
        found = _parsed(answer.body())
        return [_row_of(entity) for entity in (found["value"] if listed else [found])]
    except _INVALID as error:
        raise DecodeError(f"the response holds no rows: {error!r}", response=answer, error=error) from error


def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError:
        return json.loads(body)  # accepts halves of surrogate pairs, which storage may hold, in ten times as long


def _row_of(entity: dict[str, Any]) -> dict[str, Any]:
    row = dict[str, Any]()
    decoders = dict[str, Callable[[Any], Any]]()
    for name, value in entity.items():
        if name.endswith(_TYPE):
            if decode := _DECODERS.get(value):
                decoders[name.removesuffix(_TYPE)] = decode
        elif not name.startswith("odata.") and name != "Timestamp":
            row[name] = value
    for name, decode in decoders.items():
        if name in row:
            row[name] = decode(row[name])
    row["etag"] = entity["odata.etag"]
    return row
