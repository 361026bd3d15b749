"""Parses `$filter`: comparisons, startswith, contains, `and`, `or`, parentheses; nothing else.

The result is a tree. `filters` interprets its names as Batch documents them; `prices` has its own.
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
STARTSWITH, CONTAINS = "startswith", "contains"
FUNCTIONS = (STARTSWITH, CONTAINS)
_MAX_DEPTH = 50
_MAX_DIGITS = 10


class FilterError(Exception):
    """The reason why a filter is invalid."""


@dataclass(frozen=True, slots=True)
class ComparisonExpression:
    """A comparison; `kind` is that of the literal: String, DateTime (ticks), Int or Boolean."""

    name: str
    operator: str
    kind: str
    literal: Literal


@dataclass(frozen=True, slots=True)
class FunctionExpression:
    """A function of FUNCTIONS, of the property `name` and a text."""

    function: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class AndExpression:
    parts: "tuple[FilterExpression, ...]"


@dataclass(frozen=True, slots=True)
class OrExpression:
    parts: "tuple[FilterExpression, ...]"


type FilterExpression = ComparisonExpression | FunctionExpression | AndExpression | OrExpression


def parse(text: str) -> FilterExpression:
    """Parses a filter. Raises FilterError."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _scan(text)
        self._at = 0
        self._depth = 0

    def parse(self) -> FilterExpression:
        node = self._or_expression()
        if self._at < len(self._tokens):
            raise FilterError(f"'{self._tokens[self._at][1]}' is not expected there")
        return node

    def _or_expression(self) -> FilterExpression:
        parts = [self._and_expression()]
        while self._accept("word", "or"):
            parts.append(self._and_expression())
        return parts[0] if len(parts) == 1 else OrExpression(tuple(parts))

    def _and_expression(self) -> FilterExpression:
        parts = [self._comparison()]
        while self._accept("word", "and"):
            parts.append(self._comparison())
        return parts[0] if len(parts) == 1 else AndExpression(tuple(parts))

    def _comparison(self) -> FilterExpression:
        if self._accept("mark", "("):
            return self._parenthesized()
        name = self._expect("word")
        if name in FUNCTIONS and self._accept("mark", "("):
            return self._function(name)
        operator = self._expect("word")
        if operator not in OPERATORS:
            raise FilterError(f"'{operator}' is not an operator")
        return ComparisonExpression(name, operator, *self._literal())

    def _parenthesized(self) -> FilterExpression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise FilterError(f"parentheses stand more than {_MAX_DEPTH} deep")
        node = self._or_expression()
        self._expect("mark", ")")
        self._depth -= 1
        return node

    def _function(self, function: str) -> FilterExpression:
        name = self._expect("word")
        self._expect("mark", ",")
        text = self._expect("text")
        self._expect("mark", ")")
        return FunctionExpression(function, name, text)

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

    def _expect(self, kind: str, text: str | None = None) -> str:
        found, found_text = self._next()
        if found != kind or text not in (None, found_text):
            raise FilterError(f"'{found_text}' is not expected there")
        return found_text

    def _accept(self, kind: str, text: str) -> bool:
        is_accepted = self._at < len(self._tokens) and self._tokens[self._at] == (kind, text)
        self._at += is_accepted
        return is_accepted


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
