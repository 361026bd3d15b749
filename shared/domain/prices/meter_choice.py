"""The choice of the one row of the retail list that a node is billed by, or the reason why there is none.

Sources of the rules: the issues flexera 1334, terrapod 932, azure-cost-calculator 531 and opencost 3531, whose tools
took rows of licences, reservations, Cloud Services and low-priority nodes for those of plain machines.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from shared.domain.prices.price_keys import MeterKey, NoPriceReason
from shared.domain.prices.retail_items import RetailItem, RetailPage

_SERVICE, _KIND, _UNIT = "Virtual Machines", "Consumption", "1 Hour"
_OTHER_PRODUCTS = ("cloud services", "cloudservices", "dedicated host")
_WINDOWS, _SPOT, _LOW_PRIORITY, _EXPIRED = " windows", " spot", " low priority", "expired"
type _Rule = Callable[[RetailItem], bool]


def chosen_item(
    rows: RetailPage, vm_size: str, region: str, meter: MeterKey, *, currency: str, now: datetime
) -> RetailItem | NoPriceReason:
    """Returns the row by which a node of a size in a region, both in lower case, is billed now.

    Rows that break a rule are dropped; of each meter the newest row counts, and of several
    meters the primary ones. Several with different prices are none.
    """
    left: Sequence[RetailItem] = rows.items
    for reason, rule in _rules(vm_size, region, meter, currency, now):
        left = [item for item in left if rule(item)]
        if not left:
            return "unreadable" if rows.unread else reason
    left = list(_newest(left))
    if len(left) > 1:
        left = [item for item in left if item.is_primary] or left
    return left[0] if len({item.hourly for item in left}) == 1 else "severalMeters"


def _rules(
    vm_size: str, region: str, meter: MeterKey, currency: str, now: datetime
) -> Iterator[tuple[NoPriceReason, _Rule]]:
    """Yields the rules in their order, each with the reason where no row keeps it."""
    yield "notListed", lambda item: item.is_of(vm_size, region)
    yield "noMeter", lambda item: _is_machine(item) and _meter_of(item) == meter
    yield "otherCurrency", lambda item: item.currency == currency
    yield "otherUnit", lambda item: item.unit == _UNIT
    yield "ended", lambda item: item.ends is None or item.ends > now
    yield "noPositivePrice", lambda item: item.hourly > 0
    yield "notBegun", lambda item: item.starts <= now


def _is_machine(item: RetailItem) -> bool:
    """Returns whether a row is the plain rate of a machine: no reservation, licence, tier, host or expired meter."""
    product = item.product.lower()
    return (
        item.service == _SERVICE
        and item.kind == _KIND
        and item.tier == 0
        and not any(other in product for other in _OTHER_PRODUCTS)
        and not any(name.lower().endswith(_EXPIRED) for name in (item.product, item.sku, item.meter))
    )


def _meter_of(item: RetailItem) -> MeterKey | None:
    """Returns the meter by a row's names, None for one of low-priority nodes, which Batch has no more."""
    names = (item.sku.lower(), item.meter.lower())
    if any(_LOW_PRIORITY in name for name in names):
        return None
    is_spot = any(name.endswith(_SPOT) for name in names)
    if not is_spot and any(_SPOT in name for name in names):
        return None
    return MeterKey(
        "windows" if item.product.lower().endswith(_WINDOWS) else "linux", "spot" if is_spot else "dedicated"
    )


def _newest(items: Iterable[RetailItem]) -> Iterator[RetailItem]:
    """Yields the rows of each meter that began last, several where they began together."""
    by_meter = dict[str, list[RetailItem]]()
    for item in items:
        by_meter.setdefault(item.meter_id, []).append(item)
    for some in by_meter.values():
        began = max(item.starts for item in some)
        yield from (item for item in some if item.starts == began)
