"""Leaves properties out of parsed JSON whose values have another type than expected, so that the rest can be read."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

type Found = tuple[dict[str, Any], tuple[str, ...]]


def well_typed(sent: Mapping[str, Any], kind: type[Struct]) -> Found:
    """Returns the properties of `kind` that have its types, and the dotted names of the others.

    Of an object that has a wrong property the other ones are kept, also within lists. An object that lacks a required
    property is left out as a whole.
    """
    left_out: list[str] = []
    kept = dict(_fitting(sent, kind, "", left_out))
    return kept, tuple(dict.fromkeys(left_out))


def is_left_out(name: str, left_out: Iterable[str]) -> bool:
    """Returns whether a property is among the names left out, is within one of them, or has a part that is."""
    return any(f"{name}.".startswith(f"{one}.") or one.startswith(f"{name}.") for one in left_out)


def _fitting(sent: Mapping[str, Any], kind: type[Struct], path: str, left_out: list[str]) -> Iterator[tuple[str, Any]]:
    for item in fields(kind):
        name = item.encode_name
        if name not in sent:
            continue
        value, inner = sent[name], list[str]()
        if not _fits(value, item.type):
            value = _parts(value, item, f"{path}{name}.", inner)
        if _fits(value, item.type):
            left_out += inner
            yield name, value
        else:
            left_out.append(f"{path}{name}")


def _parts(value: Any, item: FieldInfo, path: str, left_out: list[str]) -> Any:
    """Returns an object, or those of a list, without their wrong properties; any other value as it is."""
    kind = _struct_in(item.type)
    if kind is None:
        return value
    if isinstance(value, list):
        return [dict(_fitting(part, kind, path, left_out)) if isinstance(part, dict) else part for part in value]
    return dict(_fitting(value, kind, path, left_out)) if isinstance(value, dict) else value


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError:
        return False
    return True


def _struct_in(kind: Any) -> type[Struct] | None:
    """Returns the class of objects that a property holds, also within a list or union."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind
    return next((found for part in get_args(kind) if (found := _struct_in(part))), None)
