"""Who may do what: roles, the one identity, and sign-in."""

import json
from collections.abc import Callable, Iterator, Mapping

from tests.infra.bicep.abac import ADD, DELETE, READ, WRITE, BlobRequest, allows
from tests.infra.bicep.functions import FUNCTIONS, TENANT, environment_of
from tests.infra.bicep.resources import SUBSCRIPTION, Resource
from tests.infra.rules.scenarios import Infrastructure, Scenario

ROLES = {
    "azureBatchAccountReader": "11076f67-66f6-4be0-8f6b-f0609fd05cc9",
    "monitoringMetricsPublisher": "3913510d-42f4-4e42-8a64-420c390055eb",
    "storageBlobDataOwner": "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
    "storageQueueDataContributor": "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
    "storageTableDataContributor": "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3",
}
"""The built-in roles that may be assigned, and no others."""
_IDENTITY_SETTING = "OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID"
_SECRET_SETTING = "MICROSOFT_PROVIDER_AUTHENTICATION_SECRET"

_READING = {
    "actions": ["Microsoft.Batch/batchAccounts/read", "Microsoft.Batch/batchAccounts/pools/read"],
    "notActions": [],
    "dataActions": ["Microsoft.Batch/batchAccounts/jobs/read", "Microsoft.Batch/batchAccounts/jobSchedules/read"],
    "notDataActions": [],
}
_WRITING = {"actions": [], "notActions": [], "dataActions": [ADD, READ], "notDataActions": []}
_KINDS = (
    ("the role that reads Batch", "batchscope", "leastPrivilegeBatchRole", _READING),
    ("the role that writes telemetry", "batchscope-telemetry", "telemetryWriters", _WRITING),
)
"""Custom roles: what they are, how their ids are made, the parameter that asks for them, and what they permit."""


def allowed_roles(infrastructure: Infrastructure) -> Iterator[str]:
    held: Mapping[str, str] = json.loads(infrastructure.read("infra/roles.json"))
    for name, role in held.items():
        if ROLES.get(name) != role:
            yield f"roles.json: {name} is not allowed, or is not {role}"


def assigned_roles(scenario: Scenario) -> Iterator[str]:
    """Exactly the roles that are needed, each to whom and where it is needed."""
    found = {
        (one.scope.lower(), str(one.get("properties.principalId")), _role(one)): one
        for one in scenario.of("Microsoft.Authorization/roleAssignments")
    }
    wanted = {(scope.lower(), principal, role) for scope, principal, role in _wanted_roles(scenario)}
    for scope, principal, role in found.keys() - wanted:
        yield f"{principal} has no need of the role {role} on {scope}"
    for scope, principal, role in wanted - found.keys():
        yield f"{principal} lacks the role {role} on {scope}"
    for one in found.values():
        subscription = "/".join(one.scope.split("/")[:3])
        role = f"{subscription}/providers/Microsoft.Authorization/roleDefinitions/{_role(one)}"
        if one.get("properties.roleDefinitionId") != role:
            yield f"{one.file}: {one.symbol} assigns {one.get('properties.roleDefinitionId')}, not {role}"


def _role(assignment: Resource) -> str:
    return str(assignment.get("properties.roleDefinitionId")).rpartition("/")[2]


def _wanted_roles(scenario: Scenario) -> Iterator[tuple[str, str, str]]:
    principal = f"principal of {scenario.identity.id}"
    host, telemetry = scenario.host_storage.id, scenario.telemetry_storage.id
    for name in ("storageBlobDataOwner", "storageQueueDataContributor", "storageTableDataContributor"):
        yield host, principal, ROLES[name]
    for name in ("storageBlobDataOwner", "storageQueueDataContributor"):
        yield telemetry, principal, ROLES[name]
    component = scenario.one("Microsoft.Insights/components").id
    yield component, principal, ROLES["monitoringMetricsPublisher"]
    custom = _custom_roles(scenario)
    for account in scenario.watched:
        reader = custom.get("batchscope")
        yield account, principal, reader.name if reader else ROLES["azureBatchAccountReader"]
    for writer in scenario.parameter("telemetryWriters"):
        container = f"{telemetry}/blobServices/default/containers/telemetry"
        yield container, writer["principalId"], custom["batchscope-telemetry"].name


