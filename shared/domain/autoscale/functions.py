"""The predefined functions of formulas. A list of doubles and doubleVecs counts as one doubleVec."""

import math
from collections.abc import Callable

from shared.domain.autoscale.values import Scalar, ValueProblemError, type_name

_WHOLE = 100  # percent
type Vector = tuple[float, ...]


def call(name: str, arguments: tuple[Scalar, ...]) -> Scalar | None:
    """Returns the value of a function, None if there is none of this name. Raises ValueProblemError."""
    if name in _OF_LISTS:
        least, function = _OF_LISTS[name]
        values = flattened(name, arguments)
        if len(values) < least:
            raise ValueProblemError(f"{name} needs at least {least} value{'s' if least > 1 else ''}, not {len(values)}")
        return function(values)
    if name in _OF_EACH:
        return _each(name, arguments)
    match name, *arguments:
        case "percentile", tuple(values), float(percent):
            return _percentile(values, percent)
        case "val", tuple(values), float(index):
            return _element(values, index)
        case (("percentile" | "val"), *_):
            raise ValueProblemError(f"{name} takes a doubleVec and a double, not {_types(arguments)}")
    return None


def flattened(name: str, arguments: tuple[Scalar, ...]) -> Vector:
    """Returns a list of doubles and doubleVecs as one doubleVec. Raises ValueProblemError for other values."""
    found = list[float]()
    for argument in arguments:
        if isinstance(argument, tuple):
            found += argument
        elif isinstance(argument, float):
            found.append(argument)
        else:
            raise ValueProblemError(f"{name} doesn't take a {type_name(argument)}")
    return tuple(found)


def _each(name: str, arguments: tuple[Scalar, ...]) -> Scalar:
    match arguments:
        case (float(value),):
            return _of_one(name, value)
        case (tuple(values),):
            return tuple(_of_one(name, value) for value in values)
    raise ValueProblemError(f"{name} takes a double or a doubleVec, not {_types(arguments)}")


def _of_one(name: str, value: float) -> float:
    try:
        return float(_OF_EACH[name](value))
    except (ValueError, OverflowError):
        raise ValueProblemError(f"{name} isn't defined for {value:g}") from None


def _types(arguments: tuple[Scalar, ...]) -> str:
    return f"({', '.join(map(type_name, arguments))})"


def _percentile(values: Vector, percent: float) -> float:
    """Returns the element at a percentage of the sorted values, the nearest one that isn't below (nearest rank)."""
    if not values:
        raise ValueProblemError("percentile needs at least 1 value, not 0")
    if not 0 <= percent <= _WHOLE:
        raise ValueProblemError(f"a percentile is a number from 0 to 100, not {percent:g}")
    return sorted(values)[max(math.ceil(percent / _WHOLE * len(values)), 1) - 1]


def _element(values: Vector, index: float) -> float:
    if not (math.isfinite(index) and 0 <= int(index) < len(values)):
        raise ValueProblemError(f"there is no element {index:g} in {len(values)} values")
    return values[int(index)]


def _deviation(values: Vector) -> float:
    """Returns the standard deviation of a sample."""
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) * (value - mean) for value in values) / (len(values) - 1))


_OF_LISTS: dict[str, tuple[int, Callable[[Vector], Scalar]]] = {
    "avg": (1, lambda values: sum(values) / len(values)),
    "len": (0, lambda values: float(len(values))),
    "max": (1, max),
    "min": (1, min),
    "norm": (0, lambda values: math.hypot(*values)),
    "range": (1, lambda values: max(values) - min(values)),
    "std": (2, _deviation),
    "sum": (0, lambda values: float(sum(values))),
    "vec": (0, lambda values: values),
}
_OF_EACH: dict[str, Callable[[float], float]] = {
    "lg": math.log2,
    "ln": math.log,
    "log": math.log10,
    "ceil": math.ceil,
    "floor": math.floor,
    "round": round,
}
