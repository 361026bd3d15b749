"""A deployment's own prices: contracts, discounts on retail prices, machines of other clouds, disks and addresses.

They come as one JSON list (docs/api.md, "Prices"). Of several prices and discounts that apply, the first counts; the
additional amounts of all entries that apply are added to it.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from shared.domain.prices.price_keys import Price, PriceKey

_PATTERN = re.compile(r"[A-Za-z0-9_*-]{1,80}")
_MAX_HOURLY, _PERCENT = Decimal(1_000_000), Decimal(100)
_HOURLY, _DISCOUNT, _ADDITIONAL = "hourly", "discountPercent", "additionalHourly"


class PriceEntry(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={
        "vm_size": "vmSize",
        "discount": _DISCOUNT,
        "additional": _ADDITIONAL,
        "begins": "from",
        "ends": "to",
    },
):
    """An entry: what it applies to, and the price of an hour, a discount on the retail price, or an additional amount.

    In `vm_size` and `region` `*` stands for any text. It applies from the first moment (UTC) of the day `begins` to
    before the day `ends`. `os` is the one whose price applies: with hybrid benefit it is Linux.
    """

    vm_size: str
    region: str
    os: Literal["linux", "windows", "*"]
    priority: Literal["dedicated", "spot", "*"]
    begins: date
    ends: date | None = None
    hourly: Decimal | None = None
    currency: str | None = None
    discount: Decimal | None = None
    additional: Decimal | None = None

    @property
    def valid_from(self) -> datetime:
        return _midnight(self.begins)

    @property
    def valid_to(self) -> datetime | None:
        return None if self.ends is None else _midnight(self.ends)

    def applies(self, key: PriceKey, moment: datetime) -> bool:
        """Returns whether it applies to a key at a moment; of an unknown region only one for all regions does."""
        return fnmatchcase(key.region or "", self.region.lower()) and self.applies_in_some_region(key, moment)

    @property
    def is_of_all_regions(self) -> bool:
        return not self.region.strip("*")

    def applies_in_some_region(self, key: PriceKey, moment: datetime) -> bool:
        """Returns whether it applies at a moment to nodes like those of a key in some region."""
        return (
            fnmatchcase(key.vm_size, self.vm_size.lower())
            and self.os in {"*", key.meter.os}
            and self.priority in {"*", key.priority}
            and self.valid_from <= moment
            and (self.valid_to is None or moment < self.valid_to)
        )

    def price(self, currency: str) -> Price | None:
        """Returns its own price; None for a discount."""
        if self.hourly is None:
            return None
        return Price(self.hourly, currency, self.valid_from, self.valid_to, "file")

    def discounted(self, retail: Price) -> Price:
        """Returns a retail price less the discount, for the time for which both apply."""
        ends = [end for end in (self.valid_to, retail.valid_to) if end]
        hourly = retail.hourly * (_PERCENT - (self.discount or 0)) / _PERCENT
        begins = max(self.valid_from, retail.valid_from)
        return Price(hourly, retail.currency, begins, min(ends, default=None), "file", retail.meter_id)

    def added(self, price: Price) -> Price:
        """Returns a price with the additional amount, for the time for which both apply."""
        ends = [end for end in (self.valid_to, price.valid_to) if end]
        amount = self.additional or Decimal(0)
        return price._replace(
            hourly=price.hourly + amount,
            additional=price.additional + amount,
            valid_from=max(self.valid_from, price.valid_from),
            valid_to=min(ends, default=None),
        )


def price_entries(text: str, currency: str, *, has_retail: bool) -> tuple[PriceEntry, ...]:
    """Returns the entries of a setting, whose prices are in a currency; discounts need retail prices.

    Raises ValueError with the numbers of all wrong entries and the reasons.
    """
    try:
        raws = msgspec.json.decode(text.encode(), type=list[msgspec.Raw])
    except msgspec.DecodeError as error:
        raise ValueError(f"The prices are no list in JSON: {error}.") from error
    found, faults = list[PriceEntry](), list[str]()
    for number, raw in enumerate(raws, 1):
        try:
            entry = msgspec.json.decode(raw, type=PriceEntry)
        except msgspec.DecodeError as error:
            faults.append(f"Entry {number} of the prices can't be read: {error}.")
            continue
        found.append(entry)
        if reason := next(_faults(entry, currency, has_retail=has_retail), ""):
            faults.append(f"Entry {number} of the prices can't be used: {reason}.")
    if faults:
        raise ValueError(" ".join(faults))
    return tuple(found)


def first_entry(entries: Iterable[PriceEntry], key: PriceKey, moment: datetime) -> PriceEntry | None:
    """Returns the price or discount that counts for a key at a moment, None where none applies."""
    return next((entry for entry in entries if entry.additional is None and entry.applies(key, moment)), None)


def additional_entries(entries: Iterable[PriceEntry], key: PriceKey, moment: datetime) -> list[PriceEntry]:
    """Returns the entries with additional amounts for a key at a moment."""
    return [entry for entry in entries if entry.additional is not None and entry.applies(key, moment)]


def _faults(entry: PriceEntry, currency: str, *, has_retail: bool) -> Iterator[str]:
    for name, pattern in (("vmSize", entry.vm_size), ("region", entry.region)):
        if not _PATTERN.fullmatch(pattern):
            yield f"its {name} is no text of letters, digits, '_', '-' and '*'"
    if sum(part is not None for part in (entry.hourly, entry.discount, entry.additional)) != 1:
        yield f"it needs either {_HOURLY}, {_DISCOUNT} or {_ADDITIONAL}"
    if entry.ends and entry.ends <= entry.begins:
        yield "its to isn't after its from"
    for name, amount in ((_HOURLY, entry.hourly), (_ADDITIONAL, entry.additional)):
        if amount is not None:
            yield from _amount_faults(entry, name, amount, currency)
    if entry.discount is not None:
        yield from _discount_faults(entry, entry.discount, has_retail=has_retail)


def _amount_faults(entry: PriceEntry, name: str, amount: Decimal, currency: str) -> Iterator[str]:
    if not _is_between(amount, _MAX_HOURLY):
        yield f"its {name} isn't from 0 to {_MAX_HOURLY}"
    if entry.currency != currency:
        yield f"its currency isn't {currency}, the one of PRICE_CURRENCY"


def _discount_faults(entry: PriceEntry, discount: Decimal, *, has_retail: bool) -> Iterator[str]:
    if not _is_between(discount, _PERCENT):
        yield f"its {_DISCOUNT} isn't from 0 to {_PERCENT}"
    if entry.currency is not None:
        yield "a discount has no currency"
    if not has_retail:
        yield "a discount needs retail prices (PRICE_SOURCE)"


def _is_between(number: Decimal, high: Decimal) -> bool:
    return number.is_finite() and 0 <= number <= high


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
