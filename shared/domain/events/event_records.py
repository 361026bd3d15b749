"""Records of Batch's resource log, parsed into events without secrets.

The log's format has changed over the years and will change again. A record needs only a time and a kind, names are
case-insensitive, and unknown kinds are kept like any other. Of unknown properties only numbers and names are kept:
other values may be secrets.
"""

import re
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import msgspec

from shared.domain.events.batch_events import IDENTITY_BYTES, BatchEvent, Json, field_of, parse_stamp, text_of
from shared.domain.events.event_fields import LEFT_OUT, LET_IN
from shared.domain.events.event_sentences import KINDS
from shared.domain.redaction.redaction import MARK, is_harmless_word, redacted, redacted_begin

_BY_LOWER = {kind.lower(): kind for kind in KINDS}
_PLACE = re.compile(r"\(byte (\d+)\)")
_MAX_NAME_LENGTH = 256
_MAX_BYTES = 256 * 1024  # of a record; the service's have some hundreds
_DEEPEST = 32
_MAX_WHOLE = 1 << 63  # neither rows nor the service's 64-bit fields hold larger numbers
_MAX_WORD_LENGTH = 64
_MAX_TEXT_LENGTH = 16 * 1024  # characters of a value that are stored; formulas and their results have some thousands
_ACCOUNT = re.compile(r"/batchaccounts/([^/]+)", re.IGNORECASE)
_MAX_KNOWN_LENGTH = 1000  # characters of texts whose redaction is cached, as the service repeats itself


class RecordError(ValueError):
    """A record that can't be an event; `position` is the erroneous byte, where known."""

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position


def account_of(path: str) -> str | None:
    """Returns the account in a resource id in lower case; logs write it in upper case."""
    found = _ACCOUNT.search(path)
    return found[1].lower() if found else None


def parse_event(record: bytes, account: str | None = None) -> BatchEvent:
    """Returns a line of the log as an event without secrets. Raises RecordError with reason and position.

    In the log of an `account` (in lower case), a record that names another account is invalid.
    """
    if len(record) > _MAX_BYTES:
        raise RecordError(f"It has {len(record)} bytes, more than {_MAX_BYTES}.", _MAX_BYTES)
    found = _decoded(record)
    name = text_of(found, "operationName")
    if not name:
        raise RecordError("It has no operationName.")
    if len(name) > _MAX_NAME_LENGTH:
        raise RecordError(f"Its operationName has {len(name)} characters, more than {_MAX_NAME_LENGTH}.")
    resource = text_of(found, "resourceId") or ""
    if account and account_of(resource) not in (None, account):
        raise RecordError("Its resourceId names another account than the log that it stands in.")
    kind = _BY_LOWER.get(name.lower(), name)
    properties = field_of(found, "properties")
    if properties is not None and not isinstance(properties, dict):
        raise RecordError("Its properties are not an object.")
    cleaned = _clean(properties or {}, 0)
    at, identity = _logged_at(found), _identity(kind, resource, properties or {})
    return BatchEvent(at, _shown(kind), *_places(kind, cleaned), properties=cleaned, identity=identity)


def is_whole_record(text: bytes) -> bool:
    """Returns whether a line without its end is a complete record: after an object only the line end can follow."""
    if len(text) > _MAX_BYTES or not text.rstrip().endswith(b"}"):
        return False
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _decoded(record: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        place = _PLACE.search(str(error))
        raise RecordError("It isn't JSON.", int(place[1]) if place else getattr(error, "start", 0)) from None
    if not isinstance(found, dict):
        raise RecordError("It isn't a JSON object.")
    return found


def _logged_at(found: dict[str, Any]) -> datetime:
    given = field_of(found, "time")
    if given is None:
        raise RecordError("It has no time.")
    moment = parse_stamp(given)
    if moment is None:
        raise RecordError("Its time can't be read.")
    return moment


def _places(kind: str, properties: Json) -> tuple[str | None, str | None, str | None, str | None]:
    """Returns job, task, pool and node; the kind determines to which of them `id` refers."""
    own, node = _id(properties, "id"), field_of(properties, "nodeInfo")
    return (
        _id(properties, "jobId") or (own if kind.startswith("Job") else None),
        _id(properties, "taskName") or _id(properties, "taskId") or (own if kind.startswith("Task") else None),
        _id(node, "poolId") or _id(properties, "poolId") or (own if kind.startswith("Pool") else None),
        _id(node, "nodeId") or _id(properties, "nodeId"),
    )


def _identity(kind: str, resource: str, properties: Json) -> bytes:
    parts = [kind.lower(), resource.strip("/").lower(), properties]
    return blake2b(msgspec.json.encode(parts, order="deterministic"), digest_size=IDENTITY_BYTES).digest()


def _id(found: object, name: str) -> str | None:
    """Returns an id; a text too long for one is None."""
    text = text_of(found, name)
    return text if text and len(text) <= _MAX_NAME_LENGTH else None


def _names_secret(key: str) -> bool:
    """Returns whether a name is typical of a secret, so that its value may look like any word."""
    return len(key) <= _MAX_NAME_LENGTH and _says_secret(key)


@lru_cache(maxsize=2048)
def _says_secret(name: str) -> bool:
    return MARK in redacted(f"{name}=word")


def _is_named_secret(found: dict[str, Any]) -> bool:
    """Returns whether a name beside a value marks it as a secret, as in environment settings."""
    name = field_of(found, "name")
    return isinstance(name, str) and _names_secret(name)


def _shown(text: str) -> str:
    """Returns a text without secrets; nearly all are single words, such as ids and times."""
    if len(text) <= _MAX_WORD_LENGTH and is_harmless_word(text):
        return text
    return _known(text)


def _known(text: str) -> str:
    """Returns a redacted text, cached if short; of a very long one the beginning and a note of the cut."""
    if len(text) <= _MAX_KNOWN_LENGTH:
        return _redacted(text)
    begin = redacted_begin(text, _MAX_TEXT_LENGTH)
    return begin if len(text) <= _MAX_TEXT_LENGTH else f"{begin}… (cut: it had {len(text):,} characters)"


_redacted = lru_cache(maxsize=2048)(redacted)


def _clean(value: Any, depth: int) -> Any:
    """Returns a value without secrets. Raises RecordError."""
    if depth > _DEEPEST:
        raise RecordError(f"Its properties are nested more than {_DEEPEST} deep.")
    if isinstance(value, str):
        return _shown(value)
    if isinstance(value, dict):
        is_named = _is_named_secret(value)
        return {_known(key): MARK if (is_named and key.lower() == "value") or _names_secret(key)
                else _let_in(key, each, depth) for key, each in value.items()}  # fmt: skip
    if isinstance(value, list):
        return [_clean(each, depth + 1) for each in value]
    if isinstance(value, int) and not -_MAX_WHOLE <= value < _MAX_WHOLE:
        raise RecordError("It has a whole number of more than 64 bits.")
    return value


def _let_in(key: str, value: Any, depth: int) -> Any:
    """Returns a property without secrets, or a placeholder for text in an undocumented property."""
    cleaned = _clean(value, depth + 1)
    holds_text = isinstance(value, (dict, list)) or (isinstance(value, str) and value.strip())
    return LEFT_OUT if holds_text and key.lower() not in LET_IN else cleaned
