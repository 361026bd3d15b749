"""What no table of expectations can say of a resource: what keeps it safe, no secrets, nothing that Azure refuses."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.infra.bicep.functions import SECRET
from tests.infra.bicep.resources import Resource
from tests.infra.rules.expectations import files_of, leaves
from tests.infra.rules.scenarios import Infrastructure

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


def no_secrets(infrastructure: Infrastructure) -> Iterator[str]:
    """No secret in outputs, settings or properties; the webhook's address is the one place that has to hold a key."""
    events = infrastructure.events()
    for file in (*(scenario.file for scenario in infrastructure.scenarios), events):
        for inner in files_of(file):
            for name, value in inner.outputs.items():
                if _SECRET_NAME.search(name.replace("_", " ")) or any(map(_is_secret, _entries(value))):
                    yield f"{inner.path.name}: the output {name} gives away a secret"
        for found in file.everything:
            for path, value in leaves(found.body):
                if not (file is events and path.endswith("destination.properties.endpointUrl")):
                    for entry in _entries(value):
                        yield from _given_away(found, path, entry)


def _entries(value: Any) -> Iterator[Any]:
    """Yields what a value holds; lists of plain values are leaves of their own."""
    for _, leaf in leaves(value):
        yield from leaf if isinstance(leaf, list) else [leaf]


def _given_away(found: Resource, path: str, value: Any) -> Iterator[str]:
    name = path.rpartition(".")[2]
    sounds = bool(_SECRET_NAME.search(name.replace("_", " "))) and name not in _SECRET_FREE
    if _is_secret(value) or (sounds and isinstance(value, str) and not _IN_A_VAULT.fullmatch(value)):
        yield f"{found.file}: {found.name}: {path} holds a secret"
    if isinstance(value, str) and re.match(r"http://|0\.0\.0\.0", value):
        yield f"{found.file}: {found.name}: {path} is {value}"


_NONE: tuple[object, ...] = (None, [])
_SAFE: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "Microsoft.Authorization/roleAssignments": {"properties.principalType": ("ServicePrincipal",)},
    "Microsoft.EventGrid/systemTopics/eventSubscriptions": {
        "properties.destination.properties.minimumTlsVersionAllowed": ("1.2", "1.3")
    },
    "Microsoft.Insights/components": {"properties.DisableLocalAuth": (True,)},
    "Microsoft.OperationalInsights/workspaces": {"properties.features.disableLocalAuth": (True,)},
    "Microsoft.Storage/storageAccounts": {
        "properties.allowBlobPublicAccess": (False,),
        "properties.allowCrossTenantReplication": (False,),
        "properties.allowSharedKeyAccess": (False,),
        "properties.defaultToOAuthAuthentication": (True,),
        "properties.isLocalUserEnabled": (None, False),
        "properties.isSftpEnabled": (None, False),
        "properties.minimumTlsVersion": ("TLS1_2", "TLS1_3"),
        "properties.networkAcls.ipRules": _NONE,
        "properties.networkAcls.resourceAccessRules": _NONE,
        "properties.supportsHttpsTrafficOnly": (True,),
    },
    "Microsoft.Storage/storageAccounts/blobServices": {
        "properties.cors": _NONE,
        "properties.deleteRetentionPolicy.enabled": (True,),
    },
    "Microsoft.Storage/storageAccounts/blobServices/containers": {"properties.publicAccess": ("None",)},
    "Microsoft.Web/sites": {
        "identity.type": ("UserAssigned",),
        "properties.functionAppConfig.deployment.storage.authentication.type": ("UserAssignedIdentity",),
        "properties.httpsOnly": (True,),
        "properties.siteConfig.appSettings": _NONE,
        "properties.siteConfig.connectionStrings": _NONE,
        "properties.siteConfig.cors": _NONE,
        "properties.siteConfig.minTlsVersion": ("1.2", "1.3"),
        "properties.siteConfig.remoteDebuggingEnabled": (False,),
        "properties.siteConfig.scmMinTlsVersion": ("1.2", "1.3"),
    },
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": {"properties.allow": (False,)},
    "authsettingsV2": {
        "properties.platform.enabled": (True,),
        "properties.globalValidation.requireAuthentication": (True,),
        "properties.globalValidation.unauthenticatedClientAction": ("RedirectToLoginPage", "Return401"),
        "properties.globalValidation.excludedPaths": (["/api/health", "/runtime/webhooks/blobs"],),
        "properties.httpSettings.requireHttps": (True,),
        "properties.identityProviders.azureActiveDirectory.enabled": (True,),
        "properties.login.allowedExternalRedirectUrls": _NONE,
        "properties.login.nonce.validateNonce": (None, True),
        "properties.login.tokenStore.enabled": (False,),
    },
}
"""What no renewed table may have otherwise, by the type or the name of a resource: the values that are safe."""


def safe_resources(infrastructure: Infrastructure) -> Iterator[str]:
    for file in (*(scenario.file for scenario in infrastructure.scenarios), infrastructure.events()):
        for found in (found for found in file.everything if not found.existing):
            for path, safe in {**_SAFE.get(found.type, {}), **_SAFE.get(found.name, {})}.items():
                if found.get(path) not in safe:
                    yield f"{found.file}: {found.type} {found.name}: {path} can't be {found.get(path)!r}"


def _is_secret(value: Any) -> bool:
    return isinstance(value, str) and (SECRET in value or bool(_SECRET_TEXT.search(value)))


_REFUSED_BY_FLEX = re.compile(
    r"alwaysOn|ftpsState|functionsRuntimeScaleMonitoringEnabled|(java|netFramework|powerShell)Version"
    r"|(linux|windows)FxVersion|preWarmedInstanceCount|use32BitWorkerProcess|vnetRouteAllEnabled"
    r"|ENABLE_ORYX_BUILD|FUNCTIONS_EXTENSION_VERSION|FUNCTIONS_MAX_HTTP_CONCURRENCY"
    r"|FUNCTIONS_WORKER_(DYNAMIC_CONCURRENCY_ENABLED|PROCESS_COUNT|RUNTIME(_VERSION)?)|SCM_DO_BUILD_DURING_DEPLOYMENT|TZ"
    r"|WEBSITE_(CONTENTAZUREFILECONNECTIONSTRING|CONTENTOVERVNET|CONTENTSHARE|DNS_SERVER|NODE_DEFAULT_VERSION|TIME_ZONE"
    r"|MAX_DYNAMIC_APPLICATION_SCALE_OUT|RUN_FROM_PACKAGE|SKIP_CONTENTSHARE_VALIDATION|VNET_ROUTE_ALL)"
)
"""Site properties and app settings that Flex Consumption refuses, ignores, or replaces by `functionAppConfig`.

Source: "App settings reference for Azure Functions", Flex Consumption plan deprecations; ARM error 51021, "The
following list of site configuration properties … for Flex Consumption sites is invalid".
"""


def taken_by_flex(infrastructure: Infrastructure) -> Iterator[str]:
    for scenario in infrastructure.scenarios:
        settings = {name.upper() for name in scenario.settings}
        for name in sorted(
            filter(_REFUSED_BY_FLEX.fullmatch, scenario.app.get("properties.siteConfig").keys() | settings)
        ):
            yield f"Flex Consumption refuses {name}"
        if "alwaysReady" in scenario.app.get("properties.functionAppConfig.scaleAndConcurrency"):
            yield "instances that are always ready cost money day and night"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (safe_resources, no_secrets, taken_by_flex)
