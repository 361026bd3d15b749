"""The deployments that the rules judge.

They are main.bicep as its parameter file has it, with everything turned on, in a network that others run and in one of
its own, with odd but lawful values, with two of everything that there can be two of, and in other clouds; and
events.bicep for two made-up functions.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.infra.bicep.files import File, deploy, read_sources
from tests.infra.bicep.resources import SUBSCRIPTION, Resource, Scope

OTHER_SUBSCRIPTION = "22222222-0000-0000-0000-000000000000"
ACCOUNT_IDS = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-alpha/providers/Microsoft.Batch/batchAccounts/alpha",
    f"/subscriptions/{OTHER_SUBSCRIPTION}/resourceGroups/rg-Beta/providers/Microsoft.Batch/batchAccounts/beta",
)
CLIENT_ID = "33333333-0000-0000-0000-000000000000"
WRITERS = (
    {"principalId": "44444444-0000-0000-0000-000000000000", "prefix": "accounts/alpha/pools/p1"},
    {"principalId": "55555555-0000-0000-0000-000000000000", "prefix": "accounts/alpha/pools/p10/"},
)
POOL_SUBNET = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-pools/providers/Microsoft.Network/virtualNetworks/v/subnets/p"
)
HUB = f"/subscriptions/{OTHER_SUBSCRIPTION}/resourceGroups/rg-hub/providers/Microsoft.Network/virtualNetworks"
CENTRAL_ZONES = f"/subscriptions/{OTHER_SUBSCRIPTION}/resourceGroups/rg-dns"
KEY = "https://vault.vault.azure.net/keys/storage"
KEY_USER = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-keys"
    "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-keys"
)
CREDENTIAL = "https://vault.vault.azure.net/secrets/sign-in"
OWN_RETIREMENT = {
    "id": "base-7", "what": "Base image 7", "when": {"image": ["contoso/base/7*"]}, "lastDay": None,
    "effect": "No patches.", "instead": "Base image 8.", "source": "https://wiki.contoso.example/",
    "readOn": "2026-11-29",
}  # fmt: skip
OWN_PRICE = {
    "vmSize": "Standard_D*", "region": "*", "os": "*", "priority": "*", "discountPercent": 12.5, "from": "2026-11-29",
}  # fmt: skip
PIPELINE_VARIABLES = {
    "ACCOUNT_ROLES": "",
    "ALERT_EMAIL": "",
    "AUTH_CLIENT_ID": CLIENT_ID,
    "AZURE_ENV_NAME": "dev",
    "AZURE_LOCATION": "westeurope",
    "BATCH_ACCOUNT_IDS": ACCOUNT_IDS[0],
}
"""What the parameter file's placeholders become."""
EVERYTHING: Mapping[str, Any] = {
    "environmentName": "prod",
    "location": "northeurope",
    "batchAccountIds": ", ".join(ACCOUNT_IDS),
    "loggedBatchAccountIds": ACCOUNT_IDS[1].upper(),
    "authClientId": CLIENT_ID,
    "leastPrivilegeBatchRole": True,
    "privateNetworking": True,
    "virtualNetworkAddressPrefix": "10.9.0.0/24",
    "appSubnetId": f"{HUB}/vnet-apps/subnets/batchscope",
    "endpointSubnetId": f"{HUB}/vnet-hub/subnets/endpoints",
    "dnsZoneGroupId": CENTRAL_ZONES,
    "privateBatchAccountIds": ACCOUNT_IDS[1],
    "privateInboundAccess": True,
    "allowedIpRanges": ["203.0.113.0/24"],
    "tags": {"costCenter": "42", "azd-env-name": "another"},
    "storageRedundancy": "GZRS",
    "encryptionKeyUri": KEY,
    "encryptionIdentityId": KEY_USER,
    "authCredentialUri": CREDENTIAL,
    "authEnabledSetting": True,
    "poolSubnetIds": [POOL_SUBNET],
    "telemetryWriters": [WRITERS[0]],
    "telemetryRetentionDays": 3,
    "resourceLogRetentionDays": 400,
    "logDailyQuotaGb": 7,
    "logRetentionDays": 60,
    "alertEmail": "operators@example.com",
    "instanceMemoryMB": 512,
    "maximumInstanceCount": 1,
    "httpConcurrency": 5,
    "accountRoles": "alpha=Reader:Alpha.Reader, beta=Operator:66666666-0000-0000-0000-000000000000",
    "retirements": json.dumps([OWN_RETIREMENT]),
    "priceSource": "retail",
    "readQuotas": "off",
    "fileReaders": "nobody",
    "outputDays": "33, alpha=12, alpha/secret=0",
    "outputMbPerDay": "201, alpha=20",
    "outputTasksOfEach": "6, alpha=4, alpha/wide=9",
    "outputTasksPerMinute": "62, alpha=6",
    "costLabels": "team, cost center",
    "priceCurrency": "EUR",
    "priceFile": json.dumps([OWN_PRICE]),
    "tickSchedule": "30 * * * * *",
    "pollSeconds": 61,
    "tickBudgetSeconds": 46,
    "pollOverlapSeconds": 31,
    "fullListMinutes": 16,
    "jobHorizonDays": 8,
    "fullReadHours": 25,
    "deletedJobDays": 32,
    "eventDays": 93,
    "telemetryMinuteDays": 97,
    "telemetryHourDays": 98,
    "telemetryPath": "flows/**/{task}/{attempt}/*",
    "historyMinuteDays": 6,
    "historyQuarterHourDays": 91,
    "pollStatusDays": 9,
    "housekeepingSchedule": "0 18 * * * *",
    "maxBatchCallsPerMinute": 3001,
    "batchPoolApiVersion": "2026-10-01",
}
"""A value other than its default for every parameter there is; no number twice, so that none passes for another."""
ODD: Mapping[str, Any] = {
    "environmentName": "My_Env.2",
    "location": "uksouth",
    "batchAccountIds": f" {ACCOUNT_IDS[1]} ,",
    "loggedBatchAccountIds": "none",
    "authClientId": CLIENT_ID,
    "leastPrivilegeBatchRole": True,
    "privateNetworking": True,
    "dnsZoneGroupId": "none",
    "privateBatchAccountIds": f", {ACCOUNT_IDS[1]}",
}
"""A name that no resource may bear as it is, a comma too many, no account in the deployment's own subscription, and
records that a policy makes."""
SECOND_ID = ACCOUNT_IDS[0].replace("batchAccounts/alpha", "batchAccounts/gamma")
SEVERAL: Mapping[str, Any] = {
    "environmentName": "several",
    "location": "northeurope",
    "batchAccountIds": f"{ACCOUNT_IDS[0]},{SECOND_ID}",
    "loggedBatchAccountIds": f"{ACCOUNT_IDS[0]},{SECOND_ID}",
    "authClientId": CLIENT_ID,
    "privateNetworking": True,
    "privateBatchAccountIds": f"{ACCOUNT_IDS[0]},{SECOND_ID}",
    "poolSubnetIds": [POOL_SUBNET, f"{POOL_SUBNET}2"],
    "allowedIpRanges": ["203.0.113.0/24", "198.51.100.7/32"],
    "tags": {"costCenter": "42", "owner": "operators"},
    "telemetryWriters": list(WRITERS),
}
"""Two accounts in one resource group, two subnets of pools, two writers of telemetry, two ranges, all with the built-in
role."""
OWN_NETWORK: Mapping[str, Any] = {
    name: value
    for name, value in EVERYTHING.items()
    if name not in {"appSubnetId", "endpointSubnetId", "dnsZoneGroupId", "poolSubnetIds"}
}
"""Everything, in a network and with zones that the deployment makes."""
THEIR_SUBNETS: Mapping[str, Any] = {name: value for name, value in EVERYTHING.items() if name != "dnsZoneGroupId"}
"""Everything, in subnets that others run, with zones that the deployment makes."""
PRIVATE: Mapping[str, Any] = {
    "environmentName": "private",
    "location": "westeurope",
    "batchAccountIds": ACCOUNT_IDS[0],
    "authClientId": CLIENT_ID,
    "privateNetworking": True,
}
"""Private storage, and nothing else that anybody asked for."""
GOVERNMENT: Mapping[str, Any] = {**OWN_NETWORK, "location": "usgovvirginia", "authCredentialUri": ""}
CHINA: Mapping[str, Any] = {
    **SEVERAL,
    "location": "chinaeast2",
    "privateNetworking": False,
    "privateInboundAccess": True,
}
"""Closed to the web without a network to come from: nobody gets in, rather than everybody."""
BLOB_TRIGGERS = (
    {"functionName": "node_telemetry", "containerName": "telemetry"},
    {"functionName": "batch_events", "containerName": "insights-logs-servicelog"},
)


