"""Who may do what: roles, the one identity, and sign-in."""

import json
from collections.abc import Callable, Iterator, Mapping

from tests.infra.bicep_functions import TENANT
from tests.infra.bicep_resources import SUBSCRIPTION, Resource
from tests.infra.scenarios import Infrastructure, Scenario

ROLES = {
    "azureBatchAccountReader": "11076f67-66f6-4be0-8f6b-f0609fd05cc9",
    "monitoringMetricsPublisher": "3913510d-42f4-4e42-8a64-420c390055eb",
    "storageBlobDataContributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
    "storageBlobDataOwner": "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
    "storageQueueDataContributor": "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
    "storageTableDataContributor": "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3",
}
"""The built-in roles that may be assigned, and no others."""


_READING = {
    "actions": ["Microsoft.Batch/batchAccounts/read", "Microsoft.Batch/batchAccounts/pools/read"],
    "notActions": [],
    "dataActions": ["Microsoft.Batch/batchAccounts/jobs/read", "Microsoft.Batch/batchAccounts/jobSchedules/read"],
    "notDataActions": [],
}


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
    custom = scenario.of("Microsoft.Authorization/roleDefinitions")
    for account in scenario.watched:
        yield account, principal, custom[0].name if custom else ROLES["azureBatchAccountReader"]
    for writer in scenario.parameter("telemetryWriterPrincipalIds"):
        container = f"{telemetry}/blobServices/default/containers/telemetry"
        yield container, writer, ROLES["storageBlobDataContributor"]


def custom_role(scenario: Scenario) -> Iterator[str]:
    """The least-privilege role reads what it must, can be assigned where it must, and is there when it is asked for."""
    found = scenario.of("Microsoft.Authorization/roleDefinitions")
    if len(found) != int(scenario.parameter("leastPrivilegeBatchRole")):
        yield "the custom role should be there when leastPrivilegeBatchRole says so, and only then"
    for role in found:
        if role.get("properties.permissions") != [_READING]:
            yield f"the custom role permits {role.get('properties.permissions')}"
        accounts = {"/".join(account.lower().split("/")[:3]) for account in scenario.watched}
        scopes = sorted(accounts | {f"/subscriptions/{SUBSCRIPTION}"})
        if sorted(role.get("properties.assignableScopes")) != scopes:
            yield f"the custom role can be assigned in {role.get('properties.assignableScopes')}"
        if scenario.parameter("environmentName") not in role.get("properties.roleName"):
            yield "the custom role's name is not of its environment only"


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
        "AzureWebJobsStorage__accountName": scenario.host_storage.name,
        "AzureWebJobsStorage__clientId": client,
        "AzureWebJobsStorage__credential": "managedidentity",
        "AzureWebJobsDisableHomepage": "true",
        "OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID": client,
        "TELEMETRY_STORAGE__blobServiceUri": f"https://{scenario.telemetry_storage.name}.blob.core.windows.net/",
        "TELEMETRY_STORAGE__clientId": client,
        "TELEMETRY_STORAGE__credential": "managedidentity",
        "TELEMETRY_STORAGE__queueServiceUri": f"https://{scenario.telemetry_storage.name}.queue.core.windows.net/",
    }
    for name, value in wanted.items():
        if scenario.settings.get(name) != value:
            yield f"the setting {name} is {scenario.settings.get(name)!r}, not {value!r}"


def sign_in(scenario: Scenario) -> Iterator[str]:
    found = scenario.one("Microsoft.Web/sites/config", "authsettingsV2")
    provider = "properties.identityProviders.azureActiveDirectory"
    client = scenario.parameter("authClientId")
    wanted = {
        "registration.clientId": client,
        "registration.clientSecretSettingName": "OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID",
        "registration.openIdIssuer": f"https://login.microsoftonline.com/{TENANT}/v2.0",
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
    custom_role,
    every_policy_of_publishing,
    identity_everywhere,
    sign_in,
)
