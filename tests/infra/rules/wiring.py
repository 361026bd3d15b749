"""How the resources hang together: the app and its plan, logs and alerts, lifecycles, order, and events."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.infra.bicep.files import File
from tests.infra.bicep.functions import SECRET
from tests.infra.bicep.resources import Resource
from tests.infra.rules.access import storage_address
from tests.infra.rules.scenarios import BLOB_TRIGGERS, WRITERS, Infrastructure, Scenario


def app_on_its_plan(scenario: Scenario) -> Iterator[str]:
    site, plan = scenario.app, scenario.one("Microsoft.Web/serverfarms")
    package = site.get("properties.functionAppConfig.deployment.storage.value")
    containers = {
        f"{storage_address(scenario, scenario.host_storage, 'blob')}{found.name}"
        for found in scenario.of("Microsoft.Storage/storageAccounts/blobServices/containers")
        if found.id.startswith(f"{scenario.host_storage.id}/")
    }
    scale = "properties.functionAppConfig.scaleAndConcurrency"
    wanted = {
        "properties.serverFarmId": plan.id,
        "tags.azd-service-name": "app",
        f"{scale}.instanceMemoryMB": scenario.parameter("instanceMemoryMB"),
        f"{scale}.maximumInstanceCount": scenario.parameter("maximumInstanceCount"),
        f"{scale}.triggers.http.perInstanceConcurrency": scenario.parameter("httpConcurrency"),
    }
    for path, value in wanted.items():
        if site.get(path) != value:
            yield f"the app's {path} is {site.get(path)!r}, not {value!r}"
    if package not in containers:
        yield f"the package is kept in {package}, which isn't deployed"


def logs_kept(scenario: Scenario) -> Iterator[str]:
    """Resource logs of the chosen Batch accounts go to the log storage; the app's own to the workspace."""
    found = {one.scope.lower(): one for one in scenario.of("Microsoft.Insights/diagnosticSettings")}
    wanted = {account.lower() for account in scenario.watched} & scenario.logged
    if found.keys() != wanted:
        yield f"resource logs are kept of {sorted(found)}, not of {sorted(wanted)}"
    for one in found.values():
        if one.get("properties.storageAccountId") != scenario.telemetry_storage.id:
            yield f"resource logs go to {one.get('properties.storageAccountId')}"
        kept = {"category": "ServiceLog", "enabled": True}
        if {**one.get("properties"), "storageAccountId": ""} != {"storageAccountId": "", "logs": [kept]}:
            yield f"of a Batch account {one.get('properties')} is kept"
    workspace = scenario.one("Microsoft.OperationalInsights/workspaces")
    if scenario.one("Microsoft.Insights/components").get("properties.WorkspaceResourceId") != workspace.id:
        yield "Application Insights sends to another workspace"
    if workspace.get("properties.workspaceCapping.dailyQuotaGb") != scenario.parameter("logDailyQuotaGb"):
        yield "the daily quota is not what the parameter says"
    for rule in scenario.of("Microsoft.Insights/scheduledQueryRules"):
        groups = [group.id for group in scenario.of("Microsoft.Insights/actionGroups")]
        if rule.get("properties.scopes") != [workspace.id] or rule.get("properties.actions.actionGroups") != groups:
            yield f"{rule.name} asks or tells another than it should"


def alerts_on_demand(scenario: Scenario) -> Iterator[str]:
    wanted = bool(scenario.parameter("alertEmail"))
    if bool(scenario.of("Microsoft.Insights/scheduledQueryRules")) != wanted:
        yield "alert rules should be there when there is an address for them, and only then"
    for group in scenario.of("Microsoft.Insights/actionGroups"):
        told = [receiver["emailAddress"] for receiver in group.get("properties.emailReceivers")]
        if told != [scenario.parameter("alertEmail")]:
            yield f"alerts are told to {told}"


