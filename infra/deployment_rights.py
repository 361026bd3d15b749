"""Whether whoever is logged in may do what a deployment does, on the subscription and on each Batch account."""

import fnmatch
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from infra.azure_cli import CommandError
from infra.deployment import ACCOUNT_ID, Deployment, plain

PERMISSIONS = "2022-04-01"
ACCOUNTS = "2025-06-01"
SETTINGS = "2021-05-01-preview"
ASSIGN = "Microsoft.Authorization/roleAssignments/write"
DEFINE = "Microsoft.Authorization/roleDefinitions/write"
LOG = "Microsoft.Insights/diagnosticSettings/write"
DEPLOY = "Microsoft.Resources/deployments/write"
ON_SUBSCRIPTION = {
    DEPLOY: "start a deployment",
    "Microsoft.Resources/subscriptions/resourceGroups/write": "make the resource group",
    "Microsoft.Storage/storageAccounts/write": "make the storage accounts",
    "Microsoft.ManagedIdentity/userAssignedIdentities/write": "make the app's identity",
    "Microsoft.Web/sites/write": "make the app",
    ASSIGN: "give the app its roles",
}
APPROVE = "Microsoft.Batch/batchAccounts/privateEndpointConnectionsApproval/action"
"""Asked for by every private endpoint that isn't to wait for its approval by hand, as those of the templates."""
JOIN = "Microsoft.Network/virtualNetworks/subnets/join/action"
RECORD = "Microsoft.Network/privateDnsZones/join/action"
ON_NETWORK = (
    ("appSubnetId", JOIN, "put the app into the subnet"),
    ("endpointSubnetId", JOIN, "put private endpoints into the subnet"),
    ("dnsZoneGroupId", RECORD, "write records into the zones"),
)
"""Parameters that name what is there already, with the right that a deployment needs on it, and what for."""
CONTRIBUTE = "Contributor"
ROLES = {
    ASSIGN: "Role Based Access Control Administrator",
    DEFINE: "Owner or User Access Administrator",
    JOIN: "Network Contributor",
    RECORD: "Private DNS Zone Contributor",
}
"""Roles that hold an action which CONTRIBUTE lacks, or that hold little else."""
MAX_SETTINGS = 5
"""How many diagnostic settings a resource can have."""


def granted(deployment: Deployment, scope: str) -> list[Mapping[str, Any]]:
    """The permissions of whoever is logged in, as roles at a scope and above it give them. Raises CommandError."""
    found = deployment.get(f"{scope}/providers/Microsoft.Authorization/permissions", PERMISSIONS)
    permissions: list[Mapping[str, Any]] = found["value"]
    return permissions


def may(permissions: Iterable[Mapping[str, Any]], action: str) -> bool:
    """Whether one of the permissions has an action, and doesn't take it back."""
    return any(
        _has(each.get("actions") or [], action) and not _has(each.get("notActions") or [], action)
        for each in permissions
    )


def _has(patterns: Iterable[str], action: str) -> bool:
    return any(fnmatch.fnmatchcase(action.lower(), pattern.lower()) for pattern in patterns)


def subscription_rights(deployment: Deployment) -> Iterator[str]:
    permissions = granted(deployment, deployment.scope)
    for action, purpose in ON_SUBSCRIPTION.items():
        if not may(permissions, action):
            yield _lacking(deployment.scope, action, purpose)
    if deployment.parameters.get("telemetryWriters") and not may(permissions, DEFINE):
        yield _lacking(deployment.scope, DEFINE, "define the custom role of telemetryWriters")


def account_rights(deployment: Deployment) -> Iterator[str]:
    """Each account is there, may be given a role on and, if its logs are kept, a diagnostic setting."""
    valid = [each for each in deployment.account_ids if ACCOUNT_ID.fullmatch(each)]
    for account_id in valid:
        try:
            account = deployment.get(account_id, ACCOUNTS)
        except CommandError as error:
            yield f"The Batch account {account_id} isn't there, or you may not read it: {error}"
            continue
        permissions = granted(deployment, account_id)
        if not may(permissions, ASSIGN):
            yield _lacking(account_id, ASSIGN, "give the app a role on the account")
        if account_id.lower() in deployment.private_ids and not may(permissions, APPROVE):
            yield _lacking(account_id, APPROVE, "connect a private endpoint with the account")
        group = account_id.partition("/providers/")[0]
        if not may(granted(deployment, group), DEPLOY):
            yield _lacking(group, DEPLOY, "deploy what belongs to the account")
        if account_id.lower() in deployment.logged_ids:
            yield from _logging(deployment, account_id, str(account["location"]), permissions)
    if deployment.parameters.get("leastPrivilegeBatchRole"):
        for scope in sorted({deployment.scope, *("/".join(each.split("/")[:3]) for each in valid)}):
            if not may(granted(deployment, scope), DEFINE):
                yield _lacking(scope, DEFINE, "define the custom role of leastPrivilegeBatchRole")
    yield from _network_rights(deployment)


def _network_rights(deployment: Deployment) -> Iterator[str]:
    """What a deployment does to networks and zones that are there already."""
    if not deployment.parameters.get("privateNetworking"):
        return
    for name, action, purpose in ON_NETWORK:
        scope = str(deployment.parameters.get(name) or "")
        if scope not in ("", "none") and not may(granted(deployment, scope), action):
            yield _lacking(scope, action, purpose)


def _logging(
    deployment: Deployment, account_id: str, location: str, permissions: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    if not may(permissions, LOG):
        yield _lacking(account_id, LOG, "keep the account's logs")
    if plain(location) != deployment.location:
        yield (
            f"The Batch account {account_id} is in {location}, and AZURE_LOCATION is {deployment.location}: "
            "Azure keeps its logs in its own region only. Leave it out of the parameter loggedBatchAccountIds."
        )
    path = f"{account_id}/providers/Microsoft.Insights/diagnosticSettings"
    held = [str(each["name"]) for each in deployment.get(path, SETTINGS)["value"]]
    is_own = any(name.lower().startswith("batchscope-") for name in held)
    if len(held) >= MAX_SETTINGS and not is_own:
        yield (
            f"The Batch account {account_id} has {len(held)} diagnostic settings, the most it can have: "
            f"{', '.join(held)}. Delete one, or leave the account out of loggedBatchAccountIds."
        )


def _lacking(scope: str, action: str, purpose: str) -> str:
    role = ROLES.get(action, CONTRIBUTE)
    return f"You may not {purpose} ({action}) on {scope}. Ask its owner for the role {role} there."
