"""Functions of autoscale formulas that need only their arguments.

Source: the table of functions on the page "Create a formula to automatically scale compute nodes in a Batch pool".
"""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from local.batch_emulator.core.stamps import parse_http_date, parse_stamp
from local.batch_emulator.formulas.values import ProblemError, Timestamp, Value, Vector, kind_of, shown


def called(name: str, arguments: Sequence[Value]) -> Value:
    """Returns a function's result. Raises ProblemError."""
    if name in _OF_LISTS:
        return _OF_LISTS[name](_flat(name, arguments))
    if name in _OF_EACH:
        return _of_each(name, arguments)
    match name, *arguments:
        case "percentile", tuple() as values, float() as percent:
            return _percentile(values, percent)
        case "val", tuple() as values, float() as place:
            return _element(values, place)
        case "time", str() as text:
            return _read_time(text)
        case (("percentile" | "val" | "time" | "rand" | "stop"), *_):
            raise ProblemError(f"{name} does not take ({', '.join(map(kind_of, arguments))})")
    raise ProblemError(f"There is no function '{name}'")


def _flat(name: str, arguments: Iterable[Value]) -> Vector:
    found: list[float] = []
    for each in arguments:
        if isinstance(each, float):
            found.append(each)
        elif isinstance(each, tuple):
            found += each
        else:
            raise ProblemError(f"{name} does not take a {kind_of(each)}")
    return tuple(found)


def _some(name: str, function: Callable[[Vector], float], minimum: int = 1) -> Callable[[Vector], float]:
    def checked(values: Vector) -> float:
        if len(values) < minimum:
            raise ProblemError(f"{name} needs at least {minimum} value{'s' if minimum > 1 else ''}")
        return function(values)

    return checked


_OF_LISTS: Mapping[str, Callable[[Vector], Value]] = {
    "avg": _some("avg", statistics.fmean),
    "len": lambda values: float(len(values)),
    "max": _some("max", max),
    "min": _some("min", min),
    "norm": lambda values: math.hypot(*values),
    "range": _some("range", lambda values: max(values) - min(values)),
    "std": _some("std", statistics.stdev, 2),
    "sum": math.fsum,
    "vec": lambda values: values,
}
_OF_EACH: Mapping[str, Callable[[float], float]] = {
    "lg": math.log2,
    "ln": math.log,
    "log": math.log10,
    "ceil": lambda value: float(math.ceil(value)),
    "floor": lambda value: float(math.floor(value)),
    "round": lambda value: math.copysign(float(math.floor(abs(value) + 0.5)), value),
}


def _of_each(name: str, arguments: Sequence[Value]) -> Value:
    """Applies a function to a double, or to each component of a vector."""
    match arguments:
        case [float() as value]:
            return _logged(name, value)
        case [tuple() as values]:
            return tuple(_logged(name, value) for value in values)
    raise ProblemError(f"{name} does not take ({', '.join(map(kind_of, arguments))})")


def _logged(name: str, value: float) -> float:
    try:
        return _OF_EACH[name](value)
    except (ValueError, OverflowError):
        raise ProblemError(f"{name} is not defined for {shown(value)}") from None


def _percentile(values: Vector, percent: float) -> float:
    """Returns the nearest rank."""
    if not values or not 0 <= percent <= 100:  # noqa: PLR2004 - percent
        raise ProblemError("percentile needs some values and a number from 0 to 100")
    return sorted(values)[max(0, math.ceil(percent / 100 * len(values)) - 1)]


def _element(values: Vector, place: float) -> float:
    if not 0 <= place < len(values):
        raise ProblemError(f"val: there is no element {shown(place)} in a vector of {len(values)}")
    return values[int(place)]


def _read_time(text: str) -> Timestamp:
    for read in (parse_stamp, parse_http_date):
        try:
            return Timestamp(read(text))
        except ValueError:
            continue
    raise ProblemError(f"'{text}' is no time by W3C-DTF or RFC 1123")
