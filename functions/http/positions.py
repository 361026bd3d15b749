"""Page positions as opaque `continuation` texts, which clients must return unchanged."""

import binascii
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

import msgspec

from functions.http.parameters import BadRequestError

_KEY = re.compile(r"[a-z0-9_\-=]+")


def continuation_of(order: str, position: tuple[bool, int | str, str]) -> str:
    """Returns the text of a position in the order that `orderby` names."""
    return urlsafe_b64encode(msgspec.json.encode((order, *position))).decode().rstrip("=")


def position_of[V: int | str](order: str, continuation: str, kind: type[V]) -> tuple[bool, V, str] | None:
    """Returns the position that a text encodes, None for an empty text; `kind` is the type of the order's values.

    Raises BadRequestError where the text isn't a position of this order.
    """
    if not continuation:
        return None
    try:
        raw = urlsafe_b64decode(continuation.encode() + b"=" * (-len(continuation) % 4))
        given, unknown, value, key = msgspec.json.decode(raw, type=tuple[str, bool, int | str, str])
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise _refusal() from error
    if given != order or not isinstance(value, kind) or not _KEY.fullmatch(key):
        raise _refusal()
    return unknown, value, key


def _refusal() -> BadRequestError:
    return BadRequestError(
        "The query parameter 'continuation' is none that this list gave for this orderby; follow nextLink as it is.",
        target="continuation",
    )
