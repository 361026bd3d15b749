"""Where prices come from, by settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.domain.accounts.accounts import Account, is_loopback
from shared.domain.prices.price_file import PriceEntry
from shared.domain.prices.price_keys import NoPriceReason


@dataclass(frozen=True, slots=True)
class PriceSettings:
    """The `source` (`both`, `retail`, `file` or `off`), the currency, the list's address, and own prices.

    `regions` has those of accounts by id, which count before the ones in their addresses.
    """

    source: str
    currency: str
    url: str
    regions: Mapping[str, str]
    entries: Sequence[PriceEntry]

    def region_of(self, account: Account) -> str | None:
        """Returns the region of an account, None where it isn't known."""
        return self.regions.get(account.id) or account.region

    def requests_for(self, account: Account) -> bool:
        """Returns whether retail prices are requested for an account's pools.

        Accounts on this machine take them only from a list on this machine, so that a demo sends nothing out.
        """
        return self.source in {"both", "retail"} and (not account.is_local or is_loopback(self.url))

    def unread(self, account: Account) -> NoPriceReason:
        """Returns why a size of an account whose retail prices were never read has none."""
        if self.source == "off":
            return "off"
        if self.source == "file":
            return "notInFile"
        return "notReadYet" if self.requests_for(account) else "notRequested"
