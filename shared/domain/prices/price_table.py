"""The price of a node's hour at a moment: own prices first, then those of the retail list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.prices.price_file import PriceEntry, additional_entries, first_entry
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import NoPriceReason, Price, PriceKey


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Own prices, and those of the retail list by region and VM size, all in one currency.

    `unread` is the reason for sizes whose retail prices were never read.
    """

    currency: str
    entries: Sequence[PriceEntry] = ()
    histories: Mapping[tuple[str, str], PriceHistory] = field(default_factory=dict)
    unread: NoPriceReason = "notReadYet"

    def at(self, key: PriceKey, moment: datetime) -> Price | NoPriceReason:
        """Returns the price at a moment with all additional amounts, or the reason why none is known."""
        found = self._price(key, moment)
        if isinstance(found, Price):
            for entry in additional_entries(self.entries, key, moment):
                found = entry.added(found)
        return found

    def _price(self, key: PriceKey, moment: datetime) -> Price | NoPriceReason:
        unknown = key.unknown
        if unknown and (unknown != "regionUnknown" or self._depends_on_region(key, moment)):
            return unknown
        entry = first_entry(self.entries, key, moment)
        if entry and (own := entry.price(self.currency)):
            return own
        if unknown:
            return unknown
        retail = self._retail(key, moment)
        return entry.discounted(retail) if entry and isinstance(retail, Price) else retail

    def _depends_on_region(self, key: PriceKey, moment: datetime) -> bool:
        """Returns whether own prices or additional amounts for nodes like these are those of some regions only."""
        some = [entry for entry in self.entries if entry.applies_in_some_region(key, moment)]
        first = next((entry for entry in some if entry.additional is None), None)
        return any(not one.is_of_all_regions for one in some if one is first or one.additional is not None)

    def read_at(self, key: PriceKey) -> datetime | None:
        """Returns when the retail prices of a size were read last, None where they weren't."""
        history = self._history(key)
        return history.as_of if history else None

    def _history(self, key: PriceKey) -> PriceHistory | None:
        return self.histories.get((key.region or "", key.vm_size))

    def _retail(self, key: PriceKey, moment: datetime) -> Price | NoPriceReason:
        history = self._history(key)
        if history is None or history.as_of is None:
            return self.unread
        found = history.at(key.meter, moment)
        if not isinstance(found, PriceInterval):
            return found
        return Price(found.hourly, self.currency, found.valid_from, found.valid_to, "retail", found.meter_id)
