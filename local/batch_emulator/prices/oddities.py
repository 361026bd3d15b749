"""Rows that a reader of prices must not choose, or must not guess from.

Each oddity concerns the regular Linux price of one size in one region: `ODDITIES` names the rows that stand in its
place. Sizes without an entry have no oddity, and westeurope has none at all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from local.batch_emulator.core.stamps import parse_stamp
from local.batch_emulator.prices.price_items import PriceItem

type Rows = tuple[PriceItem, ...]
_LATER = parse_stamp("2025-07-01T00:00:00Z")
_ENDED = parse_stamp("2025-06-01T00:00:00Z")
_BETWEEN = parse_stamp("2025-05-01T00:00:00Z")
_EARLIER = parse_stamp("2024-02-01T00:00:00Z")
_FUTURE = parse_stamp("2090-01-01T00:00:00Z")
_TIER_HOURS = 730


@dataclass(frozen=True, slots=True)
class OddPriceEntry:
    """A named oddity: the rows that stand in place of the regular Linux row of a size in a region."""

    name: str
    arm_sku: str
    region: str
    rows: Callable[[PriceItem], Rows]

    @property
    def place(self) -> tuple[str, str]:
        return self.arm_sku, self.region


def _cloud_services(row: PriceItem) -> Rows:
    """Meters of the classic Cloud Services share the service's name, in two spellings."""
    names = (f"{row.product} Cloud Services", f"{row.product} CloudServices")
    return (row, *(_beside(row, "0.9", product=name) for name in names))


def _dedicated_host(row: PriceItem) -> Rows:
    product = row.product.removeprefix("Virtual Machines ")
    return row, _beside(row, "12", product=f"{product} Dedicated Host")


def _expired(row: PriceItem) -> Rows:
    return row, _beside(row, "0.8", sku=f"{row.sku} Expired", starts=_LATER)


def _ended(row: PriceItem) -> Rows:
    return row, _beside(row, "0.7", starts=_BETWEEN, ends=_ENDED)


def _earlier(row: PriceItem) -> Rows:
    return row, _beside(row, "1.1", starts=_EARLIER)


def _future(row: PriceItem) -> Rows:
    return row, _beside(row, "1.2", starts=_FUTURE)


def _zero(row: PriceItem) -> Rows:
    return row, _beside(row, "0", starts=_LATER)


def _only_zero(row: PriceItem) -> Rows:
    return (_beside(row, "0"),)


def _tier(row: PriceItem) -> Rows:
    return row, _beside(row, "0.85", tier=_TIER_HOURS)


def _two_meters(row: PriceItem) -> Rows:
    return _beside(row, "1"), _beside(row, "1.3", variant="second")


def _secondary_meter(row: PriceItem) -> Rows:
    return row, _beside(row, "0.95", variant="secondary", is_primary=False)


def _only_secondary(row: PriceItem) -> Rows:
    return (replace(row, is_primary=False),)


def _negative(row: PriceItem) -> Rows:
    return (_beside(row, "-0.1"),)


def _absent(_: PriceItem) -> Rows:
    return ()


ODDITIES = (
    OddPriceEntry("cloudServices", "Standard_D2s_v5", "eastus", _cloud_services),
    OddPriceEntry("dedicatedHost", "Standard_D4s_v5", "eastus", _dedicated_host),
    OddPriceEntry("expired", "Standard_D8s_v5", "eastus", _expired),
    OddPriceEntry("ended", "Standard_D16s_v5", "eastus", _ended),
    OddPriceEntry("earlier", "Standard_D4as_v5", "eastus", _earlier),
    OddPriceEntry("future", "Standard_E4s_v5", "eastus", _future),
    OddPriceEntry("zero", "Standard_E8s_v5", "eastus", _zero),
    OddPriceEntry("onlyZero", "Standard_E8s_v5", "northeurope", _only_zero),
    OddPriceEntry("tier", "Standard_E8as_v5", "eastus", _tier),
    OddPriceEntry("twoMeters", "Standard_E8ads_v5", "eastus", _two_meters),
    OddPriceEntry("secondaryMeter", "Standard_NC24ads_A100_v4", "eastus", _secondary_meter),
    OddPriceEntry("onlySecondary", "Standard_NC48ads_A100_v4", "eastus", _only_secondary),
    OddPriceEntry("negative", "Standard_HB120rs_v3", "eastus", _negative),
    OddPriceEntry("absent", "Standard_NC48ads_A100_v4", "northeurope", _absent),
)
ODDITIES_BY_PLACE: Mapping[tuple[str, str], OddPriceEntry] = {each.place: each for each in ODDITIES}
"""The oddities by ARM name of the size and region, at most one each."""


def _beside(row: PriceItem, share: str, **changes: Any) -> PriceItem:
    """Returns a row like another, but for a share of its price, not a regular one, and without savings plans."""
    return replace(row, price=row.price * Decimal(share), is_regular=False, savings=(), **changes)
