"""Names: each of its own where it must be, and such as Azure takes."""

import re
from collections.abc import Callable, Iterator

from tests.infra.bicep.files import File
from tests.infra.bicep.functions import FUNCTIONS
from tests.infra.bicep.resources import SUBSCRIPTION, Resource
from tests.infra.rules.scenarios import EVERYTHING, OTHER_SUBSCRIPTION, SEVERAL, WRITERS, Infrastructure


def names_of_their_own(infrastructure: Infrastructure) -> Iterator[str]:
    for scenario in infrastructure.scenarios:
        seen: set[str] = set()
        for found in scenario.all:
            if found.id.lower() in seen:
                yield f"{found.file}: {found.id} is deployed twice"
            seen.add(found.id.lower())
        assignments = [found.name for found in scenario.of("Microsoft.Authorization/roleAssignments")]
        if len(assignments) != len(set(assignments)):
            yield "two role assignments bear one name, which must be unique in the tenant"
        modules = [f"{module.scope.id}/{module.name}" for module in scenario.file.modules]
        if len(modules) != len(set(modules)):
            yield "two modules are deployed under one name, to one scope"


_LAWFUL = {
    "Microsoft.Authorization/roleAssignments": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "Microsoft.Authorization/roleDefinitions": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "Microsoft.Insights/actionGroups": r"[A-Za-z0-9_.-]{1,260}",
    "Microsoft.ManagedIdentity/userAssignedIdentities": r"[A-Za-z0-9][A-Za-z0-9_-]{2,127}",
    "Microsoft.Network/virtualNetworks": r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}[A-Za-z0-9_]",
    "Microsoft.OperationalInsights/workspaces": r"[A-Za-z0-9][A-Za-z0-9-]{2,61}[A-Za-z0-9]",
    "Microsoft.Storage/storageAccounts": r"[a-z0-9]{3,24}",
    "Microsoft.Web/serverfarms": r"[A-Za-z0-9-]{1,60}",
    "Microsoft.Web/sites": r"[a-z0-9][a-z0-9-]{0,58}[a-z0-9]",
}
"""Source: "Naming rules and restrictions for Azure resources"."""


def names_that_azure_takes(infrastructure: Infrastructure) -> Iterator[str]:
    for scenario in infrastructure.scenarios:
        for found in scenario.file.everything:
            if not re.fullmatch(_LAWFUL.get(found.type, ".+"), found.name):
                yield f"{found.file}: no {found.type} can be named {found.name}"


_ASSIGNMENT = "Microsoft.Authorization/roleAssignments"
_WORLDWIDE = {
    _ASSIGNMENT,
    "Microsoft.Authorization/roleDefinitions",
    "Microsoft.Storage/storageAccounts",
    "Microsoft.Web/sites",
}
"""Kinds whose names no two deployments may share, wherever they are."""


def deployments_that_share_nothing(infrastructure: Infrastructure) -> Iterator[str]:
    """Two environments stand side by side in a subscription, and one environment's name can be used in two of them."""
    for given in (EVERYTHING, SEVERAL):
        one = infrastructure.main(given)
        beside = infrastructure.main({**given, "environmentName": "test"})
        for other in (beside, infrastructure.main(given, OTHER_SUBSCRIPTION)):
            for shared in sorted(_ids(one) & _ids(other)):
                yield f"two deployments share {shared}"
            for kind, name in sorted(_worldwide(one) & _worldwide(other)):
                yield f"two deployments each want the {kind} {name}"


def names_whatever_the_spelling_of_the_region(infrastructure: Infrastructure) -> Iterator[str]:
    """People spell a region in many ways; all give the names that Azure's own spelling gave in earlier versions."""
    normal, spelled, elsewhere = (
        infrastructure.main({**SEVERAL, "location": location})
        for location in ("northeurope", "North Europe", "uksouth")
    )
    if spelled.value("names") != normal.value("names"):
        yield f"North Europe gives the names {spelled.value('names')}, and northeurope {normal.value('names')}"
    if elsewhere.value("suffix") == normal.value("suffix"):
        yield "two regions give the same names, which are the whole world's"
    earlier = FUNCTIONS["uniqueString"](f"/subscriptions/{SUBSCRIPTION}", SEVERAL["environmentName"], "northeurope")
    if normal.value("suffix") != earlier:
        yield f"deployments of earlier versions change their names, which ended in {earlier}"


def assignments_that_change_get_another_name(infrastructure: Infrastructure) -> Iterator[str]:
    """Azure refuses to change the role or the principal of a role assignment (RoleAssignmentUpdateNotPermitted)."""
    before, after = (infrastructure.main({**SEVERAL, "leastPrivilegeBatchRole": least}) for least in (False, True))
    held = {found.id.lower(): _assigned(found) for found in before.everything if found.type == _ASSIGNMENT}
    for found in after.everything:
        if found.type == _ASSIGNMENT and held.get(found.id.lower(), _assigned(found)) != _assigned(found):
            yield f"{found.file}: {found.name} gets another role or principal, which Azure refuses"


def one_folder_an_identity(infrastructure: Infrastructure) -> Iterator[str]:
    """Another prefix changes the condition of a writer's assignment: one more would leave it both folders."""
    moved = [{**writer, "prefix": f"{writer['prefix'].rstrip('/')}/moved"} for writer in WRITERS]
    before, after = (
        infrastructure.main({**SEVERAL, "telemetryWriters": writers}) for writers in (list(WRITERS), moved)
    )
    held, wanted = (
        {found.id for found in file.everything if found.type == _ASSIGNMENT and found.get("properties.condition")}
        for file in (before, after)
    )
    if held != wanted:
        yield f"writers that get other folders keep the assignments {sorted(held - wanted)}"


def _assigned(assignment: Resource) -> tuple[str, str]:
    return assignment.get("properties.roleDefinitionId"), assignment.get("properties.principalId")


def _ids(file: File) -> set[str]:
    """Of resources, and of the deployments that modules become: one of the same name would overwrite the other."""
    modules = {f"{module.scope.id}/deployments/{module.name}".lower() for module in file.modules}
    return modules | {found.id.lower() for found in file.everything if not found.existing}


def _worldwide(file: File) -> set[tuple[str, str]]:
    own = [found for found in file.everything if found.type in _WORLDWIDE and not found.existing]
    return {(found.type, name) for found in own for name in (found.name, found.get("properties.roleName", found.name))}


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (
    names_of_their_own,
    names_that_azure_takes,
    deployments_that_share_nothing,
    names_whatever_the_spelling_of_the_region,
    assignments_that_change_get_another_name,
    one_folder_an_identity,
)
