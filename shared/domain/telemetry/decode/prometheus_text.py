"""Samples of Prometheus' text exposition format and of OpenMetrics, each as a record with one field.

A sample has a time if the line ends with one. Exporters write none, so a writer puts an exposition between a line
`# timestamp TIME` (Unix time of any precision, or ISO 8601) and a line `# EOF`: such a block is one unit, whose samples
have that time. `# TYPE` and `# UNIT` count within a block only, as a read may begin at any other line. Elsewhere a name
that ends in `_total` is a counter's. Buckets of histograms have no record, nor have times of creation.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.domain.telemetry.catalog.custom_metrics import UNIT, unit_of
from shared.domain.telemetry.records.metrics import Metric, TextError, Value
from shared.domain.telemetry.records.precision import Precision

BLOCK = b"# timestamp "
_END, _NEXT = re.compile(rb"^# EOF[ \t\r]*(?:\n|\Z)", re.MULTILINE), b"\n" + BLOCK
_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_MAX_HEADS, _MAX_HEAD = 4096, 2048  # cached ones, and characters of one
MAX_BLOCK_LINES = 40_000  # as all records of a block come at once
MAX_SAMPLE = 64 << 10  # bytes of a line
_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*+[ \t]*+=[ \t]*+"(?:[^"\\\n]|\\.)*+"'
_SAMPLE = re.compile(
    rf"({_NAME})[ \t]*+(?:\{{((?:[ \t]*+{_LABEL}[ \t]*+,?)*+)[ \t]*+\}})?[ \t]*+(?<=[ \t}}])"
    r"([+-]?(?:[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+|NaN|Inf))(?:[ \t]+(-?[0-9.]+))?[ \t]*(?:#.*)?\r?"
)
_LINE = re.compile(
    rf"({_NAME}(?:\{{[^\n]*\}})?)[ \t]++([+-]?[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?)(?:[ \t]++([0-9]{{1,18}}))?[ \t]*+\r?\n"
)
_PAIR = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\\n]|\\.)*+)"')
_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}
_ESCAPE = re.compile(r'\\[n"\\]')
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_COUNTED = ("_count", "_sum")
_BUCKET, _TOTAL, _CREATED = "_bucket", "_total", "_created"
_DISTRIBUTIONS = ("histogram", "gaugehistogram", "summary")


class _Head(NamedTuple):
    """The part of a record that recurs; `field` is empty where its samples have no record."""

    name: str
    tags: dict[str, str]
    field: str


@dataclass(slots=True)
class _Declared:
    """Types and units that a block declares, by the name of a metric family."""

    types: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)


class SampleLines:
    """A reader of one stream's ordinary sample lines; names and labels recur, so they are taken apart once."""

    __slots__ = ("_heads", "_precision")

    def __init__(self, precision: Precision) -> None:
        self._precision = precision
        self._heads: dict[str, _Head] = {}

    def read_run(self, letters: str, at: int, found: list[Metric]) -> int:
        """Adds records of whole lines from a position on; returns where the first line of another form begins.

        `letters` has one character per byte (Latin-1), so that positions are byte positions.
        """
        while line := _LINE.match(letters, at):
            written, value, time = line.groups()
            try:
                head = self._heads.get(written) or self._head(written)
                moment = self._precision.nanoseconds(int(time)) if time else None
            except ValueError:  # no UTF-8, another form, or a time out of range
                break
            if head.field:
                found.append(Metric(head.name, head.tags, {head.field: _value(value)}, moment))
            at = line.end()
        return at

    def _head(self, written: str) -> "_Head":
        """Raises ValueError where it is no name with labels."""
        found = _SAMPLE.fullmatch(f"{written.encode('latin-1').decode()} 0")
        if found is None or len(written) > _MAX_HEAD:
            raise ValueError("another form")
        if len(self._heads) >= _MAX_HEADS:
            self._heads.clear()
        head = self._heads[written] = _head_of(found[1], found[2] or "", _Declared())
        return head


def read_sample(line: bytes, precision: Precision) -> list[Metric] | None:
    """Returns the record of a line, without a time if the line has none; None for a line of another format.

    A line whose sample has no record gives an empty list. Raises TextError for a time out of range.
    """
    try:
        found = _SAMPLE.fullmatch(line.decode())
    except UnicodeDecodeError:
        return None
    return _records(found, _Declared(), None, precision) if found else None


