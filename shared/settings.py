"""The app's settings: read once from the environment that `function_app` passes in, and all checked together.

An app with wrong settings still loads. `Settings.problems` names the errors, `health` serves them, and everything that
needs the settings fails with the same sentences. `Settings.warnings` names settings that work and should be corrected.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from shared.domain.accounts.account_roles import AccountRoles
from shared.domain.accounts.accounts import Account
from shared.domain.history.grains import HistoryRetention
from shared.errors import SettingsError
from shared.settings_reader import RESOURCE_LOGS, SettingsReader, StorageAddress

_EVERY_MINUTE = "0 * * * * *"
_EVERY_HOUR = "0 17 * * * *"
_TELEMETRY_PATH = "accounts/{account}/pools/{pool}/nodes/{node}/**/*"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings, which README describes; durations are timedeltas.

    `is_local` is True only where the host declares itself a development host, as `func start` and the local host do.
    """

    accounts: tuple[Account, ...]
    account_roles: AccountRoles
    keys: Mapping[str, str]
    storage: StorageAddress
    telemetry_storage: StorageAddress
    resource_log_container: str
    event_retention: timedelta
    telemetry_container: str
    telemetry_path: str
    telemetry_retention: timedelta
    telemetry_hour_retention: timedelta
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
    warnings: tuple[str, ...]

    @property
    def poll_queue(self) -> str:
        """The queue of polls on demand; like the tables it has the prefix, so that two apps can share storage."""
        return f"{self.table_prefix.lower()}-batchscope-polls".lstrip("-")

    @property
    def job_queue(self) -> str:
        """The queue of jobs whose reads take longer than a round may."""
        return f"{self.table_prefix.lower()}-batchscope-jobs".lstrip("-")

    @property
    def ingestion_enabled(self) -> bool:
        """True where storage that nodes and Batch write to is configured."""
        return self.telemetry_storage.is_named

    def require(self) -> None:
        """Raises SettingsError, naming every problem, if there are any."""
        if self.problems:
            raise SettingsError(self.problems)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Returns the settings with defaults filled in; never raises, see `Settings.problems`."""
    read = SettingsReader(environment)
    second, minute, hour, day = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
    accounts = read.accounts()
    keys, storage, telemetry_storage = read.keys(accounts), read.storage(), read.telemetry_storage()
    return Settings(
        accounts=accounts,
        account_roles=read.account_roles(accounts),
        keys=keys,
        storage=storage,
        telemetry_storage=telemetry_storage,
        resource_log_container=read.container("RESOURCE_LOG_CONTAINER", RESOURCE_LOGS),
        event_retention=read.duration("EVENT_DAYS", 90, day, low=1, high=3_650),
        telemetry_container=read.telemetry_container(),
        telemetry_path=read.path("TELEMETRY_PATH", _TELEMETRY_PATH),
        telemetry_retention=read.duration("TELEMETRY_MINUTE_DAYS", 7, day, low=1, high=365),
        telemetry_hour_retention=read.duration("TELEMETRY_HOUR_DAYS", 90, day, low=0, high=3_650),
        tick_schedule=read.schedule("TICK_SCHEDULE", _EVERY_MINUTE),
        poll_interval=read.duration("POLL_SECONDS", 60, second, low=1, high=86_400),
        tick_budget=read.duration("TICK_BUDGET_SECONDS", 45, second, low=1, high=1_800),
        overlap=read.duration("POLL_OVERLAP_SECONDS", 30, second, low=1, high=3_600),
        full_list_interval=read.duration("FULL_LIST_MINUTES", 15, minute, low=0.1, high=1_440),
        full_read_age=read.duration("FULL_READ_HOURS", 24, hour, low=0.1, high=8_760),
        deleted_job_retention=read.duration("DELETED_JOB_DAYS", 30, day, low=0, high=3_650),
        operation_retention=read.duration("POLL_STATUS_DAYS", 7, day, low=0.01, high=365),
        history_retention=read.history(),
        housekeeping_schedule=read.schedule("HOUSEKEEPING_SCHEDULE", _EVERY_HOUR),
        job_horizon=read.duration("JOB_HORIZON_DAYS", 7, day, low=0, high=3_650),
        calls_per_minute=read.count("MAX_BATCH_CALLS_PER_MINUTE", 3000, low=10, high=1_000_000),
        table_prefix=read.table_prefix(),
        clock_url=read.clock_url(),
        behind_easy_auth=read.text("WEBSITE_AUTH_ENABLED").lower() == "true",
        is_local=read.is_local(),
        problems=tuple(read.problems),
        warnings=tuple(read.warnings),
    )
