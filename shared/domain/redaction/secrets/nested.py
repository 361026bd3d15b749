"""Secrets in an object called `secrets`, `passwords` or `tokens`: each of its values, under any name.

A name in it such as `provider` or `url` leads to no secret; a plain word is none.
"""

from collections.abc import Iterator, Sequence

from shared.domain.redaction.secrets.names import names_secret_before_equals, words_of
from shared.domain.redaction.secrets.rules import Span, compiled, matches
from shared.domain.redaction.secrets.values import is_mixed, is_reference, value_at

_OBJECT = (
    r"(?<![\w.\-])(?P<name>[A-Za-z_][\w.\-]{2,99})\\*[\"']?\s*[:=]\s*(?P<body>\[?\s*\{"
    r"(?:[^{}]|\{[^{}]{0,1000}\}){1,2000}+)"
)
_MEMBER = r"(?<![\w.\-])(?P<name>[A-Za-z_][\w.\-]{0,99})\\*[\"']?\s*:\s*(?=\\*[\"'])"
_OTHER = words_of(
    "name id type provider path version uri url kind scope region user username email host server description expires"
    " created updated algorithm ref namespace endpoint vault store mount format file status environment login"
)
_VALUE = words_of("value content default defaultvalue plaintext string data")
_PLURALS = tuple(words_of("secrets passwords tokens credentials apikeys api_keys api-keys accesskeys access_keys"))
_MIN = 6


def nested(text: str, starts: Sequence[int]) -> Iterator[Span]:
    """Yields values of objects, and of lists of objects, with a name for secrets."""
    for found in matches(_OBJECT, text, starts):
        if found["name"].lower().endswith(_PLURALS) or names_secret_before_equals(found["name"]):
            yield from _members(text, *found.span("body"))


def _members(text: str, start: int, end: int) -> Iterator[Span]:
    for member in compiled(_MEMBER).finditer(text, start, end):
        name = member["name"].lower()
        value = value_at(text, member.end(), end)
        if name in _OTHER or value is None or is_reference(value[0]):
            continue
        if name in _VALUE or (is_mixed(value[0]) and len(value[0].strip("\\\"'")) >= _MIN):
            yield value.span()
