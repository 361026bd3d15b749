"""Functions of autoscale formulas that need only their arguments.

Source: the table of functions on the page "Create a formula to automatically scale compute nodes in a Batch pool".
"""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from local.batch_emulator.core.stamps import parse_http_date, parse_stamp
from local.batch_emulator.formulas.values import EvaluationError, Timestamp, Value, Vector, format_value, type_name


def call_function(name: str, arguments: Sequence[Value]) -> Value:
    """Returns a function's result. Raises EvaluationError."""
    if name in _LIST_FUNCTIONS:
        return _LIST_FUNCTIONS[name](_flatten(name, arguments))
    if name in _SCALAR_FUNCTIONS:
        return _apply_to_each(name, arguments)
    match name, *arguments:
        case "percentile", tuple() as values, float() as percent:
            return _percentile(values, percent)
        case "val", tuple() as values, float() as index:
            return _element_at(values, index)
        case "time", str() as text:
            return _read_time(text)
        case (("percentile" | "val" | "time" | "rand" | "stop"), *_):
            raise EvaluationError(f"{name} does not take ({', '.join(map(type_name, arguments))})")
    raise EvaluationError(f"There is no function '{name}'")


def _flatten(name: str, arguments: Iterable[Value]) -> Vector:
    found: list[float] = []
    for each in arguments:
        if isinstance(each, float):
            found.append(each)
        elif isinstance(each, tuple):
            found += each
        else:
            raise EvaluationError(f"{name} does not take a {type_name(each)}")
    return tuple(found)


def _require_values(name: str, function: Callable[[Vector], float], minimum: int = 1) -> Callable[[Vector], float]:
    def checked(values: Vector) -> float:
        if len(values) < minimum:
            raise EvaluationError(f"{name} needs at least {minimum} value{'s' if minimum > 1 else ''}")
        return function(values)

    return checked


_LIST_FUNCTIONS: Mapping[str, Callable[[Vector], Value]] = {
    "avg": _require_values("avg", statistics.fmean),
    "len": lambda values: float(len(values)),
    "max": _require_values("max", max),
    "min": _require_values("min", min),
    "norm": lambda values: math.hypot(*values),
    "range": _require_values("range", lambda values: max(values) - min(values)),
    "std": _require_values("std", statistics.stdev, 2),
    "sum": math.fsum,
    "vec": lambda values: values,
}
_SCALAR_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "lg": math.log2,
    "ln": math.log,
    "log": math.log10,
    "ceil": lambda value: float(math.ceil(value)),
    "floor": lambda value: float(math.floor(value)),
    "round": lambda value: math.copysign(float(math.floor(abs(value) + 0.5)), value),
}


def _apply_to_each(name: str, arguments: Sequence[Value]) -> Value:
    """Applies a function to a double, or to each component of a vector."""
    match arguments:
        case [float() as value]:
            return _apply_scalar(name, value)
        case [tuple() as values]:
            return tuple(_apply_scalar(name, value) for value in values)
    raise EvaluationError(f"{name} does not take ({', '.join(map(type_name, arguments))})")


def _apply_scalar(name: str, value: float) -> float:
    try:
        return _SCALAR_FUNCTIONS[name](value)
    except (ValueError, OverflowError):
        raise EvaluationError(f"{name} is not defined for {format_value(value)}") from None


def _percentile(values: Vector, percent: float) -> float:
    """Returns the nearest rank."""
    if not values or not 0 <= percent <= 100:  # noqa: PLR2004 - percent
        raise EvaluationError("percentile needs some values and a number from 0 to 100")
    return sorted(values)[max(0, math.ceil(percent / 100 * len(values)) - 1)]


def _element_at(values: Vector, index: float) -> float:
    if not 0 <= index < len(values):
        raise EvaluationError(f"val: there is no element {format_value(index)} in a vector of {len(values)}")
    return values[int(index)]


def _read_time(text: str) -> Timestamp:
    for read in (parse_stamp, parse_http_date):
        try:
            return Timestamp(read(text))
        except ValueError:
            continue
    raise EvaluationError(f"'{text}' is no time by W3C-DTF or RFC 1123")
