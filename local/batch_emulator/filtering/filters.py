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
from local.batch_emulator.filtering.filter_rows import FilterProperties, Property
from local.batch_emulator.filtering.odata import (
    OPERATORS,
    AndExpression,
    ComparisonExpression,
    FilterError,
    FilterExpression,
    FunctionExpression,
    Literal,
    OrExpression,
    parse,
)

type Predicate = Callable[[Any], bool]
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {name: getattr(operator, name) for name in OPERATORS}


@dataclass(frozen=True, slots=True)
class Filter:
    """A compiled filter. With `since`, all matches have changed at or after it (ticks).

    No matching id comes before `lowest` or after `highest`, in the filter's comparison of ids.
    """

    matches: Predicate
    since: int | None = None
    lowest: str | None = None
    highest: str | None = None


MATCH_ALL = Filter(lambda _: True)


def compile_filter(text: str | None, properties: FilterProperties, collate: Key) -> Filter:
    """Compiles a filter; `collate` compares ids. Raises BatchError (400 InvalidQueryParameterValue)."""
    if not text:
        return MATCH_ALL
    try:
        tree = parse(text)
        bounds = [_id_bound(tree, operators, collate) for operators in (("ge", "gt", "eq"), ("le", "lt", "eq"))]
        return Filter(_compile(tree, properties, collate), _since(tree), *bounds)
    except FilterError as error:
        raise invalid_query("$filter", text, str(error)) from None


def _compile(node: FilterExpression, properties: FilterProperties, collate: Key) -> Predicate:
    match node:
        case AndExpression():
            return _all([_compile(part, properties, collate) for part in node.parts])
        case OrExpression():
            return _any([_compile(part, properties, collate) for part in node.parts])
        case FunctionExpression():
            return _startswith(node, properties)
        case ComparisonExpression():
            return _comparison(node, properties, collate)


def _all(parts: list[Predicate]) -> Predicate:
    first, *rest = parts
    return (lambda entity: first(entity) and rest[0](entity)) if len(rest) == 1 else lambda e: all(p(e) for p in parts)


def _any(parts: list[Predicate]) -> Predicate:
    return lambda entity: any(part(entity) for part in parts)


def _startswith(node: FunctionExpression, properties: FilterProperties) -> Predicate:
    property_row, prefix = _property(node.name, properties), fold(node.text)
    if node.function not in property_row.operators:
        raise FilterError(f"{node.function} is not supported for {node.name}")
    read = attrgetter(property_row.attribute)
    return lambda entity: fold(read(entity)).startswith(prefix)


def _comparison(node: ComparisonExpression, properties: FilterProperties, collate: Key) -> Predicate:
    property_row = _property(node.name, properties)
    if node.operator not in property_row.operators:
        raise FilterError(f"the operator {node.operator} is not supported for {node.name}")
    literal_kind = "String" if property_row.kind == "Id" else property_row.kind
    if node.kind != literal_kind:
        raise FilterError(f"{node.name} is compared with a {literal_kind}, not with a {node.kind}")
    read, compare, literal = _reader(property_row), _OPERATORS[node.operator], node.literal
    if property_row.kind == "Id" and isinstance(literal, str):
        key = collate(literal)
        return lambda entity: compare(collate(read(entity)), key)
    if property_row.kind == "String" and isinstance(literal, str):
        word = fold(literal)
        if property_row.values and word not in property_row.values:
            raise FilterError(f"invalid {node.name.rpartition('/')[2]}: '{literal}'")
        if not property_row.values:
            return lambda entity: compare(fold(read(entity)), word)
        return lambda entity: compare(read(entity), word)
    if node.operator == "ne":
        return lambda entity: bool(read(entity) != literal)
    return lambda entity: (value := read(entity)) is not None and compare(value, literal)


def _reader(property_row: Property) -> Callable[[Any], Any]:
    first, _, second = property_row.attribute.partition(".")
    if not second:
        return attrgetter(first)
    return lambda entity: getattr(getattr(entity, first), second, None)


def _property(name: str, properties: FilterProperties) -> Property:
    property_row = properties.get(name)
    if property_row is None:
        raise FilterError(f"{name} is not a property to filter by")
    return property_row


def _since(node: FilterExpression) -> int | None:
    """Returns the latest lower bound of stateTransitionTime over all matches."""
    bounds = _bounds(node, "stateTransitionTime", ("ge", "gt", "eq"))
    return max((bound for bound in bounds if isinstance(bound, int)), default=None)


def _id_bound(node: FilterExpression, operators: tuple[str, ...], collate: Key) -> str | None:
    """Returns the narrowest bound of ids over all matches, from below or above by the operators."""
    names = [bound for bound in _bounds(node, "id", operators) if isinstance(bound, str)]
    narrowest = max if "ge" in operators else min
    return narrowest(names, key=collate, default=None)


def _bounds(node: FilterExpression, name: str, operators: tuple[str, ...]) -> list[Literal]:
    parts = node.parts if isinstance(node, AndExpression) else (node,)
    return [
        part.literal
        for part in parts
        if isinstance(part, ComparisonExpression) and part.name == name and part.operator in operators
    ]