def _custom_roles(scenario: Scenario) -> dict[str, Resource]:
    """Definitions of roles by what their ids are made from."""
    environment = scenario.parameter("environmentName")
    ids = {FUNCTIONS["guid"](f"/subscriptions/{SUBSCRIPTION}", kind, environment): kind for _, kind, _, _ in _KINDS}
    return {ids.get(one.name, one.name): one for one in scenario.of("Microsoft.Authorization/roleDefinitions")}


def custom_roles(scenario: Scenario) -> Iterator[str]:
    """Each permits what it must, can be assigned where it must, and is there when it is asked for."""
    found = _custom_roles(scenario)
    if found.keys() != {kind for _, kind, parameter, _ in _KINDS if scenario.parameter(parameter)}:
        yield f"there are the custom roles {sorted(found)}, but each should be when its parameter asks for it"
    for told, kind, parameter, permissions in _KINDS:
        role = found.get(kind)
        if role is None:
            continue
        if role.get("properties.permissions") != [permissions]:
            yield f"{told} permits {role.get('properties.permissions')}"
        accounts = {"/".join(account.lower().split("/")[:3]) for account in scenario.watched}
        elsewhere = accounts if parameter == "leastPrivilegeBatchRole" else set()
        if sorted(role.get("properties.assignableScopes")) != sorted(elsewhere | {f"/subscriptions/{SUBSCRIPTION}"}):
            yield f"{told} can be assigned in {role.get('properties.assignableScopes')}"
        if scenario.parameter("environmentName") not in role.get("properties.roleName"):
            yield f"the name of {told} is not of its environment only"


def writers_keep_to_their_folders(scenario: Scenario) -> Iterator[str]:
    """Each writer makes, appends to, reads and lists blobs below its own prefix, and touches no other blob."""
    prefixes = {
        writer["principalId"]: writer["prefix"].rstrip("/") for writer in scenario.parameter("telemetryWriters")
    }
    for found in scenario.of("Microsoft.Authorization/roleAssignments"):
        condition, version = found.get("properties.condition"), found.get("properties.conditionVersion")
        own = prefixes.get(found.get("properties.principalId"))
        if (condition is None) != (own is None) or version != (None if own is None else "2.0"):
            yield f"{found.file}: {found.get('properties.principalId')} holds a role on the condition {condition}"
        elif own is not None:
            for request, allowed in _tried(own):
                if allows(condition, request) != allowed:
                    yield f"{found.file}: the writer of {own} may{' not' if allowed else ''} do {request}"


def _tried(own: str) -> Iterator[tuple[BlobRequest, bool]]:
    """Requests, and whether the condition of the writer of `own` should let them pass; the role permits no others."""
    beside = (f"{own}0/a.json", f"{own}.json", own, "accounts/other/a.json", f"x/{own}/a.json", own.upper() + "/a", "")
    for action in (READ, ADD):
        yield BlobRequest(action, path=f"{own}/a.json"), True
        yield BlobRequest(action, path=f"{own}/nodes/n/b/c.json"), True
        for path in beside:
            yield BlobRequest(action, path=path), False
    for prefix in (f"{own}/", f"{own}/nodes/"):
        yield BlobRequest(READ, prefix=prefix), True
    for asked in (*beside, None):
        yield BlobRequest(READ, prefix=asked), False


def no_right_to_overwrite(scenario: Scenario) -> Iterator[str]:
    """No custom role overwrites or deletes blobs, or reaches them by a wildcard."""
    for role in scenario.of("Microsoft.Authorization/roleDefinitions"):
        for permission in role.get("properties.permissions"):
            granted = [*permission["actions"], *permission["dataActions"]]
            if any(one in {WRITE, DELETE} or "*" in one for one in granted):
                yield f"{role.get('properties.roleName')} may do {granted}"


