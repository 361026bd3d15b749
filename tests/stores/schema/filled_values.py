"""Values of types with all of their fields set, so that a stored one has each name."""

from typing import Any, get_args, get_origin

from msgspec import UnsetType
from msgspec.structs import fields

from shared.domain.tasks.task_details import ShownProperties


def filled(kind: Any) -> Any:
    """Returns a value of a type, with all of its fields set recursively."""
    if isinstance(kind, type) and issubclass(kind, ShownProperties):
        return kind(**{item.name: filled(item.type) for item in fields(kind)})
    if get_origin(kind) is list:
        return [filled(get_args(kind)[0])]
    if options := [part for part in get_args(kind) if part not in (type(None), UnsetType)]:
        return filled(options[0])
    return {str: "text", int: 1, bool: True, float: 0.5}[kind]
