"""Compiles filters to predicates over entities. Anything not in `filter_rows` is the documented 400.

Names of properties and operators are case-sensitive, as in OData; ids and words such as states are not.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from local.batch_emulator.core.collation import Key, fold
from local.batch_emulator.core.errors import invalid_query
from local.batch_emulator.filtering.filter_rows import Property, Rows
from local.batch_emulator.filtering.odata import (
    OPERATORS,
    STARTSWITH,
    Both,
    Comparison,
    Either,
    FilterError,
    Literal,
    Node,
    StartsWith,
    parse,
)

type Predicate = Callable[[Any], bool]
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {name: getattr(operator, name) for name in OPERATORS}


@dataclass(frozen=True, slots=True)
class Filter:
    """A compiled filter. With `since`, all matches have changed at or after it (ticks).

    No matching id comes before `lowest` or after `highest`, in the filter's comparison of ids.
    """

    matches: Predicate
    since: int | None = None
    lowest: str | None = None
    highest: str | None = None


EVERYTHING = Filter(lambda _: True)


def compile_filter(text: str | None, properties: Rows, collate: Key) -> Filter:
    """Compiles a filter; `collate` compares ids. Raises BatchError (400 InvalidQueryParameterValue)."""
    if not text:
        return EVERYTHING
    try:
        tree = parse(text)
        bounds = [_id_bound(tree, operators, collate) for operators in (("ge", "gt", "eq"), ("le", "lt", "eq"))]
        return Filter(_compile(tree, properties, collate), _since(tree), *bounds)
    except FilterError as error:
        raise invalid_query("$filter", text, str(error)) from None


def _compile(node: Node, properties: Rows, collate: Key) -> Predicate:
    match node:
        case Both():
            return _all([_compile(part, properties, collate) for part in node.parts])
        case Either():
            return _any([_compile(part, properties, collate) for part in node.parts])
        case StartsWith():
            return _startswith(node, properties)
        case Comparison():
            return _comparison(node, properties, collate)


def _all(parts: list[Predicate]) -> Predicate:
    first, *rest = parts
    return (lambda entity: first(entity) and rest[0](entity)) if len(rest) == 1 else lambda e: all(p(e) for p in parts)


def _any(parts: list[Predicate]) -> Predicate:
    return lambda entity: any(part(entity) for part in parts)


def _startswith(node: StartsWith, properties: Rows) -> Predicate:
    found, prefix = _property(node.name, properties), fold(node.prefix)
    if STARTSWITH not in found.operators:
        raise FilterError(f"{STARTSWITH} is not supported for {node.name}")
    read = attrgetter(found.attribute)
    return lambda entity: fold(read(entity)).startswith(prefix)


def _comparison(node: Comparison, properties: Rows, collate: Key) -> Predicate:
    found = _property(node.name, properties)
    if node.operator not in found.operators:
        raise FilterError(f"the operator {node.operator} is not supported for {node.name}")
    wanted_kind = "String" if found.kind == "Id" else found.kind
    if node.kind != wanted_kind:
        raise FilterError(f"{node.name} is compared with a {wanted_kind}, not with a {node.kind}")
    read, compare, literal = _reader(found), _COMPARE[node.operator], node.literal
    if found.kind == "Id" and isinstance(literal, str):
        place = collate(literal)
        return lambda entity: compare(collate(read(entity)), place)
    if found.kind == "String" and isinstance(literal, str):
        word = fold(literal)
        if found.values and word not in found.values:
            raise FilterError(f"invalid {node.name.rpartition('/')[2]}: '{literal}'")
        if not found.values:
            return lambda entity: compare(fold(read(entity)), word)
        return lambda entity: compare(read(entity), word)
    if node.operator == "ne":
        return lambda entity: bool(read(entity) != literal)
    return lambda entity: (value := read(entity)) is not None and compare(value, literal)


def _reader(found: Property) -> Callable[[Any], Any]:
    first, _, second = found.attribute.partition(".")
    if not second:
        return attrgetter(first)
    return lambda entity: getattr(getattr(entity, first), second, None)


def _property(name: str, properties: Rows) -> Property:
    found = properties.get(name)
    if found is None:
        raise FilterError(f"{name} is not a property to filter by")
    return found


def _since(node: Node) -> int | None:
    """Returns the latest lower bound of stateTransitionTime over all matches."""
    bounds = _bounds(node, "stateTransitionTime", ("ge", "gt", "eq"))
    return max((bound for bound in bounds if isinstance(bound, int)), default=None)


def _id_bound(node: Node, operators: tuple[str, ...], collate: Key) -> str | None:
    """Returns the narrowest bound of ids over all matches, from below or above by the operators."""
    names = [bound for bound in _bounds(node, "id", operators) if isinstance(bound, str)]
    narrowest = max if "ge" in operators else min
    return narrowest(names, key=collate, default=None)


def _bounds(node: Node, name: str, operators: tuple[str, ...]) -> list[Literal]:
    parts = node.parts if isinstance(node, Both) else (node,)
    return [
        part.literal
        for part in parts
        if isinstance(part, Comparison) and part.name == name and part.operator in operators
    ]
