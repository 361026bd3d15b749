"""The app's settings: read once from the environment that `function_app` hands over, checked all at once.

An app with wrong settings still loads: `Settings.problems` names what is wrong, `health` serves it, and everything
that needs the settings refuses with the same words.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from shared.domain.accounts import Account, is_account_name, is_loopback, parse_accounts
from shared.domain.samples import HistoryRetention
from shared.errors import SettingsError

_STORAGE = "AzureWebJobsStorage"
_EVERY_MINUTE = "0 * * * * *"
_EVERY_HOUR = "0 17 * * * *"


@dataclass(frozen=True, slots=True)
class Settings:
    """See docs/settings in README for what each means; durations are timedeltas.

    `is_local` is True only where the host says that it is one for development, as `func start` and the local host do.
    """

    accounts: tuple[Account, ...]
    keys: Mapping[str, str]
    connection_string: str | None
    table_endpoint: str | None
    tick_schedule: str
    poll_interval: timedelta
    tick_budget: timedelta
    overlap: timedelta
    full_list_interval: timedelta
    full_read_age: timedelta
    job_horizon: timedelta
    deleted_job_retention: timedelta
    operation_retention: timedelta
    history_retention: HistoryRetention
    housekeeping_schedule: str
    calls_per_minute: int
    table_prefix: str
    clock_url: str | None
    behind_easy_auth: bool
    is_local: bool
    problems: tuple[str, ...]

    @property
    def poll_queue(self) -> str:
        """The queue of polls on demand; like the tables it bears the prefix, so that two apps can share storage."""
        return f"{self.table_prefix.lower()}-batchscope-polls".lstrip("-")

    @property
    def job_queue(self) -> str:
        """The queue of jobs whose reads take longer than a round may."""
        return f"{self.table_prefix.lower()}-batchscope-jobs".lstrip("-")

    def require(self) -> None:
        """Raises SettingsError, naming every problem, unless all is well."""
        if self.problems:
            raise SettingsError(self.problems)


class _Reader:
    """Reads one setting after another and remembers every problem instead of stopping at the first."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.problems: list[str] = []

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

    def keys(self, accounts: tuple[Account, ...]) -> dict[str, str]:
        """Keys by account name. No problem repeats what may be a key."""
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
            elif not _is_base64(key):
                self.problems.append(f"BATCH_ACCOUNT_KEYS: the key of '{name}' is not base64")
            else:
                keys[name.lower()] = key
        if len(self.problems) == before:
            self.problems.extend(
                f"BATCH_ACCOUNT_KEYS: '{name}' has no key: accounts on this machine need one, like {name}=KEY"
                for name in sorted(local - keys.keys())
            )
        return keys

    def storage(self) -> tuple[str | None, str | None]:
        """The connection string or the table endpoint of the host's storage."""
        if text := self.text(_STORAGE):
            if not _is_connection_string(text):
                self.problems.append(
                    f"{_STORAGE}: this is not a connection string of a storage account"
                    " (it has AccountName=…;AccountKey=… and, for tables elsewhere, TableEndpoint=…)"
                )
            return text, None
        if endpoint := self.text(f"{_STORAGE}__tableServiceUri"):
            if not _is_https(endpoint):
                self.problems.append(f"{_STORAGE}__tableServiceUri is not an https address")
            return None, endpoint
        if account := self.text(f"{_STORAGE}__accountName"):
            return None, f"https://{account}.table.core.windows.net"
        self.problems.append(
            f"{_STORAGE} is missing: give a connection string, or {_STORAGE}__accountName to use a managed identity"
        )
        return None, None

    def clock_url(self) -> str | None:
        url = self.text("CLOCK_URL") or None
        if url and not is_loopback(url):
            self.problems.append(f"CLOCK_URL: '{url}' is not on this machine; a stepped clock is for tests only")
            return None
        return url

    def schedule(self, name: str, default: str) -> str:
        """Six fields of NCRONTAB; a wrong one would keep the whole app from starting, so it is left out and named."""
        text = self.text(name) or default
        if re.fullmatch(r"[\d*/,A-Za-z-]+( +[\d*/,A-Za-z-]+){5}", text):
            return text
        self.problems.append(f"{name}: '{text}' is not six fields of NCRONTAB, like {default}")
        return default

    def is_local(self) -> bool:
        """Azure is never local, whatever else somebody sets there."""
        in_azure = self.text("WEBSITE_INSTANCE_ID") or self.text("WEBSITE_SITE_NAME")
        return self.text("AZURE_FUNCTIONS_ENVIRONMENT").lower() == "development" and not in_azure

    def table_prefix(self) -> str:
        prefix = self.text("TABLE_PREFIX")
        if prefix and not re.fullmatch("[A-Za-z][A-Za-z0-9]{0,39}", prefix):
            self.problems.append(
                f"TABLE_PREFIX: '{prefix}' is not up to 40 letters and digits, beginning with a letter"
            )
        return prefix


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Settings with defaults filled in; never raises, see `Settings.problems`."""
    read = _Reader(environment)
    second, minute, hour, day = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
    accounts = read.accounts()
    keys = read.keys(accounts)
    connection_string, table_endpoint = read.storage()
    return Settings(
        accounts=accounts,
        keys=keys,
        connection_string=connection_string,
        table_endpoint=table_endpoint,
        tick_schedule=read.schedule("TICK_SCHEDULE", _EVERY_MINUTE),
        poll_interval=read.duration("POLL_SECONDS", 60, second, low=1, high=86_400),
        tick_budget=read.duration("TICK_BUDGET_SECONDS", 45, second, low=1, high=1_800),
        overlap=read.duration("POLL_OVERLAP_SECONDS", 30, second, low=1, high=3_600),
        full_list_interval=read.duration("FULL_LIST_MINUTES", 15, minute, low=0.1, high=1_440),
        full_read_age=read.duration("FULL_READ_HOURS", 24, hour, low=0.1, high=8_760),
        deleted_job_retention=read.duration("DELETED_JOB_DAYS", 30, day, low=0, high=3_650),
        operation_retention=read.duration("POLL_STATUS_DAYS", 7, day, low=0.01, high=365),
        history_retention=HistoryRetention(
            minutes=read.duration("HISTORY_MINUTE_DAYS", 7, day, low=1, high=365),
            quarters=read.duration("HISTORY_QUARTER_HOUR_DAYS", 90, day, low=1, high=3_650),
        ),
        housekeeping_schedule=read.schedule("HOUSEKEEPING_SCHEDULE", _EVERY_HOUR),
        job_horizon=read.duration("JOB_HORIZON_DAYS", 7, day, low=0, high=3_650),
        calls_per_minute=read.count("MAX_BATCH_CALLS_PER_MINUTE", 3000, low=10, high=1_000_000),
        table_prefix=read.table_prefix(),
        clock_url=read.clock_url(),
        behind_easy_auth=read.text("WEBSITE_AUTH_ENABLED").lower() == "true",
        is_local=read.is_local(),
        problems=tuple(read.problems),
    )


def _is_connection_string(text: str) -> bool:
    parts = {name.strip().lower(): value for name, _, value in (part.partition("=") for part in text.split(";"))}
    if parts.get("usedevelopmentstorage", "").lower() == "true":
        return True
    by_key = bool(parts.get("accountname")) and _is_base64(parts.get("accountkey", ""))
    return by_key or bool(parts.get("tableendpoint") and parts.get("sharedaccesssignature"))


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except ValueError:
        return False


def _is_https(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname)
