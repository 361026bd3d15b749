"""A fast path for line protocol without escapes and quotes, which covers nearly all lines.

Series repeat: the same name and tags come with the same fields every few seconds. So names and tags are parsed once.
The fields and their types form a layout, parsed once into a pattern that validates and splits a line in one step.
Telegraf writes fields in varying order unless configured to sort them, so unsorted fields are first sorted by name, and
records with the same fields have one shape. All else (escapes, strings, exponents, unsigned and very large numbers,
comments, mistakes) is left to `line_grammar.py`, the reference implementation. Both return the same record.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import GenericAlias
from typing import Any

import msgspec

from shared.domain.telemetry.records.metrics import Metric, Value
from shared.domain.telemetry.records.precision import Precision

_PART = r'[^\\,= "\x00-\x1f\x7f]++'
_HEAD = re.compile(rf"(?![#{{]){_PART[:-2]}++(?:,{_PART}={_PART})*+")
_NUMBER = r"-?+(?:\d{1,18}+(?:\.\d{0,30}+)?+|\.\d{1,30}+)"
_WHOLE = r"-?+\d{1,18}+"
_BOOLEAN = r"(?:true|True|TRUE|[tT]|false|False|FALSE|[fF])"
_END = r"(?: (-?+\d{1,19}+))?+\r?\n"
_FIELD = re.compile(rf"({_PART})=(?:{_WHOLE}(i)|{_NUMBER}|({_BOOLEAN}))", re.ASCII)
_ANY = rf"{_PART}=(?:{_WHOLE}i|{_NUMBER}|{_BOOLEAN})"
_REST = re.compile(rf"({_ANY}(?:,{_ANY})*+){_END}", re.ASCII)
_KINDS: tuple[tuple[str, Callable[[str], Value], type[Value]], ...] = (  # patterns let pass what no reader takes
    (r"([-\d.]{1,48}+)", float, float),
    (r"([-\d]{1,18}+)i", int, int),
    (rf"({_BOOLEAN})", lambda text: text[0] in "tT", bool),
)
_MAX_HEADS, _MAX_LAYOUTS = 4096, 256  # a node has some hundreds of series and some tens of layouts
_MAX_LENGTH = 2048  # characters of a head or of fields that are cached


@dataclass(frozen=True, slots=True)
class _Layout:
    """Fields with their types; `numbers` decodes values and time as a JSON list in a fifth of float()'s time."""

    names: tuple[str, ...]
    numbers: msgspec.json.Decoder[tuple[Any, ...]]
    readers: tuple[Callable[[str], Value], ...]
    pattern: re.Pattern[str]

    def read_singly(self, values: Sequence[str]) -> Sequence[Any]:
        """Reads values that aren't JSON: no time, a boolean, another form of number. Raises ValueError otherwise."""
        read = [reader(value) for reader, value in zip(self.readers, values, strict=False)]  # the time has no reader
        return [*read, int(values[-1]) if values[-1] else None]


_NO_LAYOUT = _Layout((), msgspec.json.Decoder(tuple[Any, ...]), (), re.compile(r"(?!)"))


@dataclass(slots=True)
class _Head:
    name: str
    tags: dict[str, str]
    layout: _Layout = _NO_LAYOUT


