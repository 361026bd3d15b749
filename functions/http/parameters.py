"""Reads query parameters and bodies into the structs that routes declare.

An unacceptable value becomes one sentence that names the parameter and the expected value.
"""

import re
from datetime import datetime, timedelta
from functools import cache
from typing import Annotated, Any, get_args, get_origin
from urllib.parse import parse_qsl, urlsplit

import azure.functions as func
import msgspec

from functions.http.expected_values import wanted
from shared.errors import BatchscopeError

_MAX_BODY = 1024 * 1024
_WHOLE = re.compile(r"-?[0-9]+")
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
            f"The query parameter '{name}' is empty; it is {wanted(kind, name)}. Leave it out to ask for everything.",
            target=name,
        )
    lists = _lists(kind)
    given = {name: text.split(",") if name in lists else text for name, text in request.params.items()}
    try:
        query = msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _bad_value(request, kind, _place(error)) from error
    for target, sent in given.items():  # msgspec also converts `1e3` to a whole number and `2026` to a time
        value = getattr(query, fields[target])
        pairs = zip(sent, value, strict=True) if target in lists else [(sent, value)]
        if any(_is_odd(text, one) for text, one in pairs):
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
    return BadRequestError(
        f"The query parameter '{target}' can't be '{given}'; it is {wanted(kind, target)}.", target=target
    )


def _bad_field(error: msgspec.ValidationError, kind: type[Any]) -> BadRequestError:
    if unknown := re.search(r"unknown field `(\w+)`", str(error)):
        return BadRequestError(f"There is no field '{unknown[1]}' in this body.", target=unknown[1], code="InvalidBody")
    target = _place(error)
    if target == "body":
        return BadRequestError("The body should be a JSON object.", target="body", code="InvalidBody")
    return BadRequestError(
        f"The field '{target}' of the body should be {wanted(kind, target)}.", target=target, code="InvalidBody"
    )


def _place(error: msgspec.ValidationError) -> str:
    """Returns the name of the field that an error is about."""
    found = re.search(r"at `\$\.(\w+)", str(error))
    return found[1] if found else "body"
