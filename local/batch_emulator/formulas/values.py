"""Values of autoscale formulas: doubles, vectors, strings, time stamps and intervals, and their operations.

A double is a float, a doubleVec a tuple of floats. Source: the tables of operations and functions on the page "Create a
formula to automatically scale compute nodes in a Batch pool"; anything else is an error.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from local.batch_emulator.core.stamps import SECOND

type Vector = tuple[float, ...]
_DAY = 86_400 * SECOND
_END = 253_402_300_800 * SECOND


class EvaluationError(Exception):
    """The reason why a formula can't be evaluated."""


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    ticks: int


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    ticks: int


type Value = float | str | Vector | Timestamp | Interval
INTERVALS: Mapping[str, Interval] = {
    f"TimeInterval_{name}": Interval(ticks)
    for name, ticks in {
        "Zero": 0,
        "100ns": 1,
        "Microsecond": 10,
        "Millisecond": 10_000,
        "Second": SECOND,
        "Minute": 60 * SECOND,
        "Hour": 3600 * SECOND,
        "Day": _DAY,
        "Week": 7 * _DAY,
        "Year": 365 * _DAY,
    }.items()
}
_TYPE_NAMES: Mapping[type, str] = {
    float: "double",
    str: "string",
    tuple: "doubleVec",
    Timestamp: "timestamp",
    Interval: "timeinterval",
}
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: left / right if right else math.copysign(math.inf, left) if left else math.nan,
}
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "!=": operator.ne,
}


def type_name(value: Value) -> str:
    return _TYPE_NAMES[type(value)]


def apply_binary(name: str, left: Value, right: Value) -> Value:
    """Returns a binary operator's result. Raises EvaluationError."""
    if name in _COMPARISONS:
        if type(left) is not type(right) or isinstance(left, tuple):
            raise _undefined(name, left, right)
        return float(_COMPARISONS[name](left, right))
    match left, right:
        case float() as one, float() as other:
            return _ARITHMETIC[name](one, other)
        case tuple() as values, (float() | tuple()) as others:
            return _apply_to_components(name, values, others)
        case _:
            return _apply_to_times(name, left, right)


def apply_unary(name: str, value: Value) -> Value:
    """Returns a unary operator's result. Raises EvaluationError."""
    if isinstance(value, float):
        return -value if name == "-" else float(not value)
    if isinstance(value, Interval) and name == "-":
        return Interval(-value.ticks)
    raise EvaluationError(f"Operator '{name}' is not defined for {type_name(value)}")


def get_member(value: Value, name: str) -> float:
    """Returns a part of a time stamp. Raises EvaluationError."""
    if not isinstance(value, Timestamp):
        raise EvaluationError(f"{type_name(value)} has no member '{name}'")
    moment = datetime.fromtimestamp(value.ticks // SECOND, UTC)
    parts = {part: getattr(moment, part) for part in ("year", "month", "day", "hour", "minute", "second")}
    parts["weekday"] = moment.isoweekday() % 7
    if name not in parts:
        raise EvaluationError(f"timestamp has no member '{name}'")
    return float(parts[name])


def format_value(value: Value) -> str:
    """Returns a value as results show it."""
    match value:
        case float():
            return f"{value:.15g}"
        case str():
            return value
        case Timestamp():
            moment = datetime.fromtimestamp(value.ticks // SECOND, UTC)
            return f"{moment:%Y-%m-%dT%H:%M:%S}.{value.ticks % SECOND // 10_000:03}Z"
        case Interval():
            return _format_interval(value.ticks)
        case _:
            return f"[{','.join(format_value(each) for each in value)}]"


def _apply_to_components(name: str, left: Vector, right: float | Vector) -> Vector:
    others = (right,) * len(left) if isinstance(right, float) else right
    if len(left) != len(others):
        raise EvaluationError(f"Operator '{name}' needs vectors of one length, not {len(left)} and {len(others)}")
    return tuple(_ARITHMETIC[name](one, other) for one, other in zip(left, others, strict=True))


def _apply_to_times(name: str, left: Value, right: Value) -> Value:
    match left, name, right:
        case (float() as factor, "*", Interval() as span) | (Interval() as span, "*", float() as factor):
            return Interval(_round(span.ticks * factor))
        case Interval(), "/", float():
            return Interval(_round(_ARITHMETIC["/"](left.ticks, right)))
        case Interval(), ("+" | "-"), Interval():
            return Interval(_round(_ARITHMETIC[name](left.ticks, right.ticks)))
        case (Interval() as span, "+", Timestamp() as moment) | (Timestamp() as moment, "+", Interval() as span):
            return _timestamp(moment.ticks + span.ticks)
        case Timestamp(), "-", Timestamp():
            return Interval(left.ticks - right.ticks)
    raise _undefined(name, left, right)


def _undefined(name: str, left: Value, right: Value) -> EvaluationError:
    return EvaluationError(f"Operator '{name}' is not defined for {type_name(left)} and {type_name(right)}")


def _timestamp(ticks: int) -> Timestamp:
    if not 0 <= ticks < _END:
        raise EvaluationError("A timestamp lies between the years 1970 and 9999")
    return Timestamp(ticks)


def _round(ticks: float) -> int:
    if not math.isfinite(ticks):
        raise EvaluationError("A timeinterval can't be infinite")
    return round(ticks)


def _format_interval(ticks: int) -> str:
    sign, whole = "-" if ticks < 0 else "", abs(ticks)
    days, rest = divmod(whole, _DAY)
    seconds, fraction = divmod(rest, SECOND)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{sign}{f'{days}.' if days else ''}{clock}{f'.{fraction:07}' if fraction else ''}"
