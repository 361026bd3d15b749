"""Reads and checks single settings from the environment; an invalid one gives a sentence.

`settings` has the list of settings and their meaning.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from shared.domain.accounts.account_roles import AccountRoles, parse_account_roles
from shared.domain.accounts.accounts import Account, is_account_name, is_loopback, parse_accounts
from shared.domain.core.storage_texts import (
    account_of_address,
    account_of_string,
    is_base64,
    is_connection_string,
    is_https,
)
from shared.domain.history.grains import HistoryRetention

if TYPE_CHECKING:
    from shared.domain.prices.price_file import PriceEntry
    from shared.domain.retirements.announcements import Announcement

_TELEMETRY = "TELEMETRY_STORAGE"
RESOURCE_LOGS = "insights-logs-servicelog"
_RETAIL_PRICES = "https://prices.azure.com/api/retail/prices"
_STORAGE = "AzureWebJobsStorage"
_NO_STRING = (
    "this is not a connection string of a storage account"
    " (it has AccountName=…;AccountKey=… and, for tables elsewhere, TableEndpoint=…)"
)


@dataclass(frozen=True, slots=True)
class StorageAddress:
    """A storage account by connection string or by the endpoint of one of its services; both None where unset."""

    connection_string: str | None
    endpoint: str | None

    @property
    def is_named(self) -> bool:
        return bool(self.connection_string or self.endpoint)


class SettingsReader:
    """Reads settings one by one, and collects every problem instead of stopping at the first."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.problems: list[str] = []
        self.warnings: list[str] = []

    def text(self, name: str) -> str:
        return self._environment.get(name, "").strip()

    def duration(self, name: str, default: float, unit: timedelta, *, low: float, high: float) -> timedelta:
        text = self.text(name)
        try:
            value = float(text) if text else default
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            self.problems.append(f"{name}: '{text}' is not a number from {low:g} to {high:g}")
            value = default
        return value * unit

    def history(self) -> HistoryRetention:
        """Returns the retention of histories: quarter-hours at least as long as minutes, as some ranges need both."""
        day, known = timedelta(days=1), len(self.problems)
        retention = HistoryRetention(
            minutes=self.duration("HISTORY_MINUTE_DAYS", 7, day, low=1, high=365),
            quarters=self.duration("HISTORY_QUARTER_HOUR_DAYS", 90, day, low=1, high=3_650),
        )
        if retention.minutes > retention.quarters and len(self.problems) == known:
            self.problems.append(
                f"HISTORY_MINUTE_DAYS: {retention.minutes / day:g} days are more than the"
                f" {retention.quarters / day:g} of HISTORY_QUARTER_HOUR_DAYS; make it no longer than that"
            )
        return retention

    def count(self, name: str, default: int, *, low: int, high: int) -> int:
        text = self.text(name) or str(default)
        if not text.isdecimal() or not low <= int(text) <= high:
            self.problems.append(f"{name}: '{text}' is not a whole number from {low} to {high}")
            return default
        return int(text)

    def accounts(self) -> tuple[Account, ...]:
        text = self.text("BATCH_ACCOUNTS")
        if not text:
            self.problems.append(
                "BATCH_ACCOUNTS is missing: list the Batch accounts to watch, like https://NAME.REGION.batch.azure.com"
            )
        accounts, problems = parse_accounts(text)
        self.problems.extend(problems)
        if text and not accounts and not problems:
            self.problems.append(
                f"BATCH_ACCOUNTS: '{text}' names no account; write https://NAME.REGION.batch.azure.com"
            )
        return accounts

    def account_roles(self, accounts: tuple[Account, ...]) -> AccountRoles:
        roles, problems = parse_account_roles(self.text("ACCOUNT_ROLES"), [account.id for account in accounts])
        self.problems.extend(problems)
        return roles

    def keys(self, accounts: tuple[Account, ...]) -> dict[str, str]:
        """Returns keys by account name. No problem repeats text that may be a key."""
        keys: dict[str, str] = {}
        before = len(self.problems)
        local = {account.name for account in accounts if account.is_local}
        for place, entry in enumerate(self.text("BATCH_ACCOUNT_KEYS").replace(",", " ").split(), 1):
            name, _, key = entry.partition("=")
            if not is_account_name(name) or not key.strip("="):
                self.problems.append(f"BATCH_ACCOUNT_KEYS: entry {place} is not of the form NAME=KEY")
            elif name.lower() not in local:
                self.problems.append(
                    f"BATCH_ACCOUNT_KEYS: '{name}' is not one of the accounts on this machine;"
                    " keys are used there only, accounts in Azure take a managed identity"
                )
            elif not is_base64(key):
                self.problems.append(f"BATCH_ACCOUNT_KEYS: the key of '{name}' is not base64")
            else:
                keys[name.lower()] = key
        if len(self.problems) == before:
            self.problems.extend(
                f"BATCH_ACCOUNT_KEYS: '{name}' has no key: accounts on this machine need one, like {name}=KEY"
                for name in sorted(local - keys.keys())
            )
        return keys

    def retirements(self) -> "tuple[Announcement, ...]":
        """Returns the deployment's own announcements of retirements, in the form of those that come with the app."""
        text = self.text("RETIREMENTS")
        if not text:
            return ()
        from shared.domain.retirements.announcements import announcements_of

        return self._checked("RETIREMENTS", lambda: announcements_of(text), ())

    def currency(self) -> str:
        return self._matching("PRICE_CURRENCY", "USD", "[A-Z]{3}", "three capital letters, like EUR")

    def price_url(self) -> str:
        """Returns the address of the list of retail prices; plain http only on this machine."""
        url = self.text("RETAIL_PRICES_URL") or _RETAIL_PRICES
        if not (is_https(url) or is_loopback(url)) or re.search(r"[?#@\s]", url):
            self.problems.append("RETAIL_PRICES_URL: this is no https address, or one on this machine, without a query")
            return _RETAIL_PRICES
        return url

    def price_regions(self, accounts: tuple[Account, ...]) -> dict[str, str]:
        """Returns regions by account id, as the setting has them; a wrong entry is a problem."""
        regions, known = dict[str, str](), {account.id for account in accounts}
        for entry in self.text("PRICE_REGIONS").lower().replace(",", " ").split():
            name, _, region = entry.partition("=")
            if not re.fullmatch("[a-z0-9]{3,40}", region):
                self.problems.append(
                    f"PRICE_REGIONS: '{entry}' is not of the form ACCOUNT=REGION, like demo=westeurope"
                )
            elif name not in known:
                self.problems.append(f"PRICE_REGIONS: '{name}' is none of the watched accounts")
            regions[name] = region
        return regions

    def price_entries(self, source: str, currency: str) -> "tuple[PriceEntry, ...]":
        """Returns the deployment's own prices, none where the source of prices doesn't include them."""
        text = self.text("PRICE_FILE")
        if not text or source not in {"both", "file"}:
            return ()
        from shared.domain.prices.price_file import price_entries

        return self._checked("PRICE_FILE", lambda: price_entries(text, currency, has_retail=source == "both"), ())

    def cost_labels(self) -> tuple[str, ...]:
        """Returns the names of metadata and tags whose values are kept, to group costs by."""
        text = self.text("COST_LABELS")
        if not text:
            return ()
        from shared.domain.core.labels import label_names

        return self._checked("COST_LABELS", lambda: label_names(text), ())

    def by_place(
        self, name: str, accounts: tuple[Account, ...], default: int, *, low: int, high: int, has_pools: bool = False
    ) -> Mapping[str, int]:
        """Returns a setting's numbers by account id, or `account/pool`, "" for all others."""
        text, numbers = self.text(name), {"": default}
        if not text:
            return numbers
        from shared.domain.outputs.output_limits import numbers_by_place

        known, limits = {account.id for account in accounts}, {"low": low, "high": high}
        return self._checked(
            name, lambda: numbers_by_place(text, known, default, **limits, has_pools=has_pools), numbers
        )

    def storage(self) -> StorageAddress:
        """Returns the host's storage account, with the app's tables and queues."""
        place = self._place(_STORAGE, "table", by_name=True)
        if not place.is_named:
            self.problems.append(
                f"{_STORAGE} is missing: give a connection string, or {_STORAGE}__accountName to use a managed identity"
            )
        return place

    def telemetry_storage(self) -> StorageAddress:
        """Returns the storage account that nodes and Batch write to, if any."""
        return self._place(_TELEMETRY, "blob", by_name=False)

    def _place(self, name: str, service: str, *, by_name: bool) -> StorageAddress:
        """Returns a storage account. Identity wins: hosts add connection strings to apps with disabled shared keys."""
        string, endpoint = self.text(name), self.text(f"{name}__{service}ServiceUri")
        account = self.text(f"{name}__accountName") if by_name else ""
        if endpoint and not is_https(endpoint):
            self.problems.append(f"{name}__{service}ServiceUri is not an https address")
        endpoint = endpoint or (account and f"https://{account}.{service}.core.windows.net")
        if not endpoint and string and not is_connection_string(string):
            self.problems.append(f"{name}: {_NO_STRING}")
        if not endpoint or not string:
            return StorageAddress(None if endpoint else string or None, endpoint or None)
        identity, other = account_of_address(endpoint), account_of_string(string)
        if identity != other:
            named = f"the account '{other}'" if other else "no account"
            self.warnings.append(
                f"{name}: its connection string names {named}, the identity settings beside it name '{identity}'."
                f" The app uses '{identity}'; remove the setting {name}."
            )
        return StorageAddress(None, endpoint)

    def container(self, name: str, default: str) -> str:
        form = "a container's name: 3 to 63 of a-z, 0-9 and single hyphens"
        return self._matching(name, default, r"(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*", form)

    def telemetry_container(self) -> str:
        """Returns a container other than that of Batch's logs, whose blobs would be read as telemetry."""
        name = self.container("TELEMETRY_CONTAINER", "telemetry")
        if name == (self.text("RESOURCE_LOG_CONTAINER") or RESOURCE_LOGS):
            self.problems.append(f"TELEMETRY_CONTAINER: '{name}' is the container of Batch's resource logs")
        return name

    def path(self, name: str, default: str) -> str:
        """Returns a path pattern; the default one is valid."""
        text = self.text(name) or default
        if text == default:
            return default
        from shared.domain.telemetry.records.labels import PathPattern

        try:
            PathPattern(text)
        except ValueError as error:
            self.problems.append(f"{name}: {error}")
            return default
        return text

    def account_ids(self, accounts: tuple[Account, ...]) -> Mapping[str, Sequence[str]]:
        """Returns the ids of accounts in Azure Resource Manager, by account id."""
        if not self.text("BATCH_ACCOUNT_IDS"):
            return {}
        from shared.domain.quotas.resource_ids import resource_ids

        found, problems = resource_ids(self.text("BATCH_ACCOUNT_IDS"), accounts)
        self.problems.extend(f"BATCH_ACCOUNT_IDS: {problem}" for problem in problems)
        return found

    def loopback_url(self, name: str) -> str | None:
        """Returns the address of something that only a stack on this machine has."""
        url = self.text(name).rstrip("/")
        if not url or is_loopback(url):
            return url or None
        self.problems.append(f"{name}: '{url}' is not on this machine; it is for tests and the local stack only")
        return None

    def schedule(self, name: str, default: str) -> str:
        """Returns six fields of NCRONTAB, else the default: an invalid one would keep the whole app from starting."""
        form = f"six fields of NCRONTAB, like {default}"
        return self._matching(name, default, r"[\d*/,A-Za-z-]+( +[\d*/,A-Za-z-]+){5}", form)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """Returns one of the choices, the first by default."""
        text = self.text(name) or choices[0]
        if text in choices:
            return text
        self.problems.append(f"{name}: '{text}' is none of {', '.join(choices)}")
        return choices[0]

    def _checked[T](self, name: str, read: Callable[[], T], default: T) -> T:
        """Returns what `read` returns, else the default and a problem with the text of its ValueError."""
        try:
            return read()
        except ValueError as error:
            self.problems.append(f"{name}: {str(error).removesuffix('.')}")
            return default

    def _matching(self, name: str, default: str, pattern: str, form: str) -> str:
        """Returns a text that matches a pattern, else the default and a problem that names the form."""
        text = self.text(name) or default
        if re.fullmatch(pattern, text):
            return text
        self.problems.append(f"{name}: '{text}' is not {form}")
        return default

    def is_local(self) -> bool:
        """Returns whether the host is a development host. Azure is never local, regardless of other settings."""
        in_azure = self.text("WEBSITE_INSTANCE_ID") or self.text("WEBSITE_SITE_NAME")
        return self.text("AZURE_FUNCTIONS_ENVIRONMENT").lower() == "development" and not in_azure

    def table_prefix(self) -> str:
        prefix = self.text("TABLE_PREFIX")
        if prefix and not re.fullmatch("[A-Za-z][A-Za-z0-9]{0,39}", prefix):
            self.problems.append(
                f"TABLE_PREFIX: '{prefix}' is not up to 40 letters and digits, beginning with a letter"
            )
        return prefix
