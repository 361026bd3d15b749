"""Who may do what, and from where: roles and their conditions, sign-in, and ways to storage and to the app."""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from tests.infra.bicep.abac import ADD, READ, BlobRequest, allows
from tests.infra.bicep.functions import TENANT, environment_of
from tests.infra.bicep.resources import Resource
from tests.infra.rules.scenarios import Infrastructure

_BATCH, _STORAGE = "Microsoft.Batch/batchAccounts", "Microsoft.Storage/storageAccounts"
_CONTAINER = f"{_STORAGE}/blobServices/containers"
_BUILT_IN: Mapping[str, str] = {
    "11076f67-66f6-4be0-8f6b-f0609fd05cc9": _BATCH,
    "3913510d-42f4-4e42-8a64-420c390055eb": "Microsoft.Insights/components",
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": _STORAGE,
    "974c5e8b-45b9-4653-ba55-5f855dd0fb88": _STORAGE,
    "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": _STORAGE,
    "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1": _CONTAINER,
}
"""The built-in roles that may be assigned, each with the type of what it is held on: no group or subscription."""
_READER = "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1"
_AGENT = "/blobServices/default/containers/agent"
_HARMLESS = re.compile(rf"{_BATCH}/(\w+/)?read|{re.escape(READ)}|{re.escape(ADD)}")
"""What custom roles may permit: to read Batch, to read blobs and to append to them."""


def roles_in_the_file(infrastructure: Infrastructure) -> Iterator[str]:
    for name, role in json.loads(infrastructure.read("infra/roles.json")).items():
        if role not in _BUILT_IN:
            yield f"roles.json: {name} is a role that nothing here allows"


def roles_where_they_are_needed(infrastructure: Infrastructure) -> Iterator[str]:
    """The app's identity and writers hold only known roles, on the smallest scope that has what they need."""
    for scenario in infrastructure.scenarios:
        custom = {
            role.name: _CONTAINER if ADD in _granted(role) else _BATCH
            for role in scenario.of("Microsoft.Authorization/roleDefinitions")
        }
        app = f"principal of {scenario.one('Microsoft.ManagedIdentity/userAssignedIdentities').id}"
        writers = {writer["principalId"] for writer in scenario.parameter("telemetryWriters")}
        for found in scenario.of("Microsoft.Authorization/roleAssignments"):
            holder, role = found.get("properties.principalId"), found.get("properties.roleDefinitionId")
            kind = {**_BUILT_IN, **custom}.get(role.rpartition("/")[2])
            if kind is None or _type_of(found.scope) != kind:
                yield f"{found.file}: the role {role} is held on {found.scope}"
            if holder not in (writers if kind == _CONTAINER else {app}):
                yield f"{found.file}: {holder} holds the role {role}"


def _type_of(id_: str) -> str:
    """Returns the type of what an id names; an empty text for subscriptions and groups."""
    provider, *parts = id_.rpartition("/providers/")[2].split("/") if "/providers/" in id_ else [""]
    return "/".join([provider, *parts[::2]])


def _granted(role: Resource) -> list[str]:
    permissions = role.get("properties.permissions")
    return [action for each in permissions for action in (*each["actions"], *each["dataActions"])]


def custom_roles_change_nothing(infrastructure: Infrastructure) -> Iterator[str]:
    """No custom role does more than read, or append to blobs; none overwrites, lists keys, or has a wildcard."""
    for scenario in infrastructure.scenarios:
        for role in scenario.of("Microsoft.Authorization/roleDefinitions"):
            for action in _granted(role):
                if not _HARMLESS.fullmatch(action):
                    yield f"{role.get('properties.roleName')} may do {action}"


def writers_keep_to_their_folders(infrastructure: Infrastructure) -> Iterator[str]:
    """Each writer makes, appends to, reads and lists blobs below its own prefix, and touches no other blob."""
    for scenario in infrastructure.scenarios:
        writers = scenario.parameter("telemetryWriters")
        prefixes = {writer["principalId"]: writer["prefix"].rstrip("/") for writer in writers}
        for found in scenario.of("Microsoft.Authorization/roleAssignments"):
            condition, version = found.get("properties.condition"), found.get("properties.conditionVersion")
            own = None if _is_reader(found) else prefixes.get(found.get("properties.principalId"))
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


