"""The parts of a formula. Operators of one rank form one chain, so that long sums aren't deep trees."""

from dataclasses import dataclass

type Expression = Number | Text | Name | Unary | Chain | Choice | Call | Member | Method


@dataclass(frozen=True, slots=True)
class Number:
    at: int
    value: float


@dataclass(frozen=True, slots=True)
class Text:
    at: int
    value: str


@dataclass(frozen=True, slots=True)
class Name:
    at: int
    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    at: int
    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Operand:
    """An operator with what is to the right of it."""

    at: int
    operator: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators of one rank, which apply from left to right."""

    first: Expression
    rest: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """A condition, and what holds where it is true."""

    condition: Expression
    then: Expression


@dataclass(frozen=True, slots=True)
class Choice:
    """The first branch whose condition is true, else `otherwise`."""

    branches: tuple[Branch, ...]
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Call:
    at: int
    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Member:
    at: int
    owner: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Method:
    at: int
    owner: Expression
    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """An expression whose value a variable gets; without a `target` it only is evaluated."""

    at: int
    target: str | None
    value: Expression


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula's statements, and all names in its `text`, in the order of their first use."""

    text: str
    statements: tuple[Statement, ...]
    names: tuple[str, ...]
