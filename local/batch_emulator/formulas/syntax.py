"""Autoscale formulas as trees: statements and expressions, with their positions in the text.

Source: "Create a formula to automatically scale compute nodes in a Batch pool". Operators bind as in C.
"""

import re
from dataclasses import dataclass

_MAX_STATEMENTS = 100
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<text>"[^"\n]*")
    |(?P<name>\$?[A-Za-z_]\w*)
    |(?P<mark><=|>=|==|!=|&&|\|\||[-+*/!<>?:;=(),.])""",
    re.VERBOSE | re.DOTALL,
)
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/"))


class FormulaSyntaxError(Exception):
    """A syntax error, with line and column."""


@dataclass(frozen=True, slots=True)
class ConstantExpression:
    at: int
    value: float | str


@dataclass(frozen=True, slots=True)
class NameExpression:
    at: int
    name: str


@dataclass(frozen=True, slots=True)
class UnaryExpression:
    at: int
    operator: str
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class BinaryExpression:
    at: int
    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class ConditionalExpression:
    at: int
    condition: "Expression"
    then: "Expression"
    otherwise: "Expression"


@dataclass(frozen=True, slots=True)
class CallExpression:
    at: int
    name: str
    arguments: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class MethodExpression:
    """A method call, or without `arguments` a member of a value."""

    at: int
    owner: "Expression"
    name: str
    arguments: tuple["Expression", ...] | None


type Expression = (
    ConstantExpression
    | NameExpression
    | UnaryExpression
    | BinaryExpression
    | ConditionalExpression
    | CallExpression
    | MethodExpression
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement; `target` is the assigned variable, if any."""

    at: int
    target: str | None
    value: Expression


def parse(text: str) -> tuple[Statement, ...]:
    """Parses a formula. Raises FormulaSyntaxError."""
    try:
        found = tuple(_Parser(text).statements())
    except RecursionError:
        raise FormulaSyntaxError("Line 1, Col 1: The formula is nested too deeply") from None
    if len(found) > _MAX_STATEMENTS:
        raise FormulaSyntaxError(
            f"{position_text(text, found[_MAX_STATEMENTS].at)}: More than {_MAX_STATEMENTS} statements"
        )
    if not found:
        raise FormulaSyntaxError("Line 1, Col 1: The formula is empty")
    return found


def position_text(text: str, at: int) -> str:
    """Returns an offset as the service words it."""
    return f"Line {text.count('\n', 0, at) + 1}, Col {at - text.rfind('\n', 0, at)}"


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._scan()
        self._next = 0

    def statements(self) -> list[Statement]:
        found = []
        while self._kind != "end":
            if not self._accept(";"):
                found.append(self._statement())
                if self._kind != "end":
                    self._expect(";")
        return found

    def _statement(self) -> Statement:
        at = self._at
        if self._kind == "name" and self._tokens[self._next + 1][1] == "=":
            target = self._advance()
            self._expect("=")
            return Statement(at, target, self._conditional())
        return Statement(at, None, self._conditional())

    def _conditional(self) -> Expression:
        at, condition = self._at, self._binary(0)
        if not self._accept("?"):
            return condition
        then = self._conditional()
        self._expect(":")
        return ConditionalExpression(at, condition, then, self._conditional())

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        found = self._binary(level + 1)
        while self._kind == "mark" and self._word in _LEVELS[level]:
            at, operator = self._at, self._advance()
            found = BinaryExpression(at, operator, found, self._binary(level + 1))
        return found

    def _unary(self) -> Expression:
        if self._kind == "mark" and self._word in ("-", "!"):
            return UnaryExpression(self._at, self._advance(), self._unary())
        found = self._primary()
        while self._accept("."):
            at = self._at
            name = self._expect_name()
            found = MethodExpression(at, found, name, self._arguments() if self._accept("(") else None)
        return found

    def _primary(self) -> Expression:
        at, kind = self._at, self._kind
        if kind == "number":
            return ConstantExpression(at, float(self._advance()))
        if kind == "text":
            return ConstantExpression(at, self._advance()[1:-1])
        if kind == "name":
            name = self._advance()
            return CallExpression(at, name, self._arguments()) if self._accept("(") else NameExpression(at, name)
        self._expect("(")
        inner = self._conditional()
        self._expect(")")
        return inner

    def _arguments(self) -> tuple[Expression, ...]:
        found: list[Expression] = []
        while not self._accept(")"):
            if found:
                self._expect(",")
            found.append(self._conditional())
        return tuple(found)

    @property
    def _kind(self) -> str:
        return self._tokens[self._next][0]

    @property
    def _word(self) -> str:
        return self._tokens[self._next][1]

    @property
    def _at(self) -> int:
        return self._tokens[self._next][2]

    def _advance(self) -> str:
        word = self._word
        self._next += 1
        return word

    def _accept(self, mark: str) -> bool:
        is_accepted = self._kind == "mark" and self._word == mark
        self._next += is_accepted
        return is_accepted

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            raise self._unexpected(f"'{mark}'")

    def _expect_name(self) -> str:
        if self._kind != "name":
            raise self._unexpected("a name")
        return self._advance()

    def _unexpected(self, expected: str) -> FormulaSyntaxError:
        found = "the end" if self._kind == "end" else f"'{self._word}'"
        return FormulaSyntaxError(f"{position_text(self._text, self._at)}: Expected {expected}, found {found}")

    def _scan(self) -> list[tuple[str, str, int]]:
        tokens, at = [], 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None or found.lastgroup is None:
                raise FormulaSyntaxError(f"{position_text(self._text, at)}: Unexpected '{self._text[at]}'")
            if found.lastgroup != "skip":
                tokens.append((found.lastgroup, found[0], at))
            at = found.end()
        return [*tokens, ("end", "", at)]
