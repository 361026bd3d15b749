r"""Parser of one line protocol record by the full grammar: escapes, multi-line strings, comments, all value types.

It follows InfluxDB's own decoder (grammar and cases of influxdata/line-protocol-corpus): keys and names contain no
control characters, a backslash escapes the next character only where that is special, and strings may contain anything.
In strings `\r` and `\t` stand for control characters, and `\n` stays unchanged, as in the corpus. `line_protocol.py`
has a faster path for the many lines that need none of this.
"""

import re

from shared.domain.telemetry.records.bounds import MAX_STRING
from shared.domain.telemetry.records.metrics import Metric, TextError, Value
from shared.domain.telemetry.records.precision import Precision

_CONTROL = rb"\x00-\x1f\x7f"
_ESCAPED = rb"\\+[^\\" + _CONTROL + rb"]"
_NAME = re.compile(rb"(?!#)(?:[^\\, " + _CONTROL + rb"]|" + _ESCAPED + rb")++")
_KEY = re.compile(rb"(?:[^\\,= " + _CONTROL + rb"]|" + _ESCAPED + rb")++")
_STRING = re.compile(rb'"((?:[^"\\]|\\[\s\S])*+)"')
_FLOAT = rb"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_VALUE = re.compile(
    rb"(-?\d+)i|(\d+)u|(" + _FLOAT + rb")|((?:true|True|TRUE|[tT])|(?:false|False|FALSE|[fF]))"
)  # groups: integer, unsigned, float, boolean
_TIME = re.compile(rb"-?\d++")
_SPACES = re.compile(rb" ++")
_END = re.compile(rb" *+(?:\r?(?:\n|\Z))")
_COMMENT = re.compile(rb" *+#[^\x00-\x08\x0a-\x1f\x7f]*+\r?(?:\n|\Z)")
_BLANK = re.compile(rb"[ \r\n]*+")
_ESCAPES_OF_NAMES = re.compile(r"\\([, ])")
_ESCAPES_OF_KEYS = re.compile(r"\\([,= ])")
_ESCAPES_OF_STRINGS = re.compile(r'\\([\\"rt])')
_CONTROLS = {"r": "\r", "t": "\t"}
_WHOLE, _UNSIGNED, _POINT = 1, 2, 3
_MAX, _MAX_UNSIGNED = 1 << 63, 1 << 64
_DIGITS = 20  # of a 64-bit integer, with its sign; int() is superlinear


def behind_blank_lines(text: bytes, at: int) -> int:
    """Returns where the next non-blank line begins, or the end."""
    return _BLANK.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing as well


def read_record(text: bytes, at: int, precision: Precision) -> tuple[Metric | None, int]:
    """Returns the record at a position, after optional blank lines, and where the next one begins.

    None for a comment and at the end. Raises TextError, with `is_open` for an unterminated quoted string.
    """
    at = behind_blank_lines(text, at)
    if at == len(text):
        return None, at
    if comment := _COMMENT.match(text, at):
        return None, comment.end()
    found = _NAME.match(text, at)
    if not found:
        raise TextError("a measurement's name is expected", at)
    name = _text(found[0], at, _ESCAPES_OF_NAMES)
    tags, at = _read_tags(text, found.end())
    fields, at = _read_fields(text, at)
    time, at = _read_time(text, at, precision)
    end = _END.match(text, at)
    if not end:
        raise TextError("the end of the line is expected", at)
    return Metric(name, tags, fields, time), end.end()


def _read_tags(text: bytes, at: int) -> tuple[dict[str, str], int]:
    """Returns the tags, and the position after the spaces that precede the fields."""
    tags: dict[str, str] = {}
    while text[at : at + 1] == b",":
        begin = at + 1
        key, at = _read_key(text, begin, "a tag's name is expected")
        value = _KEY.match(text, at)
        if not value:
            raise TextError("a tag's value is expected", at)
        if key in tags:
            raise TextError("a tag is given twice", begin)
        tags[key] = _text(value[0], at, _ESCAPES_OF_KEYS)
        at = value.end()
    spaces = _SPACES.match(text, at)
    if not spaces:
        raise TextError("a comma or a space is expected behind the name and its tags", at)
    return tags, spaces.end()


def _read_key(text: bytes, at: int, missing: str) -> tuple[str, int]:
    """Returns a key, and the position after its equals sign."""
    found = _KEY.match(text, at)
    if not found:
        raise TextError(missing, at)
    if text[found.end() : found.end() + 1] != b"=":
        raise TextError("an equals sign is expected", found.end())
    return _text(found[0], at, _ESCAPES_OF_KEYS), found.end() + 1


def _read_fields(text: bytes, at: int) -> tuple[dict[str, Value], int]:
    """Returns fields, sorted by name including the equals sign, which is the order of `line_protocol.py`."""
    fields: dict[str, Value] = {}
    while True:
        key, at = _read_key(text, at, "a field's name is expected")
        fields[key], at = _read_string(text, at) if text[at : at + 1] == b'"' else _read_value(text, at)
        if text[at : at + 1] != b",":
            return dict(sorted(fields.items(), key=_written)), at
        at += 1


def _written(field: tuple[str, Value]) -> str:
    return f"{field[0]}="


def _read_string(text: bytes, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at, at + MAX_STRING + 2)
    if found:
        return _text(found[1], at + 1, _ESCAPES_OF_STRINGS), found.end()
    if len(text) - at >= MAX_STRING + 2:
        raise TextError(f"a quoted string doesn't end within {MAX_STRING:,} bytes", at)
    raise TextError("a closing quote is expected", at, is_open=True)


def _read_value(text: bytes, at: int) -> tuple[Value, int]:
    found = _VALUE.match(text, at)
    if not found:
        raise TextError("a field's value is of no known kind", at)
    kind, written = found.lastindex, found[0]
    if kind == _POINT:
        value: Value = float(written)
        if value in (float("inf"), float("-inf")):
            raise TextError("a number is out of range", at)
    elif kind in (_WHOLE, _UNSIGNED):
        value = _whole_number(written, at)
    else:
        value = written[:1] in b"tT"
    return value, found.end()


def _whole_number(written: bytes, at: int) -> int:
    number = _integer(written[:-1])
    if not -_MAX <= number < (_MAX_UNSIGNED if written[-1:] == b"u" else _MAX):
        raise TextError("a number is out of range", at)
    return number


def _read_time(text: bytes, at: int, precision: Precision) -> tuple[int | None, int]:
    spaces = _SPACES.match(text, at)
    found = _TIME.match(text, spaces.end()) if spaces else None
    if not found:
        return None, at
    try:
        return precision.nanoseconds(_integer(found[0])), found.end()
    except ValueError as error:
        raise TextError(str(error), found.start()) from error


def _integer(written: bytes) -> int:
    """Returns a number, or one beyond 64 bits for one of more digits."""
    digits = written.lstrip(b"-").lstrip(b"0") or b"0"
    number = int(digits) if len(digits) <= _DIGITS else 1 << 64
    return -number if written[:1] == b"-" else number


def _text(written: bytes, at: int, escapes: re.Pattern[str]) -> str:
    try:
        text = written.decode()
    except UnicodeDecodeError as error:
        raise TextError("a text is no valid UTF-8", at + error.start) from error
    return escapes.sub(lambda found: _CONTROLS.get(found[1], found[1]), text) if "\\" in text else text
