"""One row of the price list: a meter's price in a region from a moment on, and its JSON.

Ids are hashes of names, in the documented lengths. Amounts are decimals until they become JSON.
"""

from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from uuid import NAMESPACE_OID, uuid5

from local.batch_emulator.core.stamps import parse_stamp, stamp
from local.batch_emulator.entities import Json

CONSUMPTION, DEV_TEST, RESERVATION = "Consumption", "DevTestConsumption", "Reservation"
SPOT, LOW_PRIORITY, WINDOWS = " Spot", " Low Priority", " Windows"
VIRTUAL_MACHINES = "Virtual Machines"
FIRST_START = parse_stamp("2025-04-01T00:00:00Z")
"""The moment from which the regular prices apply."""
CURRENCIES = {"USD": Decimal(1), "EUR": Decimal("0.91")}
"""The invented value of a US dollar in each currency."""
_CENT_PARTS = Decimal("0.000001")
_PRODUCT_ID, _SKU_ID = 9, 4


@dataclass(frozen=True, slots=True)
class RegionEntry:
    """A region; prices there are those of the catalogue times `factor`."""

    name: str
    location: str
    factor: Decimal


@dataclass(frozen=True, slots=True)
class PriceItem:
    """A row. `price` is in USD for one `unit`, but of a reservation for its whole `term`. Times are ticks.

    `savings` has hourly prices by term. Items whose names are the same share a meter, unless their `variant` differs.
    A regular item is the one that a node of its size, OS and priority is billed by.
    """

    product: str
    sku: str
    arm_sku: str
    region: RegionEntry
    price: Decimal
    kind: str = CONSUMPTION
    starts: int = FIRST_START
    ends: int | None = None
    term: str | None = None
    unit: str = "1 Hour"
    tier: int = 0
    is_primary: bool = True
    is_regular: bool = False
    savings: tuple[tuple[str, Decimal], ...] = ()
    variant: str = ""
    service: str = VIRTUAL_MACHINES
    family: str = "Compute"

    @property
    def is_windows(self) -> bool:
        return self.product.endswith(WINDOWS)

    @property
    def priority(self) -> str:
        """Returns `Regular`, `Spot` or `Low Priority`."""
        found = next((each for each in (SPOT, LOW_PRIORITY) if self.sku.endswith(each)), " Regular")
        return found.strip()

    def to_json(self, currency: str) -> Json:
        """Returns the row in a currency of CURRENCIES."""
        product_id = f"EMU{_digest(self.product, _PRODUCT_ID)}"
        amount, meter = money(self.price, currency), (self.region.name, self.product, self.sku, self.variant)
        row: Json = {
            "currencyCode": currency,
            "tierMinimumUnits": float(self.tier),
            "retailPrice": amount,
            "unitPrice": amount,
            "armRegionName": self.region.name,
            "location": self.region.location,
            "effectiveStartDate": stamp(self.starts),
            "meterId": str(uuid5(NAMESPACE_OID, "/".join(meter))),
            "meterName": self.sku,
            "productId": product_id,
            "skuId": f"{product_id}/{_digest(self.sku, _SKU_ID)}",
            "productName": self.product,
            "skuName": self.sku,
            "serviceName": self.service,
            "serviceId": f"EMU{_digest(self.service, _PRODUCT_ID)}",
            "serviceFamily": self.family,
            "unitOfMeasure": self.unit,
            "type": self.kind,
            "isPrimaryMeterRegion": self.is_primary,
            "armSkuName": self.arm_sku,
        }
        if self.ends is not None:
            row["effectiveEndDate"] = stamp(self.ends)
        if self.term:
            row["reservationTerm"] = self.term
        if self.savings:
            row["savingsPlan"] = [_savings(term, money(price, currency)) for term, price in self.savings]
        return row


def money(price: Decimal, currency: str) -> float:
    """Returns an amount of USD in a currency, as JSON has it: with six digits after the point."""
    return float((price * CURRENCIES[currency]).quantize(_CENT_PARTS))


def _savings(term: str, amount: float) -> Json:
    return {"unitPrice": amount, "retailPrice": amount, "term": term}


def _digest(name: str, length: int) -> str:
    return sha256(name.encode()).hexdigest()[:length].upper()
