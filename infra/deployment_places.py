"""Whether there is room for a deployment: region, networks, quotas, resource providers, names."""

import json
import re
from collections import Counter
from collections.abc import Iterator

from infra.azure_cli import CommandError
from infra.deployment import HERE, Deployment, plain
from infra.deployment_rights import granted, may

PYTHON = (HERE.parent / ".python-version").read_text(encoding="utf-8").strip()
USAGE = "2019-08-01-preview"
NAMES = "2023-12-01"
NETWORKS = "2025-05-01"
PRIVATE = {"Microsoft.App", "Microsoft.Network"}
"""Providers of private networking. That of the app's subnet isn't registered by any deployment."""
UNREGISTERED = {"Microsoft.Authorization", "Microsoft.Resources"}
"""Providers that every subscription has."""
STORAGE, SITES, ROLES = "microsoft.storage/storageaccounts", "microsoft.web/sites", "/roleassignments"


def region(deployment: Deployment) -> Iterator[str]:
    """Flex Consumption is in the region, and the app's Python with it."""
    regions = sorted(
        plain(str(each["name"])) for each in deployment.call("functionapp", "list-flexconsumption-locations")
    )
    if deployment.location not in regions:
        yield (
            f"AZURE_LOCATION is {deployment.location}, where Flex Consumption isn't offered. "
            f"Take one of {', '.join(regions)}."
        )
        return
    asked = ("functionapp", "list-flexconsumption-runtimes", "--location", deployment.location, "--runtime", "python")
    versions = sorted({str(each.get("version")) for each in deployment.call(*asked) or []})
    if PYTHON not in versions:
        yield f"Flex Consumption in {deployment.location} offers Python {', '.join(versions)}, but not {PYTHON}."


def networks(deployment: Deployment) -> Iterator[str]:
    """Subnets that are there already are in the region of the deployment, as the app and its endpoints must be."""
    if not deployment.parameters.get("privateNetworking"):
        return
    subnets = (str(deployment.parameters.get(name) or "") for name in ("appSubnetId", "endpointSubnetId"))
    for network in dict.fromkeys(subnet.partition("/subnets/")[0] for subnet in subnets if subnet):
        location = str(deployment.get(network, NETWORKS)["location"])
        if plain(location) != deployment.location:
            yield (
                f"The virtual network {network} is in {location}, and AZURE_LOCATION is {deployment.location}. "
                "The app and its private endpoints must be in the region of their subnets."
            )


def providers(deployment: Deployment) -> Iterator[str]:
    """Every provider of the templates is registered, or will be by the deployment."""
    states = {each["namespace"].lower(): each["registrationState"] for each in deployment.call("provider", "list")}
    permissions = granted(deployment, deployment.scope)
    for name in sorted(_named_providers() - (set() if deployment.parameters.get("privateNetworking") else PRIVATE)):
        if states.get(name.lower()) == "Registered":
            continue
        if name == "Microsoft.App" or not may(permissions, f"{name}/register/action"):
            yield (
                f"The resource provider {name} isn't registered in {deployment.scope}, and the deployment can't do it. "
                f"Run, or ask its owner to run, `az provider register --namespace {name}`."
            )


def _named_providers() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in HERE.rglob("*.bicep")]
    return {name for text in texts for name in re.findall(r"'(Microsoft\.\w+)/", text)} - UNREGISTERED


def names(deployment: Deployment) -> Iterator[str]:
    """Names that are the whole world's are free where a deployment would make something of that name."""
    _ = deployment.location  # Raises where none is given, which isn't Azure's refusal.
    try:
        created = deployment.created
    except CommandError as error:
        yield f"Azure couldn't be asked, or would refuse the deployment: {error}"
        return
    for kind, resource_id in created:
        name = resource_id.rpartition("/")[2]
        if kind == STORAGE:
            answer = deployment.call("storage", "account", "check-name", "--name", name)
        elif kind == SITES:
            url = f"{deployment.scope}/providers/Microsoft.Web/checknameavailability?api-version={NAMES}"
            body = json.dumps({"name": name, "type": "Microsoft.Web/sites"})
            answer = deployment.call("rest", "--method", "post", "--url", url, "--body", body)
        else:
            continue
        if not answer["nameAvailable"]:
            yield (
                f"The name {name} ({kind}) is taken: {answer.get('message') or answer.get('reason')} "
                "Choose another AZURE_ENV_NAME, or delete what has the name."
            )


def quotas(deployment: Deployment) -> Iterator[str]:
    """There is room for the storage accounts in the region, and for the role assignments in each subscription."""
    created = deployment.created
    wanted = sum(kind == STORAGE for kind, _ in created)
    if wanted:
        usage = deployment.call("storage", "account", "show-usage", "--location", deployment.location)
        if usage["currentValue"] + wanted > usage["limit"]:
            yield (
                f"The subscription has {usage['currentValue']} storage accounts of {usage['limit']} in "
                f"{deployment.location}, and {wanted} are to be made. Ask for a higher quota, or take another region."
            )
    assigned = Counter(resource_id.split("/")[2].lower() for kind, resource_id in created if kind.endswith(ROLES))
    for subscription, count in assigned.items():
        path = f"/subscriptions/{subscription}/providers/Microsoft.Authorization/roleAssignmentsUsageMetrics"
        remaining = deployment.get(path, USAGE)["roleAssignmentsRemainingCount"]
        if remaining < count:
            yield (
                f"The subscription {subscription} has room for {remaining} role assignments; {count} are to be made. "
                "Delete those of identities that are gone."
            )
