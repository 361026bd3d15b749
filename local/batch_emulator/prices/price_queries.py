"""Queries of the price list, and its pages with their next links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from local.batch_emulator.entities import Json
from local.batch_emulator.filtering.odata import FilterError
from local.batch_emulator.prices.price_filters import RowPredicate, compile_price_filter
from local.batch_emulator.prices.price_items import CURRENCIES
from local.batch_emulator.prices.price_list import PriceList

VERSION = "2023-01-01-preview"
_PARAMETERS = ("api-version", "currencyCode", "$filter", "meterRegion", "$skip")
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class PriceQuery:
    """A query. Without a version, values of filters ignore case, and rows have no savings plans (documented)."""

    parameters: Mapping[str, str]
    currency: str
    has_version: bool
    matches: RowPredicate
    primary_only: bool
    skip: int

    def selects(self, row: Json) -> bool:
        return (bool(row["isPrimaryMeterRegion"]) or not self.primary_only) and self.matches(row)


def read_price_query(pairs: Sequence[tuple[str, str]]) -> PriceQuery:
    """Returns the query of an address. Raises ValueError with the reason why it is refused."""
    parameters = dict(pairs)
    if unknown := sorted(parameters.keys() - set(_PARAMETERS)):
        raise ValueError(f"There is no parameter '{unknown[0]}'; known are {', '.join(_PARAMETERS)}.")
    if len(parameters) < len(pairs):
        raise ValueError("A parameter was sent twice.")
    has_version = "api-version" in parameters
    if has_version and parameters["api-version"] != VERSION:
        raise ValueError(f"The only api-version is {VERSION}.")
    try:
        matches = compile_price_filter(parameters.get("$filter", ""), ignores_case=not has_version)
    except FilterError as error:
        raise ValueError(f"Invalid $filter: {error}.") from None
    currency, meters = _text(parameters, "currencyCode", "USD"), _text(parameters, "meterRegion", "")
    if currency not in CURRENCIES:
        raise ValueError(f"currencyCode is one of {', '.join(CURRENCIES)}.")
    if meters not in ("", "primary"):
        raise ValueError("meterRegion is 'primary'.")
    return PriceQuery(parameters, currency, has_version, matches, meters == "primary", _skip(parameters))


def price_page(prices: PriceList, query: PriceQuery, size: int, address: str) -> Json:
    """Returns a page of at most `size` rows. `address` is that of the list, for the next link."""
    rows = [row for row in prices.rows(query.currency) if query.selects(row)]
    end = query.skip + size
    items = rows[query.skip : end]
    if not query.has_version:
        items = [{name: value for name, value in row.items() if name != "savingsPlan"} for row in items]
    return {
        "BillingCurrency": query.currency,
        "CustomerEntityId": "Default",
        "CustomerEntityType": "Retail",
        "Items": items,
        "NextPageLink": _next_link(query, end, address) if end < len(rows) else None,
        "Count": len(items),
    }


def _next_link(query: PriceQuery, skip: int, address: str) -> str:
    parameters = {name: value for name, value in query.parameters.items() if name != "$skip"}
    return f"{address}?{urlencode({**parameters, '$skip': skip}, quote_via=quote, safe='$')}"


def _text(parameters: Mapping[str, str], name: str, default: str) -> str:
    """Returns a parameter without the quotes of a literal, which the service documents; it takes bare values, too."""
    text = parameters.get(name, default)
    return text[1:-1] if text[:1] == text[-1:] == "'" and len(text) > 1 else text


def _skip(parameters: Mapping[str, str]) -> int:
    text = parameters.get("$skip", "0")
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
        raise ValueError("$skip is a number of rows.")
    return int(text)
