"""What the conditions of roles and the custom roles permit; who holds which role is in the table of expectations."""

from collections.abc import Callable, Iterator

from tests.infra.bicep.abac import ADD, DELETE, READ, WRITE, BlobRequest, allows
from tests.infra.rules.scenarios import Infrastructure


def writers_keep_to_their_folders(infrastructure: Infrastructure) -> Iterator[str]:
    """Each writer makes, appends to, reads and lists blobs below its own prefix, and touches no other blob."""
    for scenario in infrastructure.scenarios:
        writers = scenario.parameter("telemetryWriters")
        prefixes = {writer["principalId"]: writer["prefix"].rstrip("/") for writer in writers}
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


def no_right_to_overwrite(infrastructure: Infrastructure) -> Iterator[str]:
    """No custom role overwrites or deletes blobs, or reaches them by a wildcard."""
    for scenario in infrastructure.scenarios:
        for role in scenario.of("Microsoft.Authorization/roleDefinitions"):
            for permission in role.get("properties.permissions"):
                granted = [*permission["actions"], *permission["dataActions"]]
                if any(one in {WRITE, DELETE} or "*" in one for one in granted):
                    yield f"{role.get('properties.roleName')} may do {granted}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (writers_keep_to_their_folders, no_right_to_overwrite)
