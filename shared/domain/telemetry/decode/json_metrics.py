"""Records in Telegraf's JSON: one `{"metrics":[…]}` or one object per line.

A value may have any JSON type; nested values, which Telegraf never writes, are no fields. Numbers, booleans and "nan"
that arrive as texts stay texts here: `summaries.py` converts them where a number is expected.
"""

import re

import msgspec

from shared.domain.telemetry.records.bounds import MAX_LISTED, MAX_MISTAKES, MAX_PARTS
from shared.domain.telemetry.records.metrics import Metric, TextError, Value
from shared.domain.telemetry.records.precision import Precision

type _Sent = bool | int | float | str | None
_BYTE = re.compile(r"\(byte (\d+)\)$")


class _Record(msgspec.Struct, frozen=True, gc=False):
    """A record in lenient form."""

    name: str
    fields: dict[str, _Sent]
    timestamp: int | float | str | None = None
    tags: dict[str, _Sent] = {}


class _Batch(msgspec.Struct, frozen=True, gc=False):
    metrics: list[Metric]


class _LooseBatch(msgspec.Struct, frozen=True, gc=False):
    metrics: list[msgspec.Raw]


_RECORD = msgspec.json.Decoder(_Record)
_BATCH = msgspec.json.Decoder(_Batch)
_LOOSE = msgspec.json.Decoder(_LooseBatch)


def read_json(line: bytes, precision: Precision) -> tuple[list[Metric], list[TextError]]:
    """Returns the records of a line, and the errors of its invalid ones.

    Raises TextError where the line as a whole is invalid.
    """
    try:
        return _timed(_BATCH.decode(line).metrics, precision), []
    except msgspec.ValidationError:
        return _one_by_one(line, precision)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _error(error, 0, len(line)) from error
    except ValueError:
        return _one_by_one(line, precision)


def _timed(metrics: list[Metric], precision: Precision) -> list[Metric]:
    """Returns the records with times in nanoseconds. Raises ValueError."""
    factor, span = precision.factor_between(metrics[0].time) if metrics else (1, range(0))
    for metric in metrics:
        time = metric.time
        if time is not None:
            metric.time = time * factor if time in span else precision.nanoseconds(time)
    return metrics


def _one_by_one(line: bytes, precision: Precision) -> tuple[list[Metric], list[TextError]]:
    """Reads a line with invalid records, or without a batch. Raises TextError."""
    if line.count(b",") > MAX_PARTS:
        raise TextError(f"something in it is wrong, and it has more than {MAX_PARTS:,} parts", 0)
    try:
        parts = [bytes(part) for part in _LOOSE.decode(line).metrics]
    except (msgspec.DecodeError, ValueError, RecursionError):
        return [_read_one(line, 0, precision)], []
    metrics, faults, bad, at = [], [], 0, 0
    for part in parts:
        at = line.index(part, at)
        try:
            metrics.append(_read_one(part, at, precision))
        except TextError as error:
            bad += 1
            if bad <= MAX_LISTED:
                faults.append(error)
            elif bad > MAX_MISTAKES:
                faults.append(TextError(f"more than {MAX_MISTAKES:,} records of the line make no sense", at))
                return metrics, faults
        at += len(part)
    if bad > MAX_LISTED:
        faults.append(TextError(f"{bad - MAX_LISTED:,} more records of the line make no sense", 0))
    return metrics, faults


def _read_one(part: bytes, at: int, precision: Precision) -> Metric:
    try:
        record = _RECORD.decode(part)
        time = None if record.timestamp is None else precision.parsed(record.timestamp)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise _error(error, at, len(part)) from error
    fields: dict[str, Value] = record.fields  # type: ignore[assignment]  # those that are null are dropped here
    if None in record.fields.values():
        fields = {name: value for name, value in record.fields.items() if value is not None}
    return Metric(record.name, _texts(record.tags), fields, time)


def _texts(tags: dict[str, _Sent]) -> dict[str, str]:
    """Returns tags as texts: a tool may have sent a number."""
    for value in tags.values():
        if value.__class__ is not str:
            return {name: value if isinstance(value, str) else str(value) for name, value in tags.items()}
    return tags  # type: ignore[return-value]  # they all are


def _error(error: Exception, at: int, size: int) -> TextError:
    """Returns a decoder's error about bytes at a position, without quoted input."""
    if isinstance(error, msgspec.ValidationError):
        return TextError("a record isn't of a name, tags, fields and a time stamp", at)
    if isinstance(error, msgspec.DecodeError) or not isinstance(error, ValueError):
        found = _BYTE.search(str(error))
        is_cut = "truncated" in str(error)
        return TextError("this is no valid JSON", at + (size if is_cut else int(found[1]) if found else 0))
    return TextError(str(error) if "time" in str(error) else "this is no valid JSON", at)
