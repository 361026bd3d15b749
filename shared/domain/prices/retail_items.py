"""Rows of the Azure Retail Prices API (2023-01-01-preview), each read by itself, so that an odd one affects no other.

Amounts are decimals from the first byte on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from msgspec import DecodeError, Meta, Raw, Struct, ValidationError
from msgspec.json import Decoder

type _Time = Annotated[datetime, Meta(tz=True)]
_MAX_AMOUNT = Decimal(1_000_000_000)


class RetailItem(
    Struct,
    frozen=True,
    rename={
        "sku_arm": "armSkuName",
        "region": "armRegionName",
        "currency": "currencyCode",
        "tier": "tierMinimumUnits",
        "hourly": "retailPrice",
        "starts": "effectiveStartDate",
        "ends": "effectiveEndDate",
        "meter_id": "meterId",
        "meter": "meterName",
        "product": "productName",
        "sku": "skuName",
        "service": "serviceName",
        "unit": "unitOfMeasure",
        "kind": "type",
        "is_primary": "isPrimaryMeterRegion",
    },
):
    """A row of the list: the price of a meter in a region from `starts` to before `ends`, None where it has no end."""

    sku_arm: str
    region: str
    currency: str
    tier: Decimal
    hourly: Decimal
    starts: _Time
    meter_id: str
    product: str
    sku: str
    service: str
    unit: str
    kind: str
    meter: str = ""
    is_primary: bool = False
    ends: _Time | None = None

    def is_of(self, vm_size: str, region: str) -> bool:
        """Returns whether the row is of a VM size in a region, both in lower case."""
        return self.sku_arm.lower() == vm_size and self.region.lower() == region


class _Page(Struct, rename={"items": "Items", "link": "NextPageLink"}):
    items: list[Raw]
    link: str | None = None


_PAGE, _ITEM = Decoder(_Page), Decoder(RetailItem)


@dataclass(frozen=True, slots=True)
class RetailPage:
    """The rows of one or several pages that can be read, how many others there are, and the link to the next page."""

    items: tuple[RetailItem, ...]
    unread: int = 0
    link: str | None = None

    def with_page(self, other: "RetailPage") -> "RetailPage":
        """Returns the rows of both, and the other's link."""
        return RetailPage((*self.items, *other.items), self.unread + other.unread, other.link)


def retail_page(body: bytes) -> RetailPage:
    """Returns a page of the list. Raises ValueError for a body that is no page."""
    page = _PAGE.decode(body)
    items = tuple(item for raw in page.items for item in _item_in(raw))
    return RetailPage(items, len(page.items) - len(items), page.link or None)


def _item_in(raw: Raw) -> Iterator[RetailItem]:
    try:
        item = _ITEM.decode(raw)
    except (DecodeError, ValidationError):
        return
    if _is_amount(item.hourly) and _is_amount(item.tier):
        yield item


def _is_amount(number: Decimal) -> bool:
    return number.is_finite() and abs(number) < _MAX_AMOUNT
