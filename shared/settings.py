"""The app's settings: read once from the environment that `function_app` passes in, and all checked together.

An app with wrong settings still loads. `Settings.problems` names the errors, `health` serves them, and everything that
needs the settings fails with the same sentences. `Settings.warnings` names settings that work and should be corrected.
"""

from collections.abc import Mapping
from datetime import timedelta

from shared.errors import SettingsError
from shared.settings_reader import RESOURCE_LOGS, SettingsReader

_EVERY_MINUTE = "0 * * * * *"
_EVERY_HOUR = "0 17 * * * *"
_POOL_API_VERSIONS = ("2025-06-01", "2026-10-01")
_PRICE_SOURCES = ("both", "retail", "file", "off")
_ON_OFF = ("on", "off")
_FILE_READERS = ("readers", "operators", "nobody")
_TELEMETRY_PATH = "accounts/{account}/pools/{pool}/nodes/{node}/**/*"


class Settings:
    """The settings, which README describes; durations are timedeltas.

    `is_local` is True only where the host declares itself a development host, as `func start` and the local host do.
    """

    def __init__(self, read: SettingsReader) -> None:
        second, minute, hour, day = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
        self.accounts = read.accounts()
        self.keys = read.keys(self.accounts)
        self.storage, self.telemetry_storage = read.storage(), read.telemetry_storage()
        self.account_roles = read.account_roles(self.accounts)
        self.file_readers = read.choice("FILE_READERS", _FILE_READERS)
        days = read.by_place("OUTPUT_DAYS", self.accounts, 30, low=0, high=3_650, has_pools=True)
        self.output_days = {place: number * day for place, number in days.items()}
        megabytes = read.by_place("OUTPUT_MB_PER_DAY", self.accounts, 200, low=1, high=1_000_000)
        self.output_bytes_a_day = {place: number * 1_000_000 for place, number in megabytes.items()}
        self.output_tasks_a_minute = read.by_place("OUTPUT_TASKS_PER_MINUTE", self.accounts, 60, low=1, high=10_000)
        self.output_tasks_of_each = read.by_place(
            "OUTPUT_TASKS_OF_EACH", self.accounts, 5, low=1, high=200, has_pools=True
        )
        self.resource_log_container = read.container("RESOURCE_LOG_CONTAINER", RESOURCE_LOGS)
        self.event_retention = read.duration("EVENT_DAYS", 90, day, low=1, high=3_650)
        self.telemetry_container = read.telemetry_container()
        self.telemetry_path = read.path("TELEMETRY_PATH", _TELEMETRY_PATH)
        self.telemetry_retention = read.duration("TELEMETRY_MINUTE_DAYS", 7, day, low=1, high=365)
        self.telemetry_hour_retention = read.duration("TELEMETRY_HOUR_DAYS", 90, day, low=0, high=3_650)
        self.tick_schedule = read.schedule("TICK_SCHEDULE", _EVERY_MINUTE)
        self.poll_interval = read.duration("POLL_SECONDS", 60, second, low=1, high=86_400)
        self.tick_budget = read.duration("TICK_BUDGET_SECONDS", 45, second, low=1, high=1_800)
        self.overlap = read.duration("POLL_OVERLAP_SECONDS", 30, second, low=1, high=3_600)
        self.full_list_interval = read.duration("FULL_LIST_MINUTES", 15, minute, low=0.1, high=1_440)
        self.full_read_age = read.duration("FULL_READ_HOURS", 24, hour, low=0.1, high=8_760)
        self.deleted_job_retention = read.duration("DELETED_JOB_DAYS", 30, day, low=0, high=3_650)
        self.operation_retention = read.duration("POLL_STATUS_DAYS", 7, day, low=0.01, high=365)
        self.history_retention = read.history()
        self.housekeeping_schedule = read.schedule("HOUSEKEEPING_SCHEDULE", _EVERY_HOUR)
        self.job_horizon = read.duration("JOB_HORIZON_DAYS", 7, day, low=0, high=3_650)
        self.calls_per_minute = read.count("MAX_BATCH_CALLS_PER_MINUTE", 3000, low=10, high=1_000_000)
        self.pool_api_version = read.choice("BATCH_POOL_API_VERSION", _POOL_API_VERSIONS)
        self.retirements = read.retirements()
        self.price_source, self.price_currency = read.choice("PRICE_SOURCE", _PRICE_SOURCES), read.currency()
        self.price_url, self.price_regions = read.price_url(), read.price_regions(self.accounts)
        self.price_entries = read.price_entries(self.price_source, self.price_currency)
        self.cost_labels = read.cost_labels()
        self.account_ids, self.reads_quotas = (
            read.account_ids(self.accounts),
            read.choice("READ_QUOTAS", _ON_OFF) == "on",
        )
        self.arm_url = read.loopback_url("ARM_URL")
        self.functions_host = read.text("WEBSITE_SKU"), read.text("FUNCTIONS_EXTENSION_VERSION")
        self.table_prefix = read.table_prefix()
        self.clock_url = read.loopback_url("CLOCK_URL")
        self.behind_easy_auth = read.text("WEBSITE_AUTH_ENABLED").lower() == "true"
        self.is_local = read.is_local()
        self.problems = tuple(read.problems)
        self.warnings = tuple(read.warnings)

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
    return Settings(SettingsReader(environment))