@dataclass(frozen=True)
class Scenario:
    """One deployment of main.bicep."""

    name: str
    given: Mapping[str, Any]
    file: File
    cloud: str = "AzureCloud"

    @property
    def all(self) -> list[Resource]:
        return [resource for resource in self.file.everything if not resource.existing]

    def of(self, kind: str) -> list[Resource]:
        return [resource for resource in self.all if resource.type == kind]

    def one(self, kind: str, ending: str = "") -> Resource:
        """The only resource of a type, or the only one with such a name. Raises LookupError."""
        found = [resource for resource in self.of(kind) if resource.name.endswith(ending)]
        if len(found) != 1:
            raise LookupError(f"there are {len(found)} resources {kind} {ending}, not one")
        return found[0]

    def parameter(self, name: str) -> Any:
        return self.file.value(name)

    @property
    def watched_names(self) -> list[str]:
        return [
            part.strip().rpartition("/")[2] for part in self.parameter("batchAccountIds").split(",") if part.strip()
        ]

    @property
    def app(self) -> Resource:
        return self.one("Microsoft.Web/sites")

    @property
    def host_storage(self) -> Resource:
        return self.one("Microsoft.Storage/storageAccounts", self.parameter("names")["hostStorage"])

    @property
    def telemetry_storage(self) -> Resource:
        return self.one("Microsoft.Storage/storageAccounts", self.parameter("names")["telemetryStorage"])

    @property
    def settings(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.one("Microsoft.Web/sites/config", "appsettings").body["properties"]
        return found


@dataclass(frozen=True)
class Infrastructure:
    """A checkout, seen as infrastructure. Raises BicepError where it can't be worked out."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "infra"

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    @cached_property
    def parameter_file(self) -> dict[str, Any]:
        parameters: dict[str, Any] = json.loads(self.read("infra/main.parameters.json"))["parameters"]
        return {name: entry["value"] for name, entry in parameters.items()}

    @cached_property
    def _sources(self) -> Mapping[Path, bytes]:
        return read_sources(self.folder / "main.bicep")

    def main(
        self, parameters: Mapping[str, Any], subscription: str = SUBSCRIPTION, *, cloud: str = "AzureCloud"
    ) -> File:
        return deploy(self.folder / "main.bicep", Scope(subscription, cloud=cloud), parameters, self._sources)

    @property
    def everything_on(self) -> Scenario:
        return self.scenarios[1]

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        plain = {name: filled_in(value) for name, value in self.parameter_file.items()}
        pairs = (
            ("the parameter file", plain),
            ("everything on", EVERYTHING),
            ("odd values", ODD),
            ("two of each", SEVERAL),
            ("a network of its own", OWN_NETWORK),
            ("subnets of others", THEIR_SUBNETS),
            ("private storage", PRIVATE),
        )
        clouds = (("AzureUSGovernment", GOVERNMENT), ("AzureChinaCloud", CHINA))
        return (
            *(Scenario(name, given, self.main(given)) for name, given in pairs),
            *(Scenario(cloud, given, self.main(given, cloud=cloud), cloud) for cloud, given in clouds),
        )

    def events(self, **parameters: Any) -> File:
        given = {"appName": "func", "storageAccountName": "store", "triggers": list(BLOB_TRIGGERS), **parameters}
        return deploy(self.folder / "events.bicep", Scope(SUBSCRIPTION, "rg"), given)

    @property
    def bicep_files(self) -> list[Path]:
        return sorted(self.folder.rglob("*.bicep"))


def filled_in(value: Any) -> Any:
    """A value of the parameter file with its placeholders replaced, as `envsubst` and azd do."""
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", lambda found: PIPELINE_VARIABLES.get(found[1], ""), value)
    return value
