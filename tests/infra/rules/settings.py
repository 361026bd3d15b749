"""The settings that Bicep sets are those that the code reads, and as the code would have them."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from shared.settings import read_settings
from tests.infra.rules.access import storage_address
from tests.infra.rules.scenarios import Scenario

LOCAL_SETTINGS = {"AzureWebJobsStorage", "BATCH_ACCOUNT_KEYS", "CLOCK_URL", "TELEMETRY_STORAGE"}
"""Settings that only a laptop has: secrets and a stepped clock."""


OTHER_WAYS = {"AzureWebJobsStorage__tableServiceUri", "TABLE_PREFIX"}
"""Settings for storage that is shared or elsewhere, which a deployment of its own needs not."""


FOR_THE_PLATFORM = {
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
    "APPLICATIONINSIGHTS_CONNECTION_STRING",
    "AZURE_CLIENT_ID",
    "AzureWebJobsDisableHomepage",
    "AzureWebJobsStorage__accountName",
    "AzureWebJobsStorage__blobServiceUri",
    "AzureWebJobsStorage__clientId",
    "AzureWebJobsStorage__credential",
    "AzureWebJobsStorage__queueServiceUri",
    "AzureWebJobsStorage__tableServiceUri",
    "MICROSOFT_PROVIDER_AUTHENTICATION_SECRET",
    "OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID",
    "TELEMETRY_STORAGE__blobServiceUri",
    "TELEMETRY_STORAGE__clientId",
    "TELEMETRY_STORAGE__credential",
    "TELEMETRY_STORAGE__queueServiceUri",
}
"""Settings for the platform rather than the code, whose values access.py judges; one more could turn a function
off, or send its queues elsewhere."""


PLATFORM_SETTINGS = {"AZURE_FUNCTIONS_ENVIRONMENT", "WEBSITE_AUTH_ENABLED", "WEBSITE_INSTANCE_ID", "WEBSITE_SITE_NAME"}
"""Settings that the platform makes."""


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


def settings_agree(scenario: Scenario) -> Iterator[str]:
    """Bicep sets what the code reads, nothing that nobody reads, and the code finds all of it in order."""
    named = named_in_bindings(scenario.root)
    others = named - {"AzureWebJobsStorage"}
    platform = (
        FOR_THE_PLATFORM | PLATFORM_SETTINGS | {name for name in scenario.settings if name.partition("__")[0] in others}
    )
    for name in sorted(named - {name.partition("__")[0] for name in scenario.settings}):
        yield f"a binding names the setting {name}, which Bicep doesn't set"
    expected = settings_read() - LOCAL_SETTINGS - OTHER_WAYS - PLATFORM_SETTINGS
    if scenario.cloud != "AzureCloud":
        expected.remove("AzureWebJobsStorage__accountName")
    for name in sorted(expected - scenario.settings.keys()):
        yield f"the code reads {name}, which Bicep doesn't set"
    for name in sorted(scenario.settings.keys() - expected - platform):
        yield f"Bicep sets {name}, which the code doesn't read"
    if not all(isinstance(value, str) for value in scenario.settings.values()):
        yield "a setting is no text"
        return
    read = read_settings({**scenario.settings, "WEBSITE_SITE_NAME": "x", "WEBSITE_AUTH_ENABLED": "true"})
    yield from read.problems
    watched = [account.rpartition("/")[2] for account in scenario.watched]
    if [account.name for account in read.accounts] != watched:
        yield f"the app watches {[account.name for account in read.accounts]}, not {watched}"
    if f"{(read.storage.endpoint or '').rstrip('/')}/" != storage_address(scenario, scenario.host_storage, "table"):
        yield f"tables are at {read.storage.endpoint}"
    if read.telemetry_storage.endpoint != storage_address(scenario, scenario.telemetry_storage, "blob"):
        yield f"logs are looked for at {read.telemetry_storage.endpoint}"


def settings_of_their_parameters(scenario: Scenario) -> Iterator[str]:
    """POLL_SECONDS is what pollSeconds says, and so on: two that have one default could be each other's."""
    others = FOR_THE_PLATFORM | PLATFORM_SETTINGS | {"BATCH_ACCOUNTS"}
    for name in sorted(settings_read() & scenario.settings.keys() - others):
        first, *words = name.lower().split("_")
        value = scenario.parameter(first + "".join(map(str.capitalize, words)))
        if scenario.settings[name] != str(value):
            yield f"the setting {name} is {scenario.settings[name]!r}, not {value!r} as its parameter"


def settings_default(scenario: Scenario) -> Iterator[str]:
    """What the parameter file leaves open is as it would be without the setting."""
    if scenario.name != "the parameter file":
        return
    places = ("BATCH_ACCOUNTS", "AzureWebJobsStorage__accountName", "TELEMETRY_STORAGE__blobServiceUri")
    accounts = {name: scenario.settings[name] for name in places}
    if read_settings(scenario.settings) != read_settings(accounts):
        yield "Bicep has other defaults than the code"


SCENARIO_RULES: tuple[Callable[[Scenario], Iterator[str]], ...] = (
    settings_agree,
    settings_default,
    settings_of_their_parameters,
)
