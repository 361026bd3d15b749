"""Tokens recognized by their form, in any context. The forms are data: `token_forms.json` names their sources.

Most begin with a sign, like `ghp_`. One regular expression finds all these signs in a pass, and the forms of a sign are
tried only where it begins a word.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

import msgspec

from shared.domain.redaction.secrets.rules import Span, compiled

_FORMS = Path(__file__).with_name("token_forms.json")
_MAX_BEFORE = 96  # characters that a form may have before its sign
_KEY_ID = 16  # letters after AKIA; by chance none of them may be a digit
_BOUND, _END = "A-Za-z0-9", r"(?![A-Za-z0-9])"
_CLASSES = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_BARE_KEY = (
    r"(?<!(?i:sha512).)(?<!(?i:sha-512).)(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])"  # 64 bytes in base64
)
_BARE_PAT = (
    r"(?<![A-Za-z0-9])(?=[a-z]*[2-7])[a-z2-7]{52}(?![A-Za-z0-9])"  # the form of Azure DevOps until 2024, without a sign
)
_MIN_PAT = 52


class TokenForm(msgspec.Struct, frozen=True):
    """A token's form; `before` and `after` are regular expressions for the text around its sign."""

    name: str
    source: str
    sign: str
    after: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class _Signs:
    """Signs at the beginning of tokens, signs within tokens, and the forms of each."""

    beginning: re.Pattern[str]
    within: re.Pattern[str]
    tokens: Mapping[str, Sequence[re.Pattern[str]]]


@cache
def token_forms() -> Sequence[TokenForm]:
    """Returns all forms; the file is read on first use."""
    return msgspec.convert(msgspec.json.decode(_FORMS.read_bytes())["forms"], list[TokenForm])


def tokens(text: str) -> Iterator[Span]:
    """Yields the positions of tokens."""
    signs = _signs()
    for found in signs.beginning.finditer(text):
        for form in signs.tokens[found[0]]:
            token = form.match(text, found.start())
            if token and _is_mixed(token[0][len(found[0]) :]):
                yield token.span()
    for found in signs.within.finditer(text):
        for form in signs.tokens[found[0]]:
            token = form.search(text, max(0, found.start() - _MAX_BEFORE), min(len(text), found.end() + _MAX_BEFORE))
            if token:
                yield token.span()
    if "==" in text:
        yield from (found.span() for found in compiled(_BARE_KEY).finditer(text))
    if len(text) >= _MIN_PAT:
        yield from (found.span() for found in compiled(_BARE_PAT).finditer(text))


def may_hold_token(text: str) -> bool:
    """Returns whether a text contains a token's sign."""
    signs = _signs()
    if signs.beginning.search(text) or signs.within.search(text):
        return True
    return len(text) >= _MIN_PAT and bool(compiled(_BARE_PAT).search(text))


def _is_mixed(rest: str) -> bool:
    """Returns whether the rest has characters of at least two kinds: words of letters, too, may begin like a token."""
    return sum(bool(each.search(rest)) for each in _CLASSES) > 1 or (rest.isupper() and len(rest) == _KEY_ID)


@cache
def _signs() -> _Signs:
    forms = token_forms()
    beginning = sorted({form.sign for form in forms if not form.before})
    within = sorted({form.sign for form in forms if form.before})
    found = {
        sign: [_pattern(form) for form in forms if sign.startswith(form.sign) and bool(form.before) == (sign in within)]
        for sign in (*beginning, *within)
    }
    return _Signs(
        re.compile(rf"(?<![{_BOUND}])(?:{_any_of(beginning)})"), re.compile("|".join(map(re.escape, within))), found
    )


def _pattern(form: TokenForm) -> re.Pattern[str]:
    return re.compile(rf"(?<![{_BOUND}]){form.before}{re.escape(form.sign)}{form.after}{_END}")


def _any_of(signs: Sequence[str]) -> str:
    """Returns a pattern for sorted signs, longest first, grouped by first character to try few at a position."""
    groups = []
    for first, some in groupby(signs, key=lambda sign: sign[0]):
        rest = sorted((re.escape(sign[1:]) for sign in some), key=len, reverse=True)
        groups.append(f"{re.escape(first)}(?:{'|'.join(rest)})")
    return "|".join(groups)
