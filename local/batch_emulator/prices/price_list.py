"""The price list: the catalogue with its oddities, changes that tests ask for, and the right price of each node."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache

from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Json
from local.batch_emulator.prices.catalog import REGIONS, SIZES, other_services, regular_items
from local.batch_emulator.prices.oddities import ODDITIES_BY_PLACE
from local.batch_emulator.prices.price_items import FIRST_START, PriceItem, money


@dataclass(frozen=True, slots=True)
class PriceChange:
    """Regular prices of a size in a region, times `factor`, from `starts` (ticks) on."""

    arm_sku: str
    region: str
    factor: Decimal
    starts: int


@dataclass(slots=True)
class PriceList:
    """The list; a change leaves the earlier rows in it."""

    _changes: dict[tuple[str, str, int], PriceChange] = field(default_factory=dict)
    _rows: dict[str, list[Json]] = field(default_factory=dict)

    def change(self, change: PriceChange) -> int:
        """Adds rows with other prices, in place of those of an earlier change of the same moment.

        Returns their number. Raises ValueError for a moment that isn't after the regular prices' own, and where there
        are no regular prices.
        """
        if change.starts <= FIRST_START:
            raise ValueError(f"effectiveStartDate is a time after {stamp(FIRST_START)}.")
        concerned = [item for item in _items() if item.is_regular and _is_concerned(item, change)]
        if not concerned:
            raise ValueError(f"There are no regular prices of '{change.arm_sku}' in '{change.region}'.")
        self._changes[change.arm_sku, change.region, change.starts] = change
        self._rows.clear()
        return len(concerned)

    def rows(self, currency: str) -> Sequence[Json]:
        """Returns all rows in a currency, in an order in which rows of a size are scattered over pages."""
        if currency not in self._rows:
            found = [item.to_json(currency) for item in self._all_items()]
            self._rows[currency] = sorted(found, key=lambda row: (row["meterId"], row["effectiveStartDate"]))
        return self._rows[currency]

    def right_prices(self, currency: str, now: int) -> list[Json]:
        """Returns the price of each size, region, OS and priority at a moment, null where none can be known.

        It follows from how the list is made, not from a choice among its rows.
        """
        regular = {_key(item): item for item in _items() if item.is_regular}
        wanted = [item for size in SIZES for region in REGIONS for item in regular_items(size, region)]
        return [
            _right_price(item, self._price(regular.get(_key(item)), now), currency)
            for item in wanted
            if item.is_regular
        ]

    def _all_items(self) -> Iterator[PriceItem]:
        for item in _items():
            yield item
            if item.is_regular:
                yield from (_changed(item, each) for each in self._changes.values() if _is_concerned(item, each))

    def _price(self, item: PriceItem | None, now: int) -> Decimal | None:
        if item is None:
            return None
        changed = (_changed(item, each) for each in self._changes.values() if _is_concerned(item, each))
        begun = [each for each in (item, *changed) if each.starts <= now]
        return max(begun, key=lambda each: each.starts).price if begun else None


@lru_cache(1)
def _items() -> tuple[PriceItem, ...]:
    """Returns the rows of the catalogue with its oddities."""
    found: list[PriceItem] = []
    for region in REGIONS:
        for size in SIZES:
            linux, *others = regular_items(size, region)
            oddity = ODDITIES_BY_PLACE.get((size.name, region.name))
            found += [*(oddity.rows(linux) if oddity else (linux,)), *others]
        found += other_services(region)
    return tuple(found)


def _key(item: PriceItem) -> tuple[str, str, bool, str]:
    return item.arm_sku, item.region.name, item.is_windows, item.priority


def _is_concerned(item: PriceItem, change: PriceChange) -> bool:
    return (item.arm_sku, item.region.name) == (change.arm_sku, change.region)


def _changed(item: PriceItem, change: PriceChange) -> PriceItem:
    savings = tuple((term, price * change.factor) for term, price in item.savings)
    return replace(item, price=item.price * change.factor, starts=change.starts, savings=savings)


def _right_price(item: PriceItem, price: Decimal | None, currency: str) -> Json:
    return {
        "armSkuName": item.arm_sku,
        "armRegionName": item.region.name,
        "os": "windows" if item.is_windows else "linux",
        "priority": item.priority,
        "retailPrice": None if price is None else money(price, currency),
    }
