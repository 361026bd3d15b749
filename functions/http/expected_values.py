"""Describes the expected value of a parameter or field, from the JSON schema of its struct."""

from collections.abc import Mapping
from typing import Any

import msgspec

_FORMATS = {"date-time": "a time with its zone, like 2026-01-31T12:00:00Z", "duration": "a duration like PT15M"}
_SIMPLE = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text"}


def wanted(kind: type[Any], name: str) -> str:
    """Returns a text like `one of active, completed` or `a whole number from 1 to 1000`; empty for an unknown field."""
    schema = msgspec.json.schema(kind, ref_template="{name}")
    properties = schema["$defs"][kind.__name__]["properties"]
    return _described(properties[name]) if name in properties else ""


def _described(schema: Mapping[str, Any]) -> str:
    """Describes a schema; for an optional field, its first type other than null."""
    options = [option for option in schema.get("anyOf", [schema]) if option.get("type") != "null"]
    chosen = options[0] if options else schema
    if "enum" in chosen:
        return f"one of {', '.join(str(value) for value in chosen['enum'] if value is not None)}"
    if chosen.get("type") == "array":
        if chosen.get("items", {}).get("type") != "string" or "enum" in chosen["items"]:
            return f"{_described(chosen['items'])}, or several with commas between them"
        most = f"at most {chosen['maxItems']} " if "maxItems" in chosen else ""
        return f"a list of {most}{_described(chosen['items'])}s" if "items" in chosen else "a list"
    if chosen.get("format") in _FORMATS:
        return _FORMATS[chosen["format"]]
    words = _SIMPLE.get(str(chosen.get("type")), "something else")
    if "minimum" in chosen and "maximum" in chosen:
        words += f" from {chosen['minimum']} to {chosen['maximum']}"
    return words
