"""The settings that Bicep sets are those that the code reads, and as the code would have them."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from shared.settings import read_settings
from tests.infra.bicep.functions import environment_of
from tests.infra.rules.scenarios import Infrastructure, Scenario

LOCAL_SETTINGS = {
    *("AzureWebJobsStorage", "BATCH_ACCOUNT_KEYS", "CLOCK_URL", "TELEMETRY_STORAGE"),
    *("PRICE_REGIONS", "RETAIL_PRICES_URL", "ARM_URL"),
}
"""Settings that only a laptop has: secrets, a stepped clock, and emulated prices and quotas."""
OTHER_WAYS = {"AzureWebJobsStorage__accountName", "AzureWebJobsStorage__tableServiceUri", "TABLE_PREFIX"}
"""Settings for storage that is elsewhere, which depend on the cloud, or are for storage that is shared."""
_OF_PLATFORM = re.compile(
    r"APPLICATIONINSIGHTS_\w+|AZURE_CLIENT_ID|AzureWebJobs\w+|MICROSOFT_PROVIDER_AUTHENTICATION_SECRET"
    r"|OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID|TELEMETRY_STORAGE__\w+|WEBSITE_\w+|AZURE_FUNCTIONS_ENVIRONMENT"
)
"""Settings for or of the platform; the table of expectations has each that Bicep sets."""


class Recording(dict[str, str]):
    """An environment that remembers what it was asked for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.asked: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)


def settings_read() -> set[str]:
    """The names of all settings that the code looks at."""
    environment = Recording()
    read_settings(environment)
    return environment.asked


def named_in_bindings(root: Path) -> set[str]:
    """Connections of triggers and bindings, and settings between percent signs, which the platform looks up."""
    code = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "functions").rglob("*.py")))
    return {*re.findall(r'connection="(\w+)"', code), *re.findall(r'"%(\w+)%"', code)}


def settings_agree(infrastructure: Infrastructure) -> Iterator[str]:
    """Bicep sets what the code reads, nothing that nobody reads, and the code finds all of it in order."""
    named = named_in_bindings(infrastructure.root)
    read_names = settings_read()
    expected = {name for name in read_names - LOCAL_SETTINGS - OTHER_WAYS if not _set_by_platform(name)}
    for scenario in infrastructure.scenarios:
        given = scenario.settings
        for name in sorted(named - {name.partition("__")[0] for name in given}):
            yield f"a binding names the setting {name}, which Bicep doesn't set"
        for name in sorted(expected - given.keys()):
            yield f"the code reads {name}, which Bicep doesn't set"
        for name in sorted(name for name in given.keys() - read_names if not _OF_PLATFORM.fullmatch(name)):
            yield f"Bicep sets {name}, which the code doesn't read"
        if not all(isinstance(value, str) for value in given.values()):
            yield "a setting is no text"
            continue
        read = read_settings({**given, "WEBSITE_SITE_NAME": "x", "WEBSITE_AUTH_ENABLED": "true"})
        yield from read.problems
        if (names := [account.name for account in read.accounts]) != scenario.watched_names:
            yield f"the app watches {names}, not {scenario.watched_names}"
        suffix = environment_of(scenario.cloud)["suffixes"]["storage"]
        tables, blobs = (read.storage.endpoint or "").rstrip("/"), read.telemetry_storage.endpoint
        if tables != f"https://{scenario.host_storage.name}.table.{suffix}":
            yield f"tables are at {tables}"
        if blobs != f"https://{scenario.telemetry_storage.name}.blob.{suffix}/":
            yield f"logs are looked for at {blobs}"
        yield from _unlike_parameters(scenario, expected)


def _set_by_platform(name: str) -> bool:
    return name.startswith("WEBSITE_") or name in {"AZURE_FUNCTIONS_ENVIRONMENT", "FUNCTIONS_EXTENSION_VERSION"}


def _unlike_parameters(scenario: Scenario, names: set[str]) -> Iterator[str]:
    """POLL_SECONDS is what pollSeconds says, and so on: two that have one default could be each other's."""
    for name in sorted(names & scenario.settings.keys() - {"BATCH_ACCOUNTS"}):
        if not _OF_PLATFORM.fullmatch(name):
            first, *words = name.lower().split("_")
            value = scenario.parameter(first + "".join(map(str.capitalize, words)))
            if scenario.settings[name] != str(value):
                yield f"the setting {name} is {scenario.settings[name]!r}, not {value!r} as its parameter"


def settings_default(infrastructure: Infrastructure) -> Iterator[str]:
    """What the parameter file leaves open is as it would be without the setting."""
    given = infrastructure.scenarios[0].settings
    places = (
        "BATCH_ACCOUNTS",
        "BATCH_ACCOUNT_IDS",
        "AzureWebJobsStorage__accountName",
        "TELEMETRY_STORAGE__blobServiceUri",
    )
    if vars(read_settings(given)) != vars(read_settings({name: given[name] for name in places})):
        yield "Bicep has other defaults than the code"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (settings_agree, settings_default)
