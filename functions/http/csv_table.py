"""Lists as CSV (RFC 4180) for spreadsheets: a column per property, nested names joined by dots.

A cell that a spreadsheet would read as a formula gets a leading apostrophe: ids and names are untrusted input.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

import msgspec

from functions.http.answers import Answer
from functions.http.handling import Page, RouteResponse
from functions.http.rendering import AS_OF, LOOKED, LOOKS, etag_of

MEDIA = "text/csv; charset=utf-8"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class CsvTable:
    """A CSV table of entries of one type, with a header, that grows as entries are added.

    Times and costs of polls and ages are excluded from the content that the weak ETag is computed from.
    """

    def __init__(self, kind: type[Answer]) -> None:
        columns = list(_columns(kind))
        self._paths = [column.split(".") for column in columns]
        self._text = io.StringIO()
        self._table = csv.writer(self._text)
        self._table.writerow(columns)
        self._lasting = [place for place, path in enumerate(self._paths) if path[-1] not in LOOKED]
        self._is_lasting = len(self._lasting) == len(columns)
        self._content = self._text if self._is_lasting else io.StringIO()
        self._contents = csv.writer(self._content)

    def add(self, entries: Iterable[Answer]) -> None:
        for entry in entries:
            values = msgspec.to_builtins(entry)
            cells = [_cell(values, path) for path in self._paths]
            self._table.writerow(cells)
            if not self._is_lasting:
                self._contents.writerow([cells[place] for place in self._lasting])

    def reply(self, page: Page[Any]) -> RouteResponse:
        """Returns the table so far; the page's other fields become headers, such as `Link` for the next page."""
        headers = page.table_headers()
        fields = "\n".join(text for name, text in headers.items() if name != AS_OF)
        content = etag_of(self._content.getvalue().encode()).encode() + LOOKS.sub(b"", fields.encode())
        return RouteResponse(self._text.getvalue(), media=MEDIA, headers=headers, content=content)


def csv_reply(page: Page[Any], kind: type[Answer]) -> RouteResponse:
    """Returns a page of entries of one type as a CSV table."""
    table = CsvTable(kind)
    table.add(page.value)
    return table.reply(page)


def _columns(kind: type[Answer], prefix: str = "") -> Iterator[str]:
    for field in msgspec.structs.fields(kind):
        nested = next((part for part in (field.type, *get_args(field.type)) if _is_struct(part)), None)
        if nested:
            yield from _columns(nested, f"{prefix}{field.encode_name}.")
        else:
            yield prefix + field.encode_name


def _is_struct(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, msgspec.Struct)


def _cell(values: Mapping[str, Any], path: list[str]) -> Any:
    value: Any = values
    for name in path:
        value = value.get(name) if value is not None else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return msgspec.json.encode(value).decode()
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
