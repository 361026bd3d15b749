"""Parses `$filter` as Batch documents it: comparisons, startswith, `and`, `or`, parentheses; nothing else.

The result is a tree; `filters` interprets its names.
"""

import re
from dataclasses import dataclass

from local.batch_emulator.core.stamps import parse_stamp

type Literal = int | str | bool
_TOKEN = re.compile(
    r"\s*(?:[Dd]ate[Tt]ime'(?P<time>[^']*)'|'(?P<text>(?:[^']|'')*)'|(?P<number>-?\d+)(?![\w.])"
    r"|(?P<word>[A-Za-z][\w/]*)|(?P<mark>[(),]))"
)
OPERATORS = ("eq", "ne", "ge", "gt", "le", "lt")
STARTSWITH = "startswith"
_MAX_DEPTH = 50
_MAX_DIGITS = 10


class FilterError(Exception):
    """The reason why a filter is invalid."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison; `kind` is that of the literal: String, DateTime (ticks), Int or Boolean."""

    name: str
    operator: str
    kind: str
    literal: Literal


@dataclass(frozen=True, slots=True)
class StartsWith:
    name: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Both:
    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Either:
    parts: "tuple[Node, ...]"


type Node = Comparison | StartsWith | Both | Either


def parse(text: str) -> Node:
    """Parses a filter. Raises FilterError."""
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _scan(text)
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._either()
        if self._at < len(self._tokens):
            raise FilterError(f"'{self._tokens[self._at][1]}' is not expected there")
        return node

    def _either(self) -> Node:
        parts = [self._both()]
        while self._takes("word", "or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _both(self) -> Node:
        parts = [self._one()]
        while self._takes("word", "and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _one(self) -> Node:
        if self._takes("mark", "("):
            return self._inner()
        name = self._need("word")
        if name == STARTSWITH and self._takes("mark", "("):
            return self._startswith()
        operator = self._need("word")
        if operator not in OPERATORS:
            raise FilterError(f"'{operator}' is not an operator")
        return Comparison(name, operator, *self._literal())

    def _inner(self) -> Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise FilterError(f"parentheses stand more than {_MAX_DEPTH} deep")
        node = self._either()
        self._need("mark", ")")
        self._depth -= 1
        return node

    def _startswith(self) -> Node:
        name = self._need("word")
        self._need("mark", ",")
        prefix = self._need("text")
        self._need("mark", ")")
        return StartsWith(name, prefix)

    def _literal(self) -> tuple[str, Literal]:
        kind, text = self._next()
        if kind == "time":
            try:
                return "DateTime", parse_stamp(text)
            except ValueError as error:
                raise FilterError(str(error)) from error
        if kind == "text":
            return "String", text
        if kind == "number":
            if len(text.lstrip("-0")) > _MAX_DIGITS or not -(2**31) <= int(text) < 2**31:
                raise FilterError(f"'{text}' is no 32-bit integer")
            return "Int", int(text)
        if kind == "word" and text in ("true", "false"):
            return "Boolean", text == "true"
        raise FilterError(f"'{text}' is not a value to compare with")

    def _next(self) -> tuple[str, str]:
        if self._at == len(self._tokens):
            raise FilterError("it ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _need(self, kind: str, text: str | None = None) -> str:
        found, found_text = self._next()
        if found != kind or text not in (None, found_text):
            raise FilterError(f"'{found_text}' is not expected there")
        return found_text

    def _takes(self, kind: str, text: str) -> bool:
        is_there = self._at < len(self._tokens) and self._tokens[self._at] == (kind, text)
        self._at += is_there
        return is_there


def _scan(text: str) -> list[tuple[str, str]]:
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise FilterError(f"it can't be read from position {at} on")
        token = found[found.lastgroup]
        tokens.append((found.lastgroup, token.replace("''", "'") if found.lastgroup == "text" else token))
        at = found.end()
    return tokens
