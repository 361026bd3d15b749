"""The order of a deployment, and what else must agree between its parts."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.infra.bicep.files import File
from tests.infra.bicep.functions import SECRET
from tests.infra.bicep.resources import Resource
from tests.infra.rules.scenarios import WRITERS, Infrastructure, Scenario


def waits_for_what_it_needs(infrastructure: Infrastructure) -> Iterator[str]:
    """Nothing starts before what it refers to is there, and the app not before its roles and its ways out."""
    for scenario in infrastructure.scenarios:
        yield from _early(scenario.file)
        yield from _app_early(scenario)
    for file in (infrastructure.events(), infrastructure.events(existingTopicName="topic-in-use")):
        yield from _early(file)


def _early(file: File) -> Iterator[str]:
    makers = {found.id.lower(): symbol for symbol, own in file.own.items() for found in own if not found.existing}
    for symbol in file.own.keys() & file.symbols.keys():
        own, waits = file.own[symbol], file.depends_on(symbol) | {symbol}
        used = {name for name in waits if name in file.own and file.symbols[name].kind == "resource"}
        referred = [found.id for name in used for found in file.own[name] if found.existing]
        referred += [id_ for found in own for id_ in _linked(found)]
        needed = {makers[id_.lower()] for id_ in referred if id_.lower() in makers}
        if needed - waits and any(not found.existing for found in own):
            yield f"{file.path.name}: {symbol} starts without waiting for {sorted(needed - waits)}"
    for module in file.modules:
        yield from _early(module.file)


def _linked(found: Resource) -> list[str]:
    """What a private endpoint leads to, and the zones of its record."""
    if found.type == "Microsoft.Network/privateEndpoints":
        return [
            one["properties"]["privateLinkServiceId"] for one in found.get("properties.privateLinkServiceConnections")
        ]
    if found.type == "Microsoft.Network/privateEndpoints/privateDnsZoneGroups":
        return [one["properties"]["privateDnsZoneId"] for one in found.get("properties.privateDnsZoneConfigs")]
    return []


def _app_early(scenario: Scenario) -> Iterator[str]:
    app = next(module.symbol for module in scenario.file.modules if scenario.app in module.file.everything)
    outside = {scenario.app.id, *(writer["principalId"] for writer in WRITERS)}
    needed = {
        module.symbol
        for module in scenario.file.modules
        if any(_app_needs(found, outside) for found in module.file.everything)
    }
    if early := needed - scenario.file.depends_on(app):
        yield f"the app starts without waiting for {sorted(early)}"


def _app_needs(found: Resource, outside: set[str]) -> bool:
    """Its rights on storage and its ways out; not the way in to itself, nor the rights of writers."""
    if found.type == "Microsoft.Network/privateEndpoints":
        return not outside & set(_linked(found))
    is_role = found.type == "Microsoft.Authorization/roleAssignments" and "/storageAccounts/" in found.scope
    return is_role and found.get("properties.principalId") not in outside


def documented_alerts(infrastructure: Infrastructure) -> Iterator[str]:
    """The operators' page has every alert rule; what the rules see is tested with the app."""
    page, scenario = infrastructure.read("docs/operations.md"), infrastructure.everything_on
    for rule in scenario.of("Microsoft.Insights/scheduledQueryRules"):
        name = rule.name.removeprefix(f"batchscope-{scenario.parameter('environmentName')}-")
        if f"| `{name}` |" not in page or rule.get("properties.displayName") != rule.name:
            yield f"docs/operations.md lacks the alert rule {name}"


_AGENT = "agent"


def blobs_expire(infrastructure: Infrastructure) -> Iterator[str]:
    """Every container of the telemetry storage has a rule that ends its blobs, but the one with the node agent."""
    for scenario in infrastructure.scenarios:
        held = scenario.telemetry_storage.id
        (policy,) = scenario.of("Microsoft.Storage/storageAccounts/managementPolicies")
        rules = [rule["definition"] for rule in policy.get("properties.policy.rules") if rule["enabled"] is True]
        ended = {name for rule in rules if _ends(rule) for name in rule["filters"]["prefixMatch"]}
        for found in scenario.of("Microsoft.Storage/storageAccounts/blobServices/containers"):
            if found.id.startswith(f"{held}/") and found.name != _AGENT and found.name not in ended:
                yield f"blobs in {found.name} never end"
        if any(_AGENT.startswith(prefix.partition("/")[0]) for prefix in ended):
            yield "the node agent ends, which nodes fetch whenever they start"


def _ends(rule: Mapping[str, Any]) -> bool:
    actions = rule["actions"]
    return all("delete" in actions.get(kind, {}) for kind in ("baseBlob", "snapshot"))


def events_come_with_their_key(infrastructure: Infrastructure) -> Iterator[str]:
    """Event Grid gets the key of the webhook only, not one that opens the whole app, and calls nothing else."""
    for file in (infrastructure.events(), infrastructure.events(existingTopicName="topic-in-use")):
        for found in (one for one in file.everything if one.type.endswith("/eventSubscriptions")):
            webhook = "https://func.azurewebsites.net/runtime/webhooks/blobs"
            wanted = f"{webhook}?functionName=Host.Functions.{found.name}&code={SECRET} blobs_extension"
            if (url := found.get("properties.destination.properties.endpointUrl")) != wanted:
                yield f"events of {found.name} are sent to {url}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (
    waits_for_what_it_needs,
    documented_alerts,
    blobs_expire,
    events_come_with_their_key,
)