def block_end(text: bytes, at: int, *, ends: bool) -> int | None:
    """Returns the end of the block at a position; None where more text is needed. A next block ends it, too."""
    following = text.find(_NEXT, at) + 1 or len(text)
    found = _END.search(text, at, following)
    if found:
        return found.end()
    return following if ends or following < len(text) else None


def read_block(block: bytes, precision: Precision) -> tuple[list[Metric], list[TextError]]:
    """Returns the records of a block, and the errors of its invalid lines.

    There are none if the block has no valid time, or too many lines.
    """
    if block.count(b"\n") > MAX_BLOCK_LINES:
        return [], [TextError(f"the exposition has more than {MAX_BLOCK_LINES:,} lines", 0)]
    first, *lines = block.split(b"\n")
    try:
        time = precision.parsed(_number_or_text(first[len(BLOCK) :].decode().strip()))
    except ValueError:
        return [], [TextError("the line # timestamp has no time that is understood", len(BLOCK))]
    declared, metrics, faults, at = _Declared(), list[Metric](), list[TextError](), len(first) + 1
    for line in lines:
        try:
            metrics += _of_line(line, declared, time, precision)
        except TextError as error:
            faults.append(TextError(error.reason, at + error.position))
        at += len(line) + 1
    return metrics, faults


def _of_line(line: bytes, declared: _Declared, time: int, precision: Precision) -> list[Metric]:
    """Raises TextError."""
    if not line.strip():
        return []
    if line.startswith(b"#"):
        _declare(line, declared)
        return []
    try:
        found = _SAMPLE.fullmatch(line.decode())
    except UnicodeDecodeError as error:
        raise TextError("this is no UTF-8", error.start) from error
    if found is None:
        raise TextError("this is no sample of Prometheus' text format", 0)
    return _records(found, declared, time, precision)


def _declare(line: bytes, declared: _Declared) -> None:
    match line.decode(errors="replace").split():
        case ["#", "TYPE", name, kind]:
            declared.types[name] = kind
        case ["#", "UNIT", name, unit]:
            declared.units[name] = unit_of(f"_{unit}") or unit


def _records(found: re.Match[str], declared: _Declared, time: int | None, precision: Precision) -> list[Metric]:
    name, labels, value, written = found.groups()
    head = _head_of(name, labels or "", declared)
    if not head.field:
        return []
    try:
        at = time if written is None else precision.parsed(_number_or_text(written))
    except ValueError as error:
        raise TextError("the time is out of range", found.start(4)) from error
    return [Metric(name, head.tags, {head.field: _value(value)}, at)]


def _head_of(name: str, labels: str, declared: _Declared) -> _Head:
    tags = _tags(labels)
    family, kind = _family(name, declared.types)
    if unit := declared.units.get(family):
        tags[UNIT] = unit
    return _Head(name, tags, "" if name.endswith(_BUCKET) and "le" in tags else kind)


def _family(name: str, types: Mapping[str, str]) -> tuple[str, str]:
    """Returns the name of a sample's metric family, and the name of its field; empty where it has no record."""
    for suffix in ("", _TOTAL, *_COUNTED, _BUCKET, _CREATED):
        family = name.removesuffix(suffix)
        kind = types.get(family) if name.endswith(suffix) else None
        if kind is None:
            continue
        if suffix in (_BUCKET, _CREATED):
            return family, ""
        is_counter = kind == "counter" or (kind in _DISTRIBUTIONS and suffix in _COUNTED)
        return family, "counter" if is_counter else "gauge"
    return name, "counter" if name.endswith(_TOTAL) else "gauge"


def _tags(labels: str) -> dict[str, str]:
    return {
        name: _ESCAPE.sub(lambda found: _ESCAPES[found[0]], text) if "\\" in text else text
        for name, text in _PAIR.findall(labels)
    }


def _value(text: str) -> Value:
    """Returns a number; a text where it isn't finite, as no series holds it."""
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:  # two decimal points
        return text
    return number if abs(number) < float("inf") else text


def _number_or_text(written: str) -> float | str:
    try:
        return int(written) if _WHOLE.fullmatch(written) else float(written)
    except ValueError:
        return written
