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


class SyntaxProblemError(Exception):
    """A syntax error, with line and column."""


@dataclass(frozen=True, slots=True)
class Constant:
    at: int
    value: float | str


@dataclass(frozen=True, slots=True)
class Name:
    at: int
    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    at: int
    operator: str
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Binary:
    at: int
    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Choice:
    at: int
    condition: "Expression"
    then: "Expression"
    otherwise: "Expression"


@dataclass(frozen=True, slots=True)
class Call:
    at: int
    name: str
    arguments: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Method:
    """A method call, or without `arguments` a member of a value."""

    at: int
    owner: "Expression"
    name: str
    arguments: tuple["Expression", ...] | None


type Expression = Constant | Name | Unary | Binary | Choice | Call | Method


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement; `target` is the assigned variable, if any."""

    at: int
    target: str | None
    value: Expression


def parse(text: str) -> tuple[Statement, ...]:
    """Parses a formula. Raises SyntaxProblemError."""
    try:
        found = tuple(_Parser(text).statements())
    except RecursionError:
        raise SyntaxProblemError("Line 1, Col 1: The formula is nested too deeply") from None
    if len(found) > _MAX_STATEMENTS:
        raise SyntaxProblemError(f"{place(text, found[_MAX_STATEMENTS].at)}: More than {_MAX_STATEMENTS} statements")
    if not found:
        raise SyntaxProblemError("Line 1, Col 1: The formula is empty")
    return found


def place(text: str, at: int) -> str:
    """Returns an offset as the service words it."""
    return f"Line {text.count('\n', 0, at) + 1}, Col {at - text.rfind('\n', 0, at)}"


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._scanned()
        self._next = 0

    def statements(self) -> list[Statement]:
        found = []
        while self._kind != "end":
            if not self._takes(";"):
                found.append(self._statement())
                if self._kind != "end":
                    self._need(";")
        return found

    def _statement(self) -> Statement:
        at = self._at
        if self._kind == "name" and self._tokens[self._next + 1][1] == "=":
            target = self._take()
            self._need("=")
            return Statement(at, target, self._choice())
        return Statement(at, None, self._choice())

    def _choice(self) -> Expression:
        at, condition = self._at, self._binary(0)
        if not self._takes("?"):
            return condition
        then = self._choice()
        self._need(":")
        return Choice(at, condition, then, self._choice())

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        found = self._binary(level + 1)
        while self._kind == "mark" and self._word in _LEVELS[level]:
            at, operator = self._at, self._take()
            found = Binary(at, operator, found, self._binary(level + 1))
        return found

    def _unary(self) -> Expression:
        if self._kind == "mark" and self._word in ("-", "!"):
            return Unary(self._at, self._take(), self._unary())
        found = self._primary()
        while self._takes("."):
            at = self._at
            name = self._need_name()
            found = Method(at, found, name, self._arguments() if self._takes("(") else None)
        return found

    def _primary(self) -> Expression:
        at, kind = self._at, self._kind
        if kind == "number":
            return Constant(at, float(self._take()))
        if kind == "text":
            return Constant(at, self._take()[1:-1])
        if kind == "name":
            name = self._take()
            return Call(at, name, self._arguments()) if self._takes("(") else Name(at, name)
        self._need("(")
        inner = self._choice()
        self._need(")")
        return inner

    def _arguments(self) -> tuple[Expression, ...]:
        found: list[Expression] = []
        while not self._takes(")"):
            if found:
                self._need(",")
            found.append(self._choice())
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

    def _take(self) -> str:
        word = self._word
        self._next += 1
        return word

    def _takes(self, mark: str) -> bool:
        is_there = self._kind == "mark" and self._word == mark
        self._next += is_there
        return is_there

    def _need(self, mark: str) -> None:
        if not self._takes(mark):
            raise self._unexpected(f"'{mark}'")

    def _need_name(self) -> str:
        if self._kind != "name":
            raise self._unexpected("a name")
        return self._take()

    def _unexpected(self, wanted: str) -> SyntaxProblemError:
        found = "the end" if self._kind == "end" else f"'{self._word}'"
        return SyntaxProblemError(f"{place(self._text, self._at)}: Expected {wanted}, found {found}")

    def _scanned(self) -> list[tuple[str, str, int]]:
        tokens, at = [], 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None or found.lastgroup is None:
                raise SyntaxProblemError(f"{place(self._text, at)}: Unexpected '{self._text[at]}'")
            if found.lastgroup != "skip":
                tokens.append((found.lastgroup, found[0], at))
            at = found.end()
        return [*tokens, ("end", "", at)]