class PlainLines:
    """A reader of one stream's plain lines."""

    __slots__ = ("_heads", "_layouts", "_precision")

    def __init__(self, precision: Precision) -> None:
        self._precision = precision
        self._heads: dict[str, _Head] = {}
        self._layouts: dict[tuple[tuple[str, int], ...], _Layout] = {}

    def read_run(self, letters: str, at: int, found: list[Metric]) -> int:
        """Adds records of whole lines from a position on; returns where the first line that isn't plain begins.

        `letters` has one character per byte (Latin-1), so that positions are byte positions.
        """
        heads, nanoseconds, find, add = self._heads, self._precision.nanoseconds, letters.find, found.append
        least, most = self._precision.as_written
        while (space := find(" ", at, at + _MAX_LENGTH)) > 0:
            try:
                head = heads.get(letters[at:space]) or self._head(letters[at:space])
                layout, parts = head.layout, head.layout.pattern.match(letters, space + 1)
                if parts:
                    end = parts.end()
                else:
                    end = find("\n", space + 1, space + _MAX_LENGTH) + 1
                    rest = _sorted(letters[space + 1 : end])
                    parts = layout.pattern.match(rest)
                    if not parts:
                        layout, parts = self._laid_out(head, rest)
                written = parts.groups()  # the last is the time, which has no field name
                try:
                    values: Sequence[Any] = layout.numbers.decode(f"[{','.join(written)}]")
                except (TypeError, ValueError):
                    values = layout.read_singly(written)
                time = values[-1]
                if time is not None and not least <= time < most:
                    time = nanoseconds(time)
            except ValueError:  # no UTF-8, not plain, or no time: the grammar reports which and where
                break
            add(Metric(head.name, head.tags, dict(zip(layout.names, values)), time))  # noqa: B905  # see above
            at = end
        return at

    def _head(self, written: str) -> _Head:
        """Raises ValueError where it isn't plain, or repeats a tag."""
        if not _HEAD.fullmatch(written):
            raise ValueError("not plain")
        name, *pairs = _text(written).split(",")
        tags = dict(pair.split("=") for pair in pairs)
        if len(tags) < len(pairs):
            raise ValueError("a tag is given twice")
        head = _Head(name, tags)
        if len(self._heads) >= _MAX_HEADS:
            self._heads.clear()
        self._heads[written] = head
        return head

    def _laid_out(self, head: _Head, rest: str) -> tuple[_Layout, re.Match[str]]:
        """Sets the head's layout to that of fields sorted by name; returns the layout and its match.

        Raises ValueError where fields aren't plain or repeated, or there are too many layouts.
        """
        plain = _REST.match(rest)
        if not plain:
            raise ValueError("not plain")
        key = tuple((name, 1 if kind else 2 if boolean else 0) for name, kind, boolean in _FIELD.findall(plain[1]))
        if key not in self._layouts:
            if len(self._layouts) >= _MAX_LAYOUTS:
                raise ValueError("too many layouts")
            self._layouts[key] = _layout_of(key)
        head.layout = self._layouts[key]
        found = head.layout.pattern.match(rest)
        if not found:
            raise ValueError("not plain")
        return head.layout, found


@lru_cache(256)  # nodes of a pool, and each flush of one, have the same layouts
def _layout_of(fields: tuple[tuple[str, int], ...]) -> _Layout:
    pattern = ",".join(f"{re.escape(name)}={_KINDS[kind][0]}" for name, kind in fields) + _END
    _, readers, types = zip(*(_KINDS[kind] for _, kind in fields), strict=True)
    row: Any = GenericAlias(tuple, (*types, int))
    names = tuple(_text(name) for name, _ in fields)
    if len(set(names)) < len(names):
        raise ValueError("a field is given twice")
    return _Layout(names, msgspec.json.Decoder(row), readers, re.compile(pattern, re.ASCII))


def _sorted(rest: str) -> str:
    """Returns the text after a head, with its fields sorted by name if they are plain."""
    fields, space, time = rest.partition(" ")
    if space and "\r" not in fields:
        return f"{','.join(sorted(fields.split(',')))} {time}"
    if not space:
        end = len(rest) - len("\r\n" if rest.endswith("\r\n") else "\n")
        fields, time = rest[:end], rest[end:]
    if "\r" in fields:  # neither part of a value nor of the line end
        return rest
    return ",".join(sorted(fields.split(","))) + space + time


def _text(letters: str) -> str:
    """Returns the text of Latin-1 bytes. Raises ValueError where they aren't UTF-8."""
    return letters if letters.isascii() else letters.encode("latin-1").decode()
