"""What must hold for each resource of a kind, whoever declares it: versions, safety, region, tags.

A kind that these tables don't know is a fault: whoever adds one says here what makes it safe.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.infra.bicep.files import File
from tests.infra.bicep.functions import SECRET
from tests.infra.bicep.resources import Resource
from tests.infra.rules.scenarios import Infrastructure

API_VERSIONS = {
    "Microsoft.Authorization/roleAssignments": "2022-04-01",
    "Microsoft.Authorization/roleDefinitions": "2022-04-01",
    "Microsoft.Batch/batchAccounts": "2025-06-01",
    "Microsoft.EventGrid/systemTopics": "2025-02-15",
    "Microsoft.EventGrid/systemTopics/eventSubscriptions": "2025-02-15",
    "Microsoft.Insights/actionGroups": "2023-01-01",
    "Microsoft.Insights/components": "2020-02-02",
    "Microsoft.Insights/diagnosticSettings": "2021-05-01-preview",
    "Microsoft.Insights/scheduledQueryRules": "2023-12-01",
    "Microsoft.ManagedIdentity/userAssignedIdentities": "2024-11-30",
    "Microsoft.Network/privateDnsZones": "2024-06-01",
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks": "2024-06-01",
    "Microsoft.Network/privateEndpoints": "2025-05-01",
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups": "2025-05-01",
    "Microsoft.Network/virtualNetworks": "2025-05-01",
    "Microsoft.Network/virtualNetworks/subnets": "2025-05-01",
    "Microsoft.OperationalInsights/workspaces": "2025-07-01",
    "Microsoft.Resources/resourceGroups": "2025-04-01",
    "Microsoft.Storage/storageAccounts": "2025-06-01",
    "Microsoft.Storage/storageAccounts/blobServices": "2025-06-01",
    "Microsoft.Storage/storageAccounts/blobServices/containers": "2025-06-01",
    "Microsoft.Storage/storageAccounts/managementPolicies": "2025-06-01",
    "Microsoft.Web/serverfarms": "2025-03-01",
    "Microsoft.Web/sites": "2025-03-01",
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": "2025-03-01",
    "Microsoft.Web/sites/config": "2025-03-01",
}
"""Versions whose types were looked up; a newer one is entered here together with the change."""

type Test = Callable[[Any], bool]


def _is(*wanted: Any) -> Test:
    return lambda value: any(value == one and type(value) is type(one) for one in wanted)


def _longer_than(size: int) -> Test:
    return lambda value: isinstance(value, str | list | dict) and len(value) > size


def _from(low: int, high: int) -> Test:
    return lambda value: type(value) is int and low <= value <= high


_SAFE: Mapping[str, Mapping[str, Test]] = {
    "Microsoft.Authorization/roleAssignments": {"properties.principalType": _is("ServicePrincipal")},
    "Microsoft.Authorization/roleDefinitions": {"properties.type": _is("CustomRole")},
    "Microsoft.EventGrid/systemTopics": {"properties.topicType": _is("Microsoft.Storage.StorageAccounts")},
    "Microsoft.EventGrid/systemTopics/eventSubscriptions": {
        "properties.destination.endpointType": _is("WebHook"),
        "properties.destination.properties.minimumTlsVersionAllowed": _is("1.2"),
        "properties.eventDeliverySchema": _is("EventGridSchema"),
        "properties.filter.includedEventTypes": _is(["Microsoft.Storage.BlobCreated"]),
        "properties.retryPolicy.eventTimeToLiveInMinutes": _from(60, 1440),
        "properties.retryPolicy.maxDeliveryAttempts": _from(10, 30),
    },
    "Microsoft.Insights/actionGroups": {
        "properties.enabled": _is(True),
        "properties.emailReceivers": lambda value: bool(value) and all(one["useCommonAlertSchema"] for one in value),
        "properties.groupShortName": _is("batchscope"),
    },
    "Microsoft.Insights/components": {
        "kind": _is("web"),
        "properties.DisableLocalAuth": _is(True),
        "properties.IngestionMode": _is("LogAnalytics"),
        "properties.WorkspaceResourceId": _longer_than(0),
        "properties.Application_Type": _is("web"),
    },
    "Microsoft.Insights/diagnosticSettings": {"properties.storageAccountId": _longer_than(0)},
    "Microsoft.Insights/scheduledQueryRules": {
        "kind": _is("LogAlert"),
        "properties.autoMitigate": _is(True),
        "properties.skipQueryValidation": _is(True),
        "properties.enabled": _is(True),
        "properties.evaluationFrequency": _is("PT5M"),
        "properties.scopes": _longer_than(0),
        "properties.actions.actionGroups": _longer_than(0),
        "properties.description": _longer_than(20),
        "properties.criteria.allOf": _longer_than(0),
    },
    "Microsoft.ManagedIdentity/userAssignedIdentities": {},
    "Microsoft.Network/privateDnsZones": {},
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks": {"properties.registrationEnabled": _is(False)},
    "Microsoft.Network/privateEndpoints": {"properties.privateLinkServiceConnections": _longer_than(0)},
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups": {"properties.privateDnsZoneConfigs": _longer_than(0)},
    "Microsoft.Network/virtualNetworks": {"properties.addressSpace.addressPrefixes": _longer_than(0)},
    "Microsoft.OperationalInsights/workspaces": {
        "properties.features.disableLocalAuth": _is(True),
        "properties.features.enableLogAccessUsingOnlyResourcePermissions": _is(True),
        "properties.workspaceCapping.dailyQuotaGb": _from(1, 1000),
        "properties.retentionInDays": _from(30, 730),
        "properties.sku.name": _is("PerGB2018"),
    },
    "Microsoft.Resources/resourceGroups": {},
    "Microsoft.Storage/storageAccounts": {
        "kind": _is("StorageV2"),
        "properties.allowBlobPublicAccess": _is(False),
        "properties.allowCrossTenantReplication": _is(False),
        "properties.allowSharedKeyAccess": _is(False),
        "properties.defaultToOAuthAuthentication": _is(True),
        "properties.accessTier": _is("Hot"),
        "properties.minimumTlsVersion": _is("TLS1_2", "TLS1_3"),
        "properties.supportsHttpsTrafficOnly": _is(True),
        "properties.networkAcls.bypass": _is("AzureServices"),
        "properties.isSftpEnabled": _is(None, False),
        "properties.isLocalUserEnabled": _is(None, False),
        "properties.isNfsV3Enabled": _is(None, False),
    },
    "Microsoft.Storage/storageAccounts/blobServices": {
        "properties.deleteRetentionPolicy.enabled": _is(True),
        "properties.deleteRetentionPolicy.days": _is(7),
        "properties.cors": _is(None),
    },
    "Microsoft.Storage/storageAccounts/blobServices/containers": {"properties.publicAccess": _is("None")},
    "Microsoft.Storage/storageAccounts/managementPolicies": {"properties.policy.rules": _longer_than(0)},
    "Microsoft.Web/serverfarms": {
        "kind": _is("functionapp"),
        "sku.name": _is("FC1"),
        "sku.tier": _is("FlexConsumption"),
        "properties.reserved": _is(True),
    },
    "Microsoft.Web/sites": {
        "kind": _is("functionapp,linux"),
        "identity.type": _is("UserAssigned"),
        "properties.httpsOnly": _is(True),
        "properties.clientAffinityEnabled": _is(None, False),
        "properties.functionAppConfig.runtime.name": _is("python"),
        "properties.functionAppConfig.deployment.storage.type": _is("blobContainer"),
        "properties.functionAppConfig.deployment.storage.authentication.type": _is("UserAssignedIdentity"),
        "properties.siteConfig.cors": _is(None),
        "properties.siteConfig.appSettings": _is(None),
        "properties.siteConfig.connectionStrings": _is(None),
        "properties.siteConfig.http20Enabled": _is(True),
        "properties.siteConfig.minTlsVersion": _is("1.2", "1.3"),
        "properties.siteConfig.remoteDebuggingEnabled": _is(False),
        "properties.siteConfig.scmMinTlsVersion": _is("1.2", "1.3"),
    },
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": {"properties.allow": _is(False)},
    "Microsoft.Web/sites/config": {},
}
_SIGN_IN: Mapping[str, Test] = {
    "properties.platform.enabled": _is(True),
    "properties.globalValidation.requireAuthentication": _is(True),
    "properties.globalValidation.unauthenticatedClientAction": _is("RedirectToLoginPage", "Return401"),
    "properties.globalValidation.redirectToProvider": _is("azureactivedirectory"),
    "properties.globalValidation.excludedPaths": _is(["/api/health", "/runtime/webhooks/blobs"]),
    "properties.httpSettings.requireHttps": _is(True),
    "properties.identityProviders.azureActiveDirectory.enabled": _is(True),
    "properties.login.tokenStore.enabled": _is(False),
    "properties.login.allowedExternalRedirectUrls": _is(None),
}
_GLOBAL_KINDS = {
    "Microsoft.Insights/actionGroups",
    "Microsoft.Network/privateDnsZones",
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks",
}
_PLACELESS = re.compile(
    r"Microsoft\.(Authorization/.*|Insights/diagnosticSettings|Storage/storageAccounts/.+|Web/sites/.+"
    r"|Network/privateEndpoints/.+|Batch/.*|EventGrid/systemTopics/.+)"
)
_SECRET_NAME = re.compile(
    r"password|pwd|secret|accountkey|sharedkey|accesskey|connectionstring|sastoken|\bkey\b", re.IGNORECASE
)
_SECRET_TEXT = re.compile(
    r"AccountKey=|SharedAccessKey|SharedAccessSignature|[?&]sig=|DefaultEndpointsProtocol", re.IGNORECASE
)
_SECRET_FREE = {
    "clientSecretSettingName",
    "APPLICATIONINSIGHTS_CONNECTION_STRING",
    "allowSharedKeyAccess",
    "keyname",
}
"""Properties that sound like secrets and are none: the name of a setting or a key, an address, a switch."""
_IN_A_VAULT = re.compile(r"@Microsoft\.KeyVault\(SecretUri=https://[\w.-]+/secrets/[\w-]+\)")


def judged(found: Resource, tests: Mapping[str, Test]) -> Iterator[str]:
    for path, passes in tests.items():
        value = found.get(path)
        if not passes(value):
            yield f"{found.file}: {found.type} {found.name}: {path} can't be {value!r}"


def safe_resources(infrastructure: Infrastructure) -> Iterator[str]:
    for scenario in infrastructure.scenarios:
        yield from _safe(scenario.all)
    yield from _safe([found for found in infrastructure.events().everything if not found.existing])


def _safe(resources: list[Resource]) -> Iterator[str]:
    for found in resources:
        if found.type not in _SAFE:
            yield f"{found.file}: nothing says yet what makes a {found.type} safe"
            continue
        yield from judged(found, _tests(found))


def _tests(found: Resource) -> Mapping[str, Test]:
    return _SIGN_IN if found.name == "authsettingsV2" else _SAFE.get(found.type, {})


def judged_paths(found: Resource) -> set[str]:
    """The properties of a resource whose values are judged here."""
    return set(_tests(found))


def known_versions(infrastructure: Infrastructure) -> Iterator[str]:
    everything = [found for scenario in infrastructure.scenarios for found in scenario.file.everything]
    for found in [*everything, *infrastructure.events().everything]:
        if API_VERSIONS.get(found.type) != found.api_version:
            yield f"{found.file}: {found.type} is not known at {found.api_version}"


def one_region(infrastructure: Infrastructure) -> Iterator[str]:
    for scenario in infrastructure.scenarios:
        for found in scenario.all:
            wanted = "global" if found.type in _GLOBAL_KINDS else scenario.parameter("location")
            if _PLACELESS.fullmatch(found.type):
                continue
            if found.get("location") != wanted:
                yield f"{found.file}: {found.name} stands in {found.get('location')!r}, not in {wanted!r}"
            tags = {**scenario.parameter("tags"), "azd-env-name": scenario.parameter("environmentName")}
            if found.type == "Microsoft.Web/sites":
                tags["azd-service-name"] = "app"
            if found.get("tags") != tags:
                yield f"{found.file}: {found.name} has the tags {found.get('tags')}, not {tags}"


def no_secrets(infrastructure: Infrastructure) -> Iterator[str]:
    """No secret in outputs, settings or properties; the webhook's address is the one place that has to hold a key."""
    for scenario in infrastructure.scenarios:
        for file in (scenario.file, *(module.file for module in scenario.file.modules)):
            yield from _secret_outputs(file)
        for found in scenario.all:
            for path, value in leaves(found.body):
                yield from _given_away(found, path, value)
    for found in infrastructure.events().everything:
        for path, value in leaves(found.body):
            if not path.endswith("destination.properties.endpointUrl"):
                yield from _given_away(found, path, value)
    for name, value in infrastructure.events().outputs.items():
        yield f"events.bicep needs no output, but gives {name}: {value!r}"


