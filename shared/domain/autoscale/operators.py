"""The operators of formulas, by the types of their operands."""

import math
import operator
from collections.abc import Callable

from shared.domain.autoscale.values import Interval, Scalar, Timestamp, ValueProblemError, type_name

_COMPARED: dict[str, Callable[..., bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
_ARITHMETIC = "+-*/"


def unary(sign: str, value: Scalar) -> Scalar:
    """Returns the value of `-` or `!` before an operand. Raises ValueProblemError."""
    match sign, value:
        case "-", float():
            return -value
        case "-", Interval():
            return Interval(-value.ticks)
        case "!", float():
            return float(not value)
    raise ValueProblemError(f"'{sign}' isn't defined for a {type_name(value)}")


def binary(sign: str, left: Scalar, right: Scalar) -> Scalar:
    """Returns the value of an operator between two operands. Raises ValueProblemError."""
    if sign in _COMPARED:
        if type(left) is type(right) and not isinstance(left, tuple):
            return float(_COMPARED[sign](left, right))
    elif isinstance(left, tuple) and isinstance(right, float | tuple):
        return _vector(sign, left, right)
    elif isinstance(left, float) and isinstance(right, float):
        return _double(sign, left, right)
    elif (found := _of_times(sign, left, right)) is not None:
        return found
    raise ValueProblemError(f"'{sign}' isn't defined between a {type_name(left)} and a {type_name(right)}")


def _double(sign: str, left: float, right: float) -> float:
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return left / right if right else _by_zero(left, right)


def _by_zero(left: float, zero: float) -> float:
    """Returns a quotient as IEEE 754 has it."""
    if math.isnan(left) or not left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, zero)


def _vector(sign: str, left: tuple[float, ...], right: float | tuple[float, ...]) -> tuple[float, ...]:
    others = right if isinstance(right, tuple) else (right,) * len(left)
    if len(others) != len(left):
        raise ValueProblemError(f"'{sign}' needs vectors of one length, not of {len(left)} and {len(others)} values")
    return tuple(_double(sign, one, other) for one, other in zip(left, others, strict=True))


def _of_times(sign: str, left: Scalar, right: Scalar) -> Scalar | None:
    found: Scalar | None = None
    match left, sign, right:
        case Interval(), "*", float():
            found = _scaled(left, right)
        case float(), "*", Interval():
            found = _scaled(right, left)
        case Interval(), "/", float():
            found = _scaled(left, _double("/", 1.0, right))
        case Interval(), "+", Interval():
            found = Interval(left.ticks + right.ticks)
        case Interval(), "-", Interval():
            found = Interval(left.ticks - right.ticks)
        case Timestamp(), "+", Interval():
            found = _later(left, right)
        case Interval(), "+", Timestamp():
            found = _later(right, left)
        case Timestamp(), "-", Timestamp():
            found = Interval(left.ticks - right.ticks)
    return found


def _later(time: Timestamp, interval: Interval) -> Timestamp:
    found = Timestamp(time.ticks + interval.ticks)
    _ = found.moment  # raises beyond the calendar
    return found


def _scaled(interval: Interval, factor: float) -> Interval:
    ticks = interval.ticks * factor
    if not math.isfinite(ticks):
        raise ValueProblemError("the timeinterval is infinite")
    return Interval(round(ticks))
