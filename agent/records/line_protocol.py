"""Records as lines of InfluxDB's line protocol, with times in nanoseconds.

Values that the protocol can't express are left out: empty tags and names, NaN and infinity, records without fields.
Line breaks in texts become spaces, so that a line is always one record. So do other control characters in names and
tags, where the app takes none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from agent.records.record import Record, Value

MAX_TEXT = 4096
"""Characters of a field's text; longer ones are cut."""
_MAX_SIGNED, _MAX_UNSIGNED = 1 << 63, 1 << 64
_BREAKS = str.maketrans({"\n": " ", "\r": " ", "\0": " "})
_CONTROLS = [*map(chr, range(32)), "\x7f"]
_IN_MEASUREMENT = str.maketrans({**dict.fromkeys(_CONTROLS, "\\ "), ",": "\\,", " ": "\\ "})
_IN_TAG = str.maketrans({**dict.fromkeys(_CONTROLS, "\\ "), ",": "\\,", "=": "\\=", " ": "\\ "})
_IN_TEXT = str.maketrans({'"': '\\"', "\\": "\\\\"})


def line_of(record: Record, now: int) -> str:
    """Returns the line of a record, with a line break; empty where it has no field. `now` replaces a missing time."""
    fields = ",".join(_fields(record.fields))
    name = record.measurement.rstrip("\\").translate(_IN_MEASUREMENT)
    if not fields or not name:
        return ""
    return f"{name}{_tags(record.tags)} {fields} {now if record.time is None else record.time}\n"


def text_of(records: Iterable[Record], now: int) -> str:
    """Returns the lines of several records, in their order."""
    return "".join(line_of(record, now) for record in records)


def _tags(tags: Mapping[str, str]) -> str:
    """Returns the tags in order of their names, each with a comma before it."""
    written = []
    for name in sorted(tags):
        shown, value = _key(name), tags[name].rstrip("\\").translate(_IN_TAG)
        if shown and value:
            written.append(f",{shown}={value}")
    return "".join(written)


def _fields(fields: Mapping[str, Value]) -> Iterable[str]:
    for name, value in fields.items():
        shown, written = _key(name), _value(value)
        if shown and written is not None:
            yield f"{shown}={written}"


def _key(name: str) -> str:
    return name.rstrip("\\").translate(_IN_TAG)


def _value(value: Value) -> str | None:
    """Returns a value's text, None where the protocol has none for it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if -_MAX_SIGNED <= value < _MAX_SIGNED:
            return f"{value}i"
        return f"{value}u" if 0 <= value < _MAX_UNSIGNED else None
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else None
    return '"' + value[:MAX_TEXT].translate(_BREAKS).translate(_IN_TEXT) + '"'