_TRACES = "union isfuzzy=true (datatable(TimeGenerated:datetime, Message:string)[]), AppTraces"
_REQUESTS = "union isfuzzy=true (datatable(TimeGenerated:datetime, Success:bool, ResultCode:string)[]), AppRequests"
_ROUNDS = (
    f'{_TRACES} | where Message matches regex "^A round (of|over the (?:pools|job schedules) of) [^ ]+ (failed|broke)"'
    ' | extend Kind = extract("^A round (of|over the (?:pools|job schedules) of) ", 1, Message)'
    ', Account = extract("^A round (of|over the (?:pools|job schedules) of) ([^ ]+)", 2, Message)'
    " | summarize Rounds = count() by Account, Kind | where Rounds > 3"
)
_ALERTS = {
    "no-tick": (f'{_TRACES} | where Message startswith "A tick ended well."', "LessThan", 1, "PT15M", 1),
    "failing-polls": (_ROUNDS, "GreaterThan", 0, "PT30M", 1),
    "failures": (f'{_REQUESTS} | where Success == false and ResultCode !startswith "4"', "GreaterThan", 20, "PT15M", 2),
    "daily-quota": (
        '_LogOperation | where Category == "Ingestion" and Detail has "OverQuota"',
        "GreaterThan",
        0,
        "PT1H",
        2,
    ),
}
"""Query, operator, threshold, window and severity of each alert rule, as docs/operations.md tells them."""


def sensible_alerts(infrastructure: Infrastructure) -> Iterator[str]:
    """The alert rules are those that the operators' page tells of; what they see is tested with the app."""
    page = infrastructure.read("docs/operations.md")
    found = {}
    scenario = infrastructure.everything_on
    for rule in scenario.of("Microsoft.Insights/scheduledQueryRules"):
        (criterion,) = rule.get("properties.criteria.allOf")
        told = rule.get("properties.windowSize"), rule.get("properties.severity")
        name = rule.name.removeprefix(f"batchscope-{scenario.parameter('environmentName')}-")
        found[name] = (criterion["query"], criterion["operator"], criterion["threshold"], *told)
        periods = {"minFailingPeriodsToAlert": 1, "numberOfEvaluationPeriods": 1}
        if criterion["timeAggregation"] != "Count" or criterion["failingPeriods"] != periods:
            yield f"{name} doesn't fire when it should"
        if f"| `{name}` |" not in page or rule.get("properties.displayName") != rule.name:
            yield f"docs/operations.md doesn't tell of {rule.get('properties.displayName')}"
    if found != _ALERTS:
        yield f"the alert rules are {found}"


def blobs_expire(scenario: Scenario) -> Iterator[str]:
    """Every container of the telemetry storage has a rule that ends its blobs after the days of its parameter."""
    held = scenario.telemetry_storage.id
    policies = scenario.of("Microsoft.Storage/storageAccounts/managementPolicies")
    rules = [
        rule for found in policies if found.id.startswith(f"{held}/") for rule in found.get("properties.policy.rules")
    ]
    wanted = {
        "telemetry": scenario.parameter("telemetryRetentionDays"),
        "insights-logs-servicelog": scenario.parameter("resourceLogRetentionDays"),
    }
    containers = {
        found.name
        for found in scenario.of("Microsoft.Storage/storageAccounts/blobServices/containers")
        if found.id.startswith(f"{held}/")
    }
    if containers != wanted.keys():
        yield f"the telemetry storage has the containers {sorted(containers)}"
    for container, days in wanted.items():
        if not any(_ends(rule, container, days) for rule in rules):
            yield f"blobs in {container} don't end after {days} days"
    if len(policies) != 1 or len(rules) != len(wanted):
        yield "there are other lifecycle rules than those"


def _ends(rule: Mapping[str, Any], container: str, days: int) -> bool:
    definition = rule["definition"]
    return (
        bool(rule.get("enabled"))
        and rule.get("type") == "Lifecycle"
        and definition["filters"] == {"blobTypes": ["appendBlob", "blockBlob"], "prefixMatch": [container]}
        and definition["actions"]
        == {
            "baseBlob": {"delete": {"daysAfterModificationGreaterThan": days}},
            "snapshot": {"delete": {"daysAfterCreationGreaterThan": days}},
        }
    )


def waits_for_what_it_needs(scenario: Scenario) -> Iterator[str]:
    """Nothing starts before what it refers to as existing is there, and the app not before its roles."""
    yield from _early(scenario.file)
    app = next(module.symbol for module in scenario.file.modules if scenario.app in module.file.everything)
    waits = scenario.file.depends_on(app)
    outside = {scenario.app.id, *(writer["principalId"] for writer in WRITERS)}
    needed = {
        module.symbol
        for module in scenario.file.modules
        if any(_app_needs(found, outside) for found in module.file.everything)
    }
    if needed - waits:
        yield f"the app starts without waiting for {sorted(needed - waits)}"


