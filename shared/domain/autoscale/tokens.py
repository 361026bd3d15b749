"""Cuts a formula into tokens, without its comments."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from shared.domain.autoscale.formula_errors import FormulaSyntaxError

type TokenKind = Literal["number", "name", "text", "mark", "end"]

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<name>\$?[A-Za-z_]\w*)
    |"(?P<text>[^"\n]*)"
    |(?P<mark>&&|\|\||[=!<>]=|[-+*/!<>=?:;,.()])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_KINDS: tuple[TokenKind, ...] = ("number", "name", "text", "mark")


class Token(NamedTuple):
    """A piece of a formula; `at` is its offset."""

    kind: TokenKind
    text: str
    at: int

    @property
    def shown(self) -> str:
        """The token in a message."""
        return "the end" if self.kind == "end" else f"'{self.text}'"

    def is_mark(self, *marks: str) -> bool:
        return self.kind == "mark" and self.text in marks


def tokens_of(formula: str) -> Iterator[Token]:
    """Yields the tokens of a formula, and one for its end. Raises FormulaSyntaxError."""
    at = 0
    while at < len(formula):
        found = _TOKEN.match(formula, at)
        if found is None:
            raise FormulaSyntaxError(f"'{formula[at]}' isn't expected here", at)
        kind = next((kind for kind in _KINDS if found[kind] is not None), None)
        if kind:
            yield Token(kind, found[kind], at)
        at = found.end()
    yield Token("end", "", len(formula))
