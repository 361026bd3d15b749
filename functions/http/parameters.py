"""Reads query parameters and bodies into the structs that routes declare.

An unacceptable value becomes one sentence that names the parameter and the expected value.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import parse_qsl, urlsplit

import azure.functions as func
import msgspec
from msgspec import UNSET, Meta, UnsetType

from shared.errors import BatchscopeError

Key = Annotated[str, Meta(max_length=500)]
Ids = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=500)], ...],
    Meta(max_length=100, description="Ids with commas between them, in any case."),
]
PageSize = Annotated[int, Meta(ge=1, le=1000, description="Entries a page, 1 to 1000.")]
Format = Annotated[Literal["json", "csv"], Meta(description="csv: a table, with the next page in the header Link.")]
Time = Annotated[datetime, Meta(tz=True, extra_json_schema={"format": "date-time"})]
_MAX_BODY = 1024 * 1024
_MAX_REPEATED = 100  # characters of a wrong value
_WHOLE = re.compile(r"-?[0-9]+")
_FORMATS = {
    "date-time": "a time with its zone, like 2026-01-31T12:00:00Z",
    "duration": "a duration like PT15M",
    "decimal": "a number",
}
_SIMPLE = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text"}
_NUMBER = re.compile(r"\s*[-+]?[0-9.]+(e[-+]?[0-9]+)?\s*", re.IGNORECASE)


class BadRequestError(BatchscopeError):
    """The client's input is invalid; `target` names the parameter or field."""

    def __init__(self, message: str, *, target: str, code: str = "InvalidParameter") -> None:
        super().__init__(message)
        self.target = target
        self.code = code


class BodyTooLargeError(BadRequestError):
    """The request body exceeds the maximum size."""

    def __init__(self) -> None:
        super().__init__(f"The body has more than {_MAX_BODY} bytes.", target="body", code="BodyTooLarge")


def given[T](value: T | UnsetType) -> T | None:
    """Returns the value of a parameter, None for an omitted one."""
    return None if value is UNSET else value


def read_query[Q: msgspec.Struct](request: func.HttpRequest, kind: type[Q]) -> Q:
    """Returns the checked query parameters. Raises BadRequestError, also for unknown or empty ones."""
    fields = _fields(kind)
    empty = _empty_parameters(request)
    unknown = sorted((request.params.keys() | empty) - fields.keys())
    if unknown:
        known = f" Known are: {', '.join(sorted(fields))}." if fields else " This route takes none."
        raise BadRequestError(f"There is no query parameter '{unknown[0]}' here.{known}", target=unknown[0])
    if empty:
        name = min(empty)
        raise BadRequestError(
            f"The query parameter '{name}' is empty; it is {_wanted(kind, name)}. Leave it out to ask for everything.",
            target=name,
        )
    lists = _lists(kind)
    values = {name: text.split(",") if name in lists else text for name, text in request.params.items()}
    try:
        query = msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _bad_value(request, kind, _place(error)) from error
    for target, text in values.items():  # msgspec also converts `1e3` to a whole number and `2026` to a time
        value = getattr(query, fields[target])
        pairs = zip(text, value, strict=True) if target in lists else [(text, value)]
        if any(_is_odd(part, one) for part, one in pairs):
            raise _bad_value(request, kind, target)
    return query


def _empty_parameters(request: func.HttpRequest) -> set[str]:
    """Returns the parameters without a value, which Azure's host omits from `params`."""
    pairs = parse_qsl(urlsplit(request.url).query, keep_blank_values=True)
    return {name for name, text in pairs if not text and not request.params.get(name)}


@cache  # msgspec computes fields on each call, which takes longer than the rest of a request
def _fields(kind: type[Any]) -> dict[str, str]:
    """Returns the fields of a struct by their public names."""
    return {item.encode_name: item.name for item in msgspec.structs.fields(kind)}


@cache
def _lists(kind: type[Any]) -> frozenset[str]:
    """Returns the public names of the parameters that take several values, separated by commas."""
    types = {item.encode_name: item.type for item in msgspec.structs.fields(kind)}
    plain = {name: get_args(found)[0] if get_origin(found) is Annotated else found for name, found in types.items()}
    return frozenset(name for name, found in plain.items() if get_origin(found) is tuple)


def _is_odd(text: str, value: Any) -> bool:
    """Returns whether msgspec accepted a text that doesn't look like its type."""
    is_odd_number = type(value) is int and not _WHOLE.fullmatch(text)
    return is_odd_number or (isinstance(value, datetime | timedelta) and bool(_NUMBER.fullmatch(text)))


def read_body[B](request: func.HttpRequest, kind: type[B]) -> B:
    """Returns the checked body. Raises BadRequestError."""
    raw = request.get_body() or b""
    if len(raw) > _MAX_BODY:
        raise BodyTooLargeError
    try:
        return msgspec.json.decode(raw or b"{}", type=kind)
    except msgspec.ValidationError as error:
        raise _bad_field(error, kind) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequestError(f"The body isn't JSON: {error}.", target="body", code="InvalidBody") from error


def _bad_value(request: func.HttpRequest, kind: type[Any], target: str) -> BadRequestError:
    given = request.params.get(target, "")
    given = given if len(given) <= _MAX_REPEATED else f"{given[:_MAX_REPEATED]}…"
    return BadRequestError(
        f"The query parameter '{target}' can't be '{given}'; it is {_wanted(kind, target)}.", target=target
    )


def _bad_field(error: msgspec.ValidationError, kind: type[Any]) -> BadRequestError:
    if unknown := re.search(r"unknown field `(\w+)`", str(error)):
        return BadRequestError(f"There is no field '{unknown[1]}' in this body.", target=unknown[1], code="InvalidBody")
    if missing := re.search(r"missing required field `(\w+)`", str(error)):
        name, wanted = missing[1], _wanted(kind, missing[1])
        return BadRequestError(
            f"The field '{name}' of the body is missing; it is {wanted}.", target=name, code="InvalidBody"
        )
    target = _place(error)
    if target == "body":
        return BadRequestError("The body should be a JSON object.", target="body", code="InvalidBody")
    return BadRequestError(
        f"The field '{target}' of the body should be {_wanted(kind, target)}.", target=target, code="InvalidBody"
    )


def _place(error: msgspec.ValidationError) -> str:
    """Returns the name of the field that an error is about."""
    found = re.search(r"at `\$\.(\w+)", str(error))
    return found[1] if found else "body"


def _wanted(kind: type[Any], name: str) -> str:
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
        if "items" not in chosen:
            return "a list"
        items = {name: value for name, value in chosen["items"].items() if name not in {"minLength", "maxLength"}}
        return f"a list of {most}{_described(items)}s"
    if chosen.get("format") in _FORMATS:
        return _FORMATS[chosen["format"]]
    words = _SIMPLE.get(str(chosen.get("type")), "something else")
    if "minimum" in chosen and "maximum" in chosen:
        words += f" from {chosen['minimum']} to {chosen['maximum']}"
    if "minLength" in chosen and "maxLength" in chosen:
        words += f" of {chosen['minLength']} to {chosen['maxLength']} characters"
    return words
