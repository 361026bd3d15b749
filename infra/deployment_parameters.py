"""Whether the parameters of a deployment fit together, which neither the templates nor Azure say."""

from collections import Counter
from collections.abc import Iterator

from infra.deployment import Deployment
from shared.domain.accounts.account_roles import parse_account_roles

PRIVATE_ONLY = (
    "appSubnetId",
    "endpointSubnetId",
    "dnsZoneGroupId",
    "privateBatchAccountIds",
    "privateInboundAccess",
    "poolSubnetIds",
)
"""Parameters that mean nothing, or shut everybody out, while `privateNetworking` is false."""
TOGETHER = (("appSubnetId", "endpointSubnetId"), ("encryptionKeyUri", "encryptionIdentityId"))
"""Parameters that are given both or not at all."""
KEY_PARTS = 5
"""Parts of a key's address without a version: https, nothing, the vault, keys, the name."""


def parameters(deployment: Deployment) -> Iterator[str]:
    """What is wrong with the values of infra/main.parameters.json, in sentences."""
    given = deployment.parameters
    for one, other in TOGETHER:
        if bool(given.get(one)) != bool(given.get(other)):
            yield f"Of the parameters {one} and {other} only one is given: give both or none."
    if not given.get("privateNetworking"):
        for name in PRIVATE_ONLY:
            if given.get(name):
                yield f"The parameter {name} needs privateNetworking, which is false."
    if len(str(given.get("encryptionKeyUri") or "").split("/")) > KEY_PARTS:
        yield (
            "The parameter encryptionKeyUri must end with the name of the key: "
            "without a version, so that a new one is taken up, and without a slash."
        )
    yield from _private_accounts(deployment)
    yield from _writers(deployment)
    yield from _account_roles(deployment)


def _private_accounts(deployment: Deployment) -> Iterator[str]:
    watched = {each.lower() for each in deployment.account_ids}
    for each in str(deployment.parameters.get("privateBatchAccountIds") or "").replace(" ", "").split(","):
        if each and each.lower() not in watched:
            yield f"The parameter privateBatchAccountIds holds {each}, which isn't in BATCH_ACCOUNT_IDS."


def _writers(deployment: Deployment) -> Iterator[str]:
    writers = deployment.parameters.get("telemetryWriters") or []
    for identity, count in Counter(str(each.get("principalId")).lower() for each in writers).items():
        if count > 1:
            yield f"The parameter telemetryWriters names the identity {identity} {count} times; it can have one prefix."
    for each in writers:
        if not str(each.get("prefix") or "").strip("/") or str(each["prefix"]).startswith("/"):
            yield (
                f"The parameter telemetryWriters gives {each.get('principalId')} the prefix '{each.get('prefix')}'. "
                "Name a folder of its own, like accounts/NAME/pools/POOL."
            )


def _account_roles(deployment: Deployment) -> Iterator[str]:
    """A mistake in this setting would close the whole API."""
    text = deployment.variables.get("ACCOUNT_ROLES", "")
    names = Counter(each.rpartition("/")[2].lower() for each in deployment.account_ids)
    # Accounts that share a name are known by name and region, which only Azure knows.
    entries = (entry.partition("=")[0].lower() for entry in text.replace(",", " ").split())
    regional = {entry for entry in entries if names[entry.partition(".")[0]] > 1 and "." in entry}
    _, problems = parse_account_roles(text, sorted(regional | {name for name, count in names.items() if count == 1}))
    for problem in problems:
        yield f"{problem}. The app would answer nobody until that is mended."
