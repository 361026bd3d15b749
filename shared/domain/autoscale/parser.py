"""Parses formulas, within Batch's limits: 8 KB, and 100 statements."""

from shared.domain.autoscale.formula_errors import FormulaSyntaxError
from shared.domain.autoscale.syntax import (
    Branch,
    Call,
    Chain,
    Choice,
    Expression,
    Formula,
    Member,
    Method,
    Name,
    Number,
    Operand,
    Statement,
    Text,
    Unary,
)
from shared.domain.autoscale.tokens import Token, tokens_of

MAX_FORMULA = 8192
"""The most bytes of a formula (documented)."""
MAX_STATEMENTS = 100
"""The most statements of a formula (documented)."""
_MAX_DEPTH = 32
_RANKS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/"))
"""Operators, those that bind the least first."""


def parsed(text: str) -> Formula:
    """Returns a formula's statements. Raises FormulaSyntaxError."""
    if len(text.encode()) > MAX_FORMULA:
        raise FormulaSyntaxError(f"a formula has at most {MAX_FORMULA:,} bytes", MAX_FORMULA)
    tokens = tuple(tokens_of(text))
    names = tuple(dict.fromkeys(token.text for token in tokens if token.kind == "name"))
    return Formula(text, _Parser(tokens).statements(), names)


class _Parser:
    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def statements(self) -> tuple[Statement, ...]:
        found = list[Statement]()
        while not self._is_over:
            if self._taken(";"):
                continue
            if len(found) == MAX_STATEMENTS:
                raise FormulaSyntaxError(f"a formula has at most {MAX_STATEMENTS} statements", self._next.at)
            found.append(self._statement())
            if not self._is_over:
                self._expect(";")
        if not found:
            raise FormulaSyntaxError("the formula is empty")
        return tuple(found)

    @property
    def _is_over(self) -> bool:
        return self._next.kind == "end"

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _taken(self, *marks: str) -> Token | None:
        return self._take() if self._next.is_mark(*marks) else None

    def _expect(self, mark: str) -> Token:
        token = self._taken(mark)
        if token is None:
            raise FormulaSyntaxError(f"'{mark}' is expected instead of {self._next.shown}", self._next.at)
        return token

    def _statement(self) -> Statement:
        first = self._next
        if first.kind == "name" and self._tokens[self._at + 1].is_mark("="):
            self._at += 2
            return Statement(first.at, first.text, self._expression())
        return Statement(first.at, None, self._expression())

    def _expression(self) -> Expression:
        self._deeper()
        condition, branches = self._chain(0), list[Branch]()
        while self._taken("?"):
            then = self._expression()
            self._expect(":")
            branches.append(Branch(condition, then))
            condition = self._chain(0)
        self._depth -= 1
        return Choice(tuple(branches), condition) if branches else condition

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise FormulaSyntaxError(f"expressions are nested more than {_MAX_DEPTH} deep", self._next.at)

    def _chain(self, rank: int) -> Expression:
        if rank == len(_RANKS):
            return self._unary()
        first, rest = self._chain(rank + 1), list[Operand]()
        while sign := self._taken(*_RANKS[rank]):
            rest.append(Operand(sign.at, sign.text, self._chain(rank + 1)))
        return Chain(first, tuple(rest)) if rest else first

    def _unary(self) -> Expression:
        signs = list[Token]()
        while sign := self._taken("-", "!"):
            signs.append(sign)
            self._deeper()
        found = self._postfix()
        for sign in reversed(signs):
            found = Unary(sign.at, sign.text, found)
            self._depth -= 1
        return found

    def _postfix(self) -> Expression:
        found, links = self._primary(), 0
        while self._taken("."):
            self._deeper()
            links += 1
            name = self._take()
            if name.kind != "name":
                raise FormulaSyntaxError(f"a name is expected instead of {name.shown}", name.at)
            is_method = self._next.is_mark("(")
            found = Method(name.at, found, name.text, self._arguments()) if is_method else self._member(found, name)
        self._depth -= links
        return found

    def _member(self, owner: Expression, name: Token) -> Member:
        return Member(name.at, owner, name.text)

    def _primary(self) -> Expression:
        token = self._take()
        if token.kind == "number":
            return Number(token.at, float(token.text))
        if token.kind == "text":
            return Text(token.at, token.text)
        if token.kind == "name":
            is_call = self._next.is_mark("(")
            return Call(token.at, token.text, self._arguments()) if is_call else Name(token.at, token.text)
        if not token.is_mark("("):
            raise FormulaSyntaxError(f"a value is expected instead of {token.shown}", token.at)
        found = self._expression()
        self._expect(")")
        return found

    def _arguments(self) -> tuple[Expression, ...]:
        self._expect("(")
        found = list[Expression]()
        if self._taken(")"):
            return ()
        found.append(self._expression())
        while self._taken(","):
            found.append(self._expression())
        self._expect(")")
        return tuple(found)
