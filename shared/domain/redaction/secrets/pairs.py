"""Values beside their names, as XML, JSON and YAML write environment settings."""

from bisect import bisect_left
from collections.abc import Iterator

from shared.domain.redaction.secrets.names import names_secret_before_equals
from shared.domain.redaction.secrets.rules import Span, compiled, found_at
from shared.domain.redaction.secrets.values import is_reference, value_at

_NAMES = ("env", "name", "key", "variable", "setting", "property", "header", "id", "param", "field", '"k"')
_NAME_SIGN = (
    r"(?i:(?<=-)name[ \t]+|(?:env|name|key|variable|setting|property|header|id|param(?:eter)?|field|\"k)\\*[\"']?\s*"
    r"(?:[=:]|\\?[\"']?>)\s*)\\*[\"']?"
    r"(?P<name>[\w.\-:]{1,100})"
)
_VALUE_SIGN = r"(?i:value|val|content|setting|\bv)(?:\\*[\"']?\s*(?:=|:(?!//))\s*|(?<=-[Vv]alue)\s+)"
_OTHER = r"[{}<>]|\n[ \t]*-[ \t]"  # separates one element from the next
_MAX_BESIDE = 200
_MAX_PAIRED = 4096


def paired(text: str, lowered: str) -> Iterator[Span]:
    """Yields values beside their names, in either order."""
    named = found_at(text, lowered, _NAMES, _NAME_SIGN)
    names = sorted(found.span() for found in named if names_secret_before_equals(found["name"]))
    for found in found_at(text, lowered, ("value", "val", "content", "setting", "v"), _VALUE_SIGN) if names else ():
        place = bisect_left(names, found.span())
        before, behind = names[max(0, place - 1) : place], names[place : place + 1]
        if any(_is_same_element(text, end, found.start()) for _, end in before):
            behind = []
        elif not behind or behind[0][0] > found.end() + _MAX_PAIRED:
            continue
        value = value_at(text, found.end(), found.end() + _MAX_PAIRED)
        if value is None or is_reference(value[0]):
            continue
        if all(_is_same_element(text, value.end(), start) for start, _ in behind):
            yield value.span()


def _is_same_element(text: str, start: int, end: int) -> bool:
    return 0 <= end - start <= _MAX_BESIDE and not compiled(_OTHER).search(text, start, end)
