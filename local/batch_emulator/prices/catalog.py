"""The regular rows of the price list: invented prices of some VM sizes in three regions.

Prices follow from the vCPUs of a size's name, so they are plausible beside each other and nothing more. Each size has
in each region the rows that the real list has, too: Linux and Windows, each regular, Spot and Low Priority, one for
development and testing, and reservations.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from zlib import crc32

from local.batch_emulator.core.vm_sizes import cores
from local.batch_emulator.prices.price_items import (
    DEV_TEST,
    LOW_PRIORITY,
    RESERVATION,
    SPOT,
    WINDOWS,
    PriceItem,
    RegionEntry,
)

REGIONS = (
    RegionEntry("westeurope", "EU West", Decimal("1.15")),
    RegionEntry("northeurope", "EU North", Decimal("1.07")),
    RegionEntry("eastus", "US East", Decimal(1)),
)
_WINDOWS_VCPU = Decimal("0.041")
_LOW_PRIORITY = Decimal("0.21")
_YEAR_HOURS = 8_760
_RESERVATIONS = (("1 Year", 1, Decimal("0.62")), ("3 Years", 3, Decimal("0.41")))
_SAVINGS_PLANS = (("1 Year", Decimal("0.74")), ("3 Years", Decimal("0.53")))
_LEAST_SPOT, _SPOT_RANGE = 12, 25  # percent of the regular price


@dataclass(frozen=True, slots=True)
class PricedSize:
    """A VM size by its ARM name, its series in names of products, and the USD of a vCPU for an hour."""

    name: str
    series: str
    vcpu_price: Decimal


SIZES = (
    PricedSize("Standard_D2s_v5", "Dsv5", Decimal("0.0512")),
    PricedSize("Standard_D4s_v5", "Dsv5", Decimal("0.0512")),
    PricedSize("Standard_D8s_v5", "Dsv5", Decimal("0.0512")),
    PricedSize("Standard_D16s_v5", "Dsv5", Decimal("0.0512")),
    PricedSize("Standard_D4as_v5", "Dasv5", Decimal("0.0447")),
    PricedSize("Standard_E4s_v5", "Esv5", Decimal("0.0668")),
    PricedSize("Standard_E8s_v5", "Esv5", Decimal("0.0668")),
    PricedSize("Standard_E8as_v5", "Easv5", Decimal("0.0593")),
    PricedSize("Standard_E8ads_v5", "Eadsv5", Decimal("0.0684")),
    PricedSize("Standard_NC24ads_A100_v4", "NCads A100 v4", Decimal("0.1618")),
    PricedSize("Standard_NC48ads_A100_v4", "NCads A100 v4", Decimal("0.1618")),
    PricedSize("Standard_HB120rs_v3", "HBrsv3", Decimal("0.0327")),
)


def regular_items(size: PricedSize, region: RegionEntry) -> Iterator[PriceItem]:
    """Yields the rows of a size in a region. Linux without a suffix comes first."""
    linux = size.vcpu_price * cores(size.name) * region.factor
    windows = linux + _WINDOWS_VCPU * cores(size.name)
    product, sku = f"Virtual Machines {size.series} Series", size.name.removeprefix("Standard_").replace("_", " ")
    for name, price in ((product, linux), (product + WINDOWS, windows)):
        base = PriceItem(name, sku, size.name, region, price, is_regular=True, savings=_savings(price))
        yield base
        spot = price * _spot_share(f"{region.name} {sku} {name}")
        yield PriceItem(name, sku + SPOT, size.name, region, spot, is_regular=True)
        yield PriceItem(name, sku + LOW_PRIORITY, size.name, region, price * _LOW_PRIORITY, is_regular=True)
    yield PriceItem(product + WINDOWS, sku, size.name, region, linux, DEV_TEST)
    for term, years, share in _RESERVATIONS:
        whole = (linux * _YEAR_HOURS * years * share).quantize(Decimal(1))
        yield PriceItem(product, sku, size.name, region, whole, RESERVATION, term=term)


def other_services(region: RegionEntry) -> Iterator[PriceItem]:
    """Yields what nodes need besides VMs: a public address by the hour, and a disk by the month."""
    address = Decimal("0.0046") * region.factor
    yield PriceItem("IP Addresses", "Standard", "", region, address, service="Virtual Network", family="Networking")
    disk = Decimal("10.5") * region.factor
    yield PriceItem(
        "Standard SSD Managed Disks", "E10 LRS", "", region, disk, unit="1/Month", service="Storage", family="Storage"
    )


def _savings(price: Decimal) -> tuple[tuple[str, Decimal], ...]:
    return tuple((term, price * share) for term, share in _SAVINGS_PLANS)


def _spot_share(name: str) -> Decimal:
    """Returns a share of the regular price, which differs by size, region and OS as Spot prices do."""
    return Decimal(_LEAST_SPOT + crc32(name.encode()) % _SPOT_RANGE) / 100
