"""Lists as CSV (RFC 4180), for spreadsheets: a column for every property, nested ones with a dot between the names.

Cells that a spreadsheet would take for a formula begin with an apostrophe: ids and names come from strangers.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

import msgspec

from functions.answers import Answer
from functions.http import Page, Reply

MEDIA = "text/csv; charset=utf-8"
UNREADABLE = "Batchscope-Unreadable"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class CsvTable:
    """A table of entries of a kind, with a header, that grows as they come."""

    def __init__(self, kind: type[Answer]) -> None:
        columns = list(_columns(kind))
        self._paths = [column.split(".") for column in columns]
        self._text = io.StringIO()
        self._table = csv.writer(self._text)
        self._table.writerow(columns)

    def add(self, entries: Iterable[Answer]) -> None:
        for entry in entries:
            values = msgspec.to_builtins(entry)
            self._table.writerow([_cell(values, path) for path in self._paths])

    def reply(self, next_link: str | None) -> Reply:
        """The table so far; the link to the next page is in the header `Link`."""
        link = {"Link": f'<{next_link}>; rel="next"'} if next_link else {}
        return Reply(self._text.getvalue(), media=MEDIA, headers=link)


def csv_reply(page: Page[Any], kind: type[Answer]) -> Reply:
    """A page of entries of a kind as a table; a header tells how many can't be read."""
    table = CsvTable(kind)
    table.add(page.value)
    reply = table.reply(page.next_link)
    return (
        replace(reply, headers={**reply.headers, UNREADABLE: str(len(page.unreadable))}) if page.unreadable else reply
    )


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
