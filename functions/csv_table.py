"""Lists as CSV (RFC 4180), for spreadsheets: a column for every property, nested ones with a dot between the names.

Cells that a spreadsheet would take for a formula begin with an apostrophe: ids and names come from strangers.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

import msgspec

from functions.answers import Answer
from functions.http import Page, Reply
from functions.rendering import AS_OF, LOOKED, LOOKS, etag_of

MEDIA = "text/csv; charset=utf-8"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class CsvTable:
    """A table of entries of a kind, with a header, that grows as they come.

    Columns that tell when it was looked at, and ages, are left out of the content that a weak ETag stands for.
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

    def reply(self, page: Page[Any]) -> Reply:
        """The table so far, with what else the page tells in headers: the link to the next page is in `Link`."""
        headers = page.table_headers()
        told = "\n".join(text for name, text in headers.items() if name != AS_OF)
        content = etag_of(self._content.getvalue().encode()).encode() + LOOKS.sub(b"", told.encode())
        return Reply(self._text.getvalue(), media=MEDIA, headers=headers, content=content)


def csv_reply(page: Page[Any], kind: type[Answer]) -> Reply:
    """A page of entries of a kind as a table."""
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
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