def _secret_outputs(file: File) -> Iterator[str]:
    for name, value in file.outputs.items():
        if _SECRET_NAME.search(name.replace("_", " ")) or _is_secret(value):
            yield f"{file.path.name}: the output {name} gives away a secret"


def _given_away(found: Resource, path: str, value: Any) -> Iterator[str]:
    name = path.rpartition(".")[2]
    sounds = bool(_SECRET_NAME.search(name.replace("_", " "))) and name not in _SECRET_FREE
    if _is_secret(value) or (sounds and isinstance(value, str) and not _IN_A_VAULT.fullmatch(value)):
        yield f"{found.file}: {found.name}: {path} holds a secret"


def _is_secret(value: Any) -> bool:
    return isinstance(value, str) and (SECRET in value or bool(_SECRET_TEXT.search(value)))


def encrypted_ways(infrastructure: Infrastructure) -> Iterator[str]:
    """Nothing speaks or listens without TLS, to everybody's addresses, or by a connection string."""
    for scenario in infrastructure.scenarios:
        for found in scenario.all:
            for path, value in leaves(found.body):
                if isinstance(value, str) and re.match(r"http://|0\.0\.0\.0", value):
                    yield f"{found.file}: {found.name}: {path} is {value}"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that holds no others, with its path."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{place}]")
    elif not isinstance(value, Resource):
        yield path, value


RULES = (
    safe_resources,
    known_versions,
    one_region,
    no_secrets,
    encrypted_ways,
)
