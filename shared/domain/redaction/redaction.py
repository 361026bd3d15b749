"""Removal of secrets from external text before it is stored, shown or logged.

It recognizes forms of tokens, common names of secrets, and options of well-known programs; the modules in `secrets`
define them. A secret without any such sign can't be distinguished from other text.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from shared.domain.redaction.secrets import assignments
from shared.domain.redaction.secrets.commands import COMMANDS
from shared.domain.redaction.secrets.contexts import CONTEXTS
from shared.domain.redaction.secrets.escapes import SIGNS, unescaped
from shared.domain.redaction.secrets.lines import filed, lined, said, secured
from shared.domain.redaction.secrets.names import name_starts
from shared.domain.redaction.secrets.nested import nested
from shared.domain.redaction.secrets.pairs import paired
from shared.domain.redaction.secrets.rules import RuleIndex, Span, lower
from shared.domain.redaction.secrets.shells import handed, here_documents, referenced, signed_in, written
from shared.domain.redaction.secrets.tokens import may_hold_token, tokens
from shared.domain.redaction.secrets.values import MARK

__all__ = ["MARK", "is_harmless_word", "redacted", "redacted_begin", "secret_spans"]
_BEFORE_CUT = re.compile(r"[\s\S]*[\s\"']")
_WORD = re.compile(r"[\w.\-:+]*")
_SHORTEST_TOKEN = 20
_NAMED = re.compile(r"[^\W\d_]:")
type _Ways[T] = tuple[tuple[Callable[[str, T], Iterator[Span]], tuple[str, ...]], ...]
# Finders of secrets by name, with signs without which each finds none: from the start of such names, ...
_FROM_NAMES: _Ways[list[int]] = (
    (assignments.assigned, ("=", ":", "->", "<-", "{", "];", "\uff1a")),
    (assignments.optional, ("-", "/")),
    (assignments.wrapped, ("{", ":\n", ":\r")),
    (nested, ("{",)),
    (here_documents, ("<<",)),
)
# ... and from words around them.
_BY_NAME: _Ways[str] = (
    (assignments.called, ("(", ", ", ",'", ',"')),
    (assignments.declared, ("variable",)),
    (assignments.set_by_command, ("set", "export", "env", "configure", "define")),
    (assignments.blocks, (": |", ": >", ":|", ":>", "!vault |", "!!str |", "!!binary |")),
    (assignments.elements, ("<",)),
    (paired, ("val", "content", "setting", '"v')),
    (lined, (" ", "\t", "=")),
    (said, ("pass", "pwd", "secret", "token", "key", "code")),
)
# Finders that need no name.
_BY_PLACE: _Ways[str] = (
    (filed, (":",)),
    (secured, ("convertto-securestring",)),
    (handed, ("<<<", "<(")),
    (written, ("echo ", "printf ", "print ")),
    (signed_in, ("@",)),
    (referenced, ("$",)),
)
_LISTED = re.compile(r"\[[ \t]*[\"'](?=-)|[\"'],?[ \t]*[\"']")  # between the arguments of a list: `["mysql", "-pabc"]`
_OPTION_LISTED = re.compile(r"[\"'],?[ \t]*[\"']-")
_RULES = RuleIndex((*CONTEXTS, *COMMANDS))


def is_harmless_word(text: str) -> bool:
    """Returns whether a text is one word, such as an id or a time, that `redacted` wouldn't change; a fast check."""
    if not _WORD.fullmatch(text) or (":" in text and _NAMED.search(text)):
        return False
    return len(text) < _SHORTEST_TOKEN or not may_hold_token(text)


def redacted(text: str) -> str:
    """Returns the text without apparent secrets; the names that led to them stay."""
    return _without(text, secret_spans(text))


def secret_spans(text: str) -> list[Span]:
    """Returns where apparent secrets are, as start and end, in order and without overlaps."""
    found = list[Span]()
    for start, end in sorted([*_secrets(text), *_escaped_secrets(text)]):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        elif start < end:
            found.append((start, end))
    return found


def redacted_begin(text: str, most: int) -> str:
    """Returns the text, cut to at most `most` characters and then redacted, as the search in all of it takes long.

    A part of a secret can't be recognized. So everything after the last space or quote before the cut is dropped, too:
    no secret recognized by its form contains these. A secret recognized by its context, such as a quoted value, is
    found wherever it ends.
    """
    if len(text) <= most:
        return redacted(text)
    whole = _BEFORE_CUT.match(text, 0, most)
    return redacted(whole[0]) if whole else ""


def _escaped_secrets(text: str) -> Iterator[Span]:
    """Yields secrets found after unescaping; none spans several lines."""
    if not any(sign in text for sign in SIGNS):
        return
    start = 0
    for line in text.splitlines(keepends=True):
        if plain := unescaped(line):
            for first, last in _secrets(plain.text):
                yield start + plain.original(first), start + plain.original(last)
        start += len(line)


def _secrets(text: str) -> Iterator[Span]:
    lowered = lower(text)
    yield from tokens(text)
    if starts := name_starts(text, lowered):
        yield from _found(text, lowered, _FROM_NAMES, starts)
        yield from _found(text, lowered, _BY_NAME, lowered)
    yield from _found(text, lowered, _BY_PLACE, lowered)
    yield from _RULES.spans(text, lowered)
    if "'-" in text or '"-' in text:
        yield from _listed(text)


def _found[T](text: str, lowered: str, ways: _Ways[T], known: T) -> Iterator[Span]:
    for find, signs in ways:
        for sign in signs:  # takes half the time of a function or a generator
            if sign in lowered:
                yield from find(text, known)
                break


def _listed(text: str) -> Iterator[Span]:
    """Yields secrets of a command written as a list of arguments; every character keeps its position."""
    if _OPTION_LISTED.search(text):
        plain = _LISTED.sub(lambda found: " " * len(found[0]), text)
        yield from _RULES.spans(plain, lower(plain))


def _without(text: str, spans: Iterable[Span]) -> str:
    """Returns the text with one mark for each of its spans, which are in order and don't overlap."""
    parts, last = list[str](), 0
    for start, end in spans:
        parts += (text[last:start], MARK)
        last = end
    return "".join((*parts, text[last:]))
