"""`$filter` of prices: `eq` and `contains` of texts, `and`, `or`, parentheses; anything else is refused.

Names of properties are case-sensitive. Values are, too, from api-version 2023-01-01-preview on (documented).
"""

from collections.abc import Callable, Mapping
from typing import Any

from local.batch_emulator.filtering.odata import (
    CONTAINS,
    AndExpression,
    ComparisonExpression,
    FilterError,
    FilterExpression,
    FunctionExpression,
    OrExpression,
    parse,
)

type RowPredicate = Callable[[Mapping[str, Any]], bool]
type Fold = Callable[[str], str]
_SAME_NAMES = (
    "armRegionName armSkuName currencyCode location meterId meterName productId productName serviceFamily serviceId "
    "serviceName skuId skuName type"
)
_PROPERTIES: Mapping[str, str] = {name: name for name in _SAME_NAMES.split()} | {"priceType": "type"}


def compile_price_filter(text: str, *, ignores_case: bool) -> RowPredicate:
    """Returns a predicate over rows, true for all without a text. Raises FilterError."""
    if not text:
        return lambda _: True
    return _compile(parse(text), str.casefold if ignores_case else str)


def _compile(node: FilterExpression, fold: Fold) -> RowPredicate:
    match node:
        case AndExpression():
            parts = [_compile(part, fold) for part in node.parts]
            return lambda row: all(part(row) for part in parts)
        case OrExpression():
            parts = [_compile(part, fold) for part in node.parts]
            return lambda row: any(part(row) for part in parts)
        case FunctionExpression():
            return _contains(node, fold)
        case ComparisonExpression():
            return _equals(node, fold)


def _contains(node: FunctionExpression, fold: Fold) -> RowPredicate:
    if node.function != CONTAINS:
        raise FilterError(f"{node.function} is not supported")
    name, part = _property(node.name), fold(node.text)
    return lambda row: part in fold(row[name])


def _equals(node: ComparisonExpression, fold: Fold) -> RowPredicate:
    if node.operator != "eq" or not isinstance(node.literal, str):
        raise FilterError(f"{node.name} is compared by eq with a text")
    name, text = _property(node.name), fold(node.literal)
    return lambda row: bool(fold(row[name]) == text)


def _property(name: str) -> str:
    if name not in _PROPERTIES:
        raise FilterError(f"{name} is not a property to filter by")
    return _PROPERTIES[name]
