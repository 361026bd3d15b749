"""Prices of a VM size in a region over time: what was known stays, and each reading of the list continues it.

A new price begins when it was effective, but not before the reading that confirmed the price before it. So no reading
changes the price of a time for which one was known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal

from shared.domain.prices.price_keys import METERS, MeterKey, NoPriceReason
from shared.domain.prices.retail_items import RetailItem

RETENTION = timedelta(days=396)
"""13 months: for so long prices that ended are kept, and those of sizes that no pool uses."""


@dataclass(frozen=True, slots=True)
class PriceInterval:
    """The price of an hour from `valid_from` to before `valid_to`, None where no end is known."""

    hourly: Decimal
    valid_from: datetime
    valid_to: datetime | None
    meter_id: str

    def covers(self, moment: datetime) -> bool:
        return self.valid_from <= moment and (self.valid_to is None or moment < self.valid_to)

    def until(self, moment: datetime) -> "PriceInterval":
        """Returns the interval with an end at a moment, or at its own if that is earlier."""
        return replace(self, valid_to=min(self.valid_to or moment, moment))


@dataclass(frozen=True, slots=True)
class PriceHistory:
    """The prices of a VM size in a region, both in lower case, by meter, as of the last reading of the list.

    `missing` has the reasons why a meter had no price at that reading. `as_of` is None before the first one.
    """

    region: str
    vm_size: str
    intervals: Mapping[MeterKey, tuple[PriceInterval, ...]] = field(default_factory=dict)
    missing: Mapping[MeterKey, NoPriceReason] = field(default_factory=dict)
    as_of: datetime | None = None
    etag: str | None = None

    @property
    def place(self) -> tuple[str, str]:
        return self.region, self.vm_size

    def at(self, meter: MeterKey, moment: datetime) -> PriceInterval | NoPriceReason:
        """Returns the price of a meter at a moment; after the last reading the last price goes on."""
        found = next((one for one in self.intervals.get(meter, ()) if one.covers(moment)), None)
        return found or self.missing.get(meter, "notReadYet" if self.as_of is None else "notKnownThen")

    def after(self, chosen: Mapping[MeterKey, RetailItem | NoPriceReason], now: datetime) -> "PriceHistory":
        """Returns the history with a reading of the list, or this one if a later reading was first."""
        if self.as_of and now <= self.as_of:
            return self
        intervals = {meter: self._continued(meter, chosen[meter], now) for meter in METERS}
        return replace(
            self,
            intervals={meter: some for meter, some in intervals.items() if some},
            missing={meter: one for meter, one in chosen.items() if not isinstance(one, RetailItem)},
            as_of=now,
        )

    def _continued(
        self, meter: MeterKey, chosen: RetailItem | NoPriceReason, now: datetime
    ) -> tuple[PriceInterval, ...]:
        known, oldest = self.intervals.get(meter, ()), now - RETENTION
        if self.as_of and known:
            found = (*known[:-1], *_after(known[-1], chosen, self.as_of))
        else:
            found = (_interval(chosen, chosen.starts),) if isinstance(chosen, RetailItem) else ()
        return tuple(one for one in found if one.valid_to is None or one.valid_to > oldest)


def _after(last: PriceInterval, chosen: RetailItem | NoPriceReason, as_of: datetime) -> tuple[PriceInterval, ...]:
    """Returns the last interval, known up to `as_of`, and the one after it, if that is another."""
    if not isinstance(chosen, RetailItem):
        return _not_empty(last.until(as_of))
    known = min(last.valid_to or as_of, as_of)
    if last.hourly == chosen.hourly and (last.valid_to is None or chosen.starts <= known):
        return (replace(last, valid_to=chosen.ends),)
    begins = max(chosen.starts, known)
    return (*_not_empty(last.until(begins)), *_not_empty(_interval(chosen, begins)))


def _interval(item: RetailItem, begins: datetime) -> PriceInterval:
    return PriceInterval(item.hourly, begins, item.ends, item.meter_id)


def _not_empty(one: PriceInterval) -> tuple[PriceInterval, ...]:
    return (one,) if one.valid_to is None or one.valid_from < one.valid_to else ()