def identity_everywhere(scenario: Scenario) -> Iterator[str]:
    """The app bears the one identity, and every client id in its settings is that identity's."""
    identity, site, client = scenario.identity, scenario.app, f"client of {scenario.identity.id}"
    if list(site.get("identity.userAssignedIdentities")) != [identity.id]:
        yield f"the app bears {list(site.get('identity.userAssignedIdentities'))}"
    authentication = "properties.functionAppConfig.deployment.storage.authentication.userAssignedIdentityResourceId"
    if site.get(authentication) != identity.id:
        yield "the package is not read with the app's identity"
    insights = scenario.one("Microsoft.Insights/components")
    wanted = {
        "APPLICATIONINSIGHTS_CONNECTION_STRING": f"address of {insights.id}",
        "APPLICATIONINSIGHTS_AUTHENTICATION_STRING": f"ClientId={client};Authorization=AAD",
        "AZURE_CLIENT_ID": client,
        **_host_storage(scenario),
        **_signing_in(scenario, client),
        "WEBSITE_AUTH_ENABLED": "true" if scenario.parameter("authEnabledSetting") else None,
        "AzureWebJobsStorage__clientId": client,
        "AzureWebJobsStorage__credential": "managedidentity",
        "AzureWebJobsDisableHomepage": "true",
        "TELEMETRY_STORAGE__blobServiceUri": storage_address(scenario, scenario.telemetry_storage, "blob"),
        "TELEMETRY_STORAGE__clientId": client,
        "TELEMETRY_STORAGE__credential": "managedidentity",
        "TELEMETRY_STORAGE__queueServiceUri": storage_address(scenario, scenario.telemetry_storage, "queue"),
    }
    held_with_secret = site.get("properties.keyVaultReferenceIdentity")
    if held_with_secret != (identity.id if scenario.parameter("authCredentialUri") else None):
        yield f"the platform reads Key Vaults as {held_with_secret}"
    for name, value in wanted.items():
        if scenario.settings.get(name) != value:
            yield f"the setting {name} is {scenario.settings.get(name)!r}, not {value!r}"


def storage_address(scenario: Scenario, account: Resource, service: str) -> str:
    return f"https://{account.name}.{service}.{environment_of(scenario.cloud)['suffixes']['storage']}/"


def _host_storage(scenario: Scenario) -> dict[str, str | None]:
    """In the public cloud the host is told the account's name, and in others, where it can't make addresses, these."""
    by_name = scenario.cloud == "AzureCloud"
    addresses = {
        f"AzureWebJobsStorage__{service}ServiceUri": storage_address(scenario, scenario.host_storage, service)
        for service in ("blob", "queue", "table")
    }
    return {
        "AzureWebJobsStorage__accountName": scenario.host_storage.name if by_name else None,
        **(dict.fromkeys(addresses) if by_name else addresses),
    }


def _signing_in(scenario: Scenario, client: str) -> dict[str, str | None]:
    """The app's identity speaks for the registration, or a secret does that stays in its vault."""
    uri = scenario.parameter("authCredentialUri")
    return {
        _IDENTITY_SETTING: None if uri else client,
        _SECRET_SETTING: f"@Microsoft.KeyVault(SecretUri={uri})" if uri else None,
    }


def sign_in(scenario: Scenario) -> Iterator[str]:
    found = scenario.one("Microsoft.Web/sites/config", "authsettingsV2")
    provider = "properties.identityProviders.azureActiveDirectory"
    client = scenario.parameter("authClientId")
    login = environment_of(scenario.cloud)["authentication"]["loginEndpoint"]
    wanted = {
        "registration.clientId": client,
        "registration.clientSecretSettingName": _SECRET_SETTING
        if scenario.parameter("authCredentialUri")
        else _IDENTITY_SETTING,
        "registration.openIdIssuer": f"{login}{TENANT}/v2.0",
        "validation.allowedAudiences": [client, f"api://{client}"],
    }
    for path, value in wanted.items():
        if found.get(f"{provider}.{path}") != value:
            yield f"sign-in: {path} is {found.get(f'{provider}.{path}')!r}, not {value!r}"
    module = next(module for module in scenario.file.modules if found in module.file.everything)
    if scenario.one("Microsoft.Web/sites/config", "appsettings").symbol not in module.file.depends_on(found.symbol):
        yield "sign-in is set up before the setting that it names"
    for config in scenario.of("Microsoft.Web/sites/config"):
        if not config.id.startswith(f"{scenario.app.id}/"):
            yield f"{config.name} is of another app"


def every_policy_of_publishing(scenario: Scenario) -> Iterator[str]:
    held = {found.id.lower() for found in scenario.of("Microsoft.Web/sites/basicPublishingCredentialsPolicies")}
    for site in scenario.of("Microsoft.Web/sites"):
        for channel in ("ftp", "scm"):
            if f"{site.id}/basicPublishingCredentialsPolicies/{channel}".lower() not in held:
                yield f"{site.name} takes a password over {channel}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (allowed_roles,)
SCENARIO_RULES: tuple[Callable[[Scenario], Iterator[str]], ...] = (
    assigned_roles,
    custom_roles,
    every_policy_of_publishing,
    identity_everywhere,
    no_right_to_overwrite,
    sign_in,
    writers_keep_to_their_folders,
)