def readers_read_the_agent_alone(infrastructure: Infrastructure) -> Iterator[str]:
    """Each writer of telemetry reads the container with the node agent, and no other as a reader."""
    for scenario in infrastructure.scenarios:
        writers = {writer["principalId"] for writer in scenario.parameter("telemetryWriters")}
        found = [one for one in scenario.of("Microsoft.Authorization/roleAssignments") if _is_reader(one)]
        for one in found:
            if not one.scope.endswith(f"{scenario.telemetry_storage.id}{_AGENT}"):
                yield f"{one.file}: {one.get('properties.principalId')} reads {one.scope}"
        if {one.get("properties.principalId") for one in found} != writers:
            yield f"the node agent is read by {len(found)} identities, and {len(writers)} write telemetry"


def _is_reader(assignment: Resource) -> bool:
    return str(assignment.get("properties.roleDefinitionId")).endswith(_READER)


def sign_in(infrastructure: Infrastructure) -> Iterator[str]:
    """People sign in with the app's registration in their own tenant, nowhere else; nobody deploys with a password."""
    for scenario in infrastructure.scenarios:
        found = scenario.one("Microsoft.Web/sites/config", "authsettingsV2")
        client, login = scenario.parameter("authClientId"), environment_of(scenario.cloud)["authentication"]
        entra = "properties.identityProviders.azureActiveDirectory"
        wanted = {
            f"{entra}.registration.clientId": client,
            f"{entra}.registration.openIdIssuer": f"{login['loginEndpoint']}{TENANT}/v2.0",
            f"{entra}.validation.allowedAudiences": [client, f"api://{client}"],
        }
        for path, value in wanted.items():
            if found.get(path) != value:
                yield f"sign-in: {path} is {found.get(path)!r}, not {value!r}"
        if found.get("properties.identityProviders").keys() != {"azureActiveDirectory"}:
            yield "people of another provider sign in"
        held = [one.id for one in scenario.of("Microsoft.Web/sites/basicPublishingCredentialsPolicies")]
        if sorted(held) != [f"{scenario.app.id}/basicPublishingCredentialsPolicies/{one}" for one in ("ftp", "scm")]:
            yield f"{scenario.app.name} takes passwords, except by {held}"


def storage_is_private(infrastructure: Infrastructure) -> Iterator[str]:
    """With private networking storage is closed to the world, but for the subnets of pools."""
    for scenario in infrastructure.scenarios:
        private = scenario.parameter("privateNetworking")
        for account in scenario.of("Microsoft.Storage/storageAccounts"):
            allowed = scenario.parameter("poolSubnetIds") if account == scenario.telemetry_storage else []
            acls, access = account.get("properties.networkAcls"), account.get("properties.publicNetworkAccess")
            if private and (acls["defaultAction"], access) != ("Deny", "Enabled" if allowed else "Disabled"):
                yield f"{account.name} is private, but {acls['defaultAction']} is its default, and access {access}"
            if [rule["id"] for rule in acls["virtualNetworkRules"]] != allowed:
                yield f"{account.name} is reached from {acls['virtualNetworkRules']}"


def app_is_private(infrastructure: Infrastructure) -> Iterator[str]:
    """The app answers private endpoints only, or some addresses and Event Grid only, where that was asked for."""
    for scenario in infrastructure.scenarios:
        site, ranges = scenario.app, scenario.parameter("allowedIpRanges")
        if scenario.parameter("privateInboundAccess") and site.get("properties.publicNetworkAccess") != "Disabled":
            yield f"the app's public access is {site.get('properties.publicNetworkAccess')}"
        config = "properties.siteConfig.ipSecurityRestrictions"
        rules = site.get(config) or []
        allowed = {(rule.get("ipAddress"), rule.get("tag")) for rule in rules if rule["action"] != "Deny"}
        wanted = {("AzureEventGrid", "ServiceTag"), *((addresses, None) for addresses in ranges)}
        if ranges and (site.get(f"{config}DefaultAction") != "Deny" or allowed != wanted):
            yield f"the app answers {allowed}, and by default does {site.get(f'{config}DefaultAction')}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (
    roles_in_the_file,
    roles_where_they_are_needed,
    custom_roles_change_nothing,
    writers_keep_to_their_folders,
    readers_read_the_agent_alone,
    sign_in,
    storage_is_private,
    app_is_private,
)