def _app_needs(found: Resource, outside: set[str]) -> bool:
    """Its rights on storage and its ways out; not the way in to itself, nor the rights of writers."""
    if found.type == "Microsoft.Network/privateEndpoints":
        (connection,) = found.get("properties.privateLinkServiceConnections")
        return connection["properties"]["privateLinkServiceId"] not in outside
    is_role = found.type == "Microsoft.Authorization/roleAssignments" and "/storageAccounts/" in found.scope
    return is_role and found.get("properties.principalId") not in outside


def _early(file: File) -> Iterator[str]:
    makers = {found.id.lower(): symbol for symbol, own in file.own.items() for found in own if not found.existing}
    for symbol in file.own.keys() & file.symbols.keys():
        waits = file.depends_on(symbol) | {symbol}
        referred = [found for used in waits for found in file.own.get(used, []) if found.existing]
        needed = {makers[found.id.lower()] for found in referred if found.id.lower() in makers}
        if needed - waits and any(not found.existing for found in file.own[symbol]):
            yield f"{file.path.name}: {symbol} starts without waiting for {sorted(needed - waits)}"
    for module in file.modules:
        yield from _early(module.file)


def blob_events(infrastructure: Infrastructure) -> Iterator[str]:
    """Each function is told of the blobs of its container, at the webhook, with the key, through one system topic."""
    for name in ("", "topic-in-use"):
        file = infrastructure.events(existingTopicName=name)
        made = [found for found in file.everything if not found.existing]
        topics = [found for found in made if found.type == "Microsoft.EventGrid/systemTopics"]
        if len(topics) != int(not name) or any(
            not str(topic.get("properties.source")).endswith("/store") for topic in topics
        ):
            yield "the storage account should have one system topic, and keep one that it has"
        if any(topic.get("tags") != {"of": "the group"} for topic in topics):
            yield "the system topic has other tags than its resource group"
        found = [one for one in made if one.type.endswith("/eventSubscriptions")]
        if [one.name for one in found] != [trigger["functionName"] for trigger in BLOB_TRIGGERS]:
            yield "there should be one event subscription a function"
        for one, trigger in zip(found, BLOB_TRIGGERS, strict=False):
            if name and f"/systemTopics/{name}/" not in one.id:
                yield "the existing topic is not used"
            yield from _announced(one, trigger)
        yield from _early(file)
        if "newTopic" not in file.depends_on("topic"):
            yield "the topic is looked up before it is made"


def _announced(subscription: Resource, trigger: Mapping[str, str]) -> Iterator[str]:
    address = urlsplit(subscription.get("properties.destination.properties.endpointUrl", ""))
    if (address.scheme, address.netloc, address.path) != ("https", "func.azurewebsites.net", "/runtime/webhooks/blobs"):
        yield f"events go to {address.geturl()}"
    if parse_qs(address.query) != {
        "functionName": [f"Host.Functions.{trigger['functionName']}"],
        "code": [f"{SECRET} blobs_extension"],
    }:
        yield f"the webhook is asked for {address.query}"
    begins = subscription.get("properties.filter.subjectBeginsWith")
    if begins != f"/blobServices/default/containers/{trigger['containerName']}/":
        yield f"events are filtered by {begins}"


def storage_as_asked(scenario: Scenario) -> Iterator[str]:
    """Both accounts are kept in as many copies as asked, and a key that is given encrypts all of their services."""
    key, user = scenario.parameter("encryptionKeyUri"), scenario.parameter("encryptionIdentityId")
    service = {"enabled": True, "keyType": "Account"}
    wanted = {
        "identity": {"userAssignedIdentity": user},
        "keySource": "Microsoft.Keyvault",
        "keyvaultproperties": {"keyname": key.rpartition("/")[2], "keyvaulturi": key.partition("/keys/")[0]},
        "services": {"blob": service, "queue": service, "table": service},
    }
    bearer = {"type": "UserAssigned", "userAssignedIdentities": {user: {}}}
    for account in (scenario.host_storage, scenario.telemetry_storage):
        if account.get("sku.name") != f"Standard_{scenario.parameter('storageRedundancy')}":
            yield f"{account.name} is kept as {account.get('sku.name')}"
        if account.get("properties.encryption") != (wanted if key else None):
            yield f"{account.name} is encrypted by {account.get('properties.encryption')}"
        if account.get("identity") != (bearer if key else None):
            yield f"{account.name} bears {account.get('identity')}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (blob_events, sensible_alerts)
SCENARIO_RULES: tuple[Callable[[Scenario], Iterator[str]], ...] = (
    alerts_on_demand,
    app_on_its_plan,
    blobs_expire,
    logs_kept,
    storage_as_asked,
    waits_for_what_it_needs,
)
