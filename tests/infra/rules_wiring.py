"""How the resources hang together: who may do what, which setting points where, what is reached by which way."""

import ipaddress
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from shared.settings import read_settings
from tests.infra.bicep import SECRET, TENANT, File, Resource
from tests.infra.scenarios import BLOB_TRIGGERS, WRITER, Infrastructure, Scenario

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
LOCAL_SETTINGS = {"AzureWebJobsStorage", "BATCH_ACCOUNT_KEYS", "CLOCK_URL"}
"""Settings that only a laptop has: secrets and a stepped clock."""
OTHER_WAYS = {"AzureWebJobsStorage__tableServiceUri", "TABLE_PREFIX"}
"""Settings for storage that is shared or elsewhere, which a deployment of its own needs not."""
PLATFORM_SETTINGS = {"WEBSITE_AUTH_ENABLED", "WEBSITE_INSTANCE_ID", "WEBSITE_SITE_NAME"}
"""Settings that the platform makes."""
NOT_ON_FLEX = {
    "ENABLE_ORYX_BUILD",
    "FUNCTIONS_EXTENSION_VERSION",
    "FUNCTIONS_WORKER_RUNTIME",
    "SCM_DO_BUILD_DURING_DEPLOYMENT",
    "WEBSITE_CONTENTAZUREFILECONNECTIONSTRING",
    "WEBSITE_CONTENTSHARE",
    "WEBSITE_RUN_FROM_PACKAGE",
    "WEBSITE_VNET_ROUTE_ALL",
}


class Recording(dict[str, str]):
    """An environment that remembers what it was asked for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.asked: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)


def settings_read() -> set[str]:
    """The names of all settings that the code looks at."""
    environment = Recording()
    read_settings(environment)
    return environment.asked


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
        scopes = {"/".join(account.lower().split("/")[:3]) for account in scenario.watched}
        if set(role.get("properties.assignableScopes")) != scopes:
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
    }
    for name, value in wanted.items():
        if scenario.settings.get(name) != value:
            yield f"the setting {name} is {scenario.settings.get(name)!r}, not {value!r}"


def settings_agree(scenario: Scenario) -> Iterator[str]:
    """Bicep sets what the code reads, nothing that nobody reads, and the code finds all of it in order."""
    platform = {name for name in scenario.settings if name.startswith(("APPLICATIONINSIGHTS_", "AzureWebJobs"))}
    platform |= {"AZURE_CLIENT_ID", "OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID"}
    expected = settings_read() - LOCAL_SETTINGS - OTHER_WAYS - PLATFORM_SETTINGS
    for name in sorted(expected - scenario.settings.keys()):
        yield f"the code reads {name}, which Bicep doesn't set"
    for name in sorted(scenario.settings.keys() - expected - platform):
        yield f"Bicep sets {name}, which the code doesn't read"
    for name in sorted(NOT_ON_FLEX & scenario.settings.keys()):
        yield f"Flex Consumption refuses the setting {name}"
    if not all(isinstance(value, str) for value in scenario.settings.values()):
        yield "a setting is no text"
        return
    read = read_settings({**scenario.settings, "WEBSITE_SITE_NAME": "x", "WEBSITE_AUTH_ENABLED": "true"})
    yield from read.problems
    watched = [account.rpartition("/")[2] for account in scenario.watched]
    if [account.name for account in read.accounts] != watched:
        yield f"the app watches {[account.name for account in read.accounts]}, not {watched}"
    if read.table_endpoint != f"https://{scenario.host_storage.name}.table.core.windows.net":
        yield f"tables are at {read.table_endpoint}"


def settings_default(scenario: Scenario) -> Iterator[str]:
    """What the parameter file leaves open is as it would be without the setting."""
    accounts = {name: scenario.settings[name] for name in ("BATCH_ACCOUNTS", "AzureWebJobsStorage__accountName")}
    if scenario.name == "the parameter file" and read_settings(scenario.settings) != read_settings(accounts):
        yield "Bicep has other defaults than the code"


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


def app_on_its_plan(scenario: Scenario) -> Iterator[str]:
    site, plan = scenario.app, scenario.one("Microsoft.Web/serverfarms")
    package = site.get("properties.functionAppConfig.deployment.storage.value")
    containers = {
        f"https://{found.id.split('/')[8]}.blob.core.windows.net/{found.name}"
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
        if one.get("properties.logs") != [{"category": "ServiceLog", "enabled": True}]:
            yield f"resource logs are {one.get('properties.logs')}"
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


_ALERTS = {
    "no-tick": ('AppRequests | where Name == "tick" and Success', "LessThan", 1, "PT15M", 1),
    "failures": ("AppRequests | where Success == false", "GreaterThan", 20, "PT15M", 2),
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
    """The alert rules are those that the operators' page tells of, and ask for functions that there are."""
    code = "".join(path.read_text(encoding="utf-8") for path in (infrastructure.root / "functions").rglob("*.py"))
    functions = set(re.findall(r'function_name\("(\w+)"\)', code))
    page = infrastructure.read("docs/operations.md")
    found = {}
    scenario = infrastructure.scenarios[-1]
    for rule in scenario.of("Microsoft.Insights/scheduledQueryRules"):
        (criterion,) = rule.get("properties.criteria.allOf")
        told = rule.get("properties.windowSize"), rule.get("properties.severity")
        name = rule.name.removeprefix(f"batchscope-{scenario.parameter('environmentName')}-")
        found[name] = (criterion["query"], criterion["operator"], criterion["threshold"], *told)
        if not set(re.findall(r'\bName == "(\w+)"', criterion["query"])) <= functions:
            yield f"{name} asks for a function that isn't there: {criterion['query']}"
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
        and definition["actions"] == {"baseBlob": {"delete": {"daysAfterModificationGreaterThan": days}}}
    )


def open_or_private(scenario: Scenario) -> Iterator[str]:
    """With private networking storage is closed to the world, and without it there is no network at all."""
    private = scenario.parameter("privateNetworking")
    pool_subnets = scenario.parameter("poolSubnetIds")
    for account in scenario.of("Microsoft.Storage/storageAccounts"):
        allowed = pool_subnets if account == scenario.telemetry_storage else []
        rules = [rule.get("id") for rule in account.get("properties.networkAcls.virtualNetworkRules")]
        access = ("Enabled" if allowed else "Disabled") if private else "Enabled"
        if account.get("properties.networkAcls.defaultAction") != ("Deny" if private else "Allow"):
            yield f"{account.name} is {'open' if private else 'closed'} by default"
        if account.get("properties.publicNetworkAccess") != access or rules != allowed:
            yield f"{account.name} is reached from {rules}, in public: {account.get('properties.publicNetworkAccess')}"
    if not private:
        yield from (
            f"{found.name} is of no use" for found in scenario.all if found.type.startswith("Microsoft.Network/")
        )
        if scenario.app.get("properties.virtualNetworkSubnetId") is not None:
            yield "the app is in a subnet"


def private_ways(scenario: Scenario) -> Iterator[str]:
    """The app reaches each service of storage that it uses by a private endpoint that its network can look up."""
    if not scenario.parameter("privateNetworking"):
        return
    network = scenario.one("Microsoft.Network/virtualNetworks")
    if scenario.app.get("properties.virtualNetworkSubnetId") != f"{network.id}/subnets/app":
        yield "the app is in another subnet than its own"
    yield from _subnets(scenario, network)
    found = {_reach(endpoint) for endpoint in scenario.of("Microsoft.Network/privateEndpoints")}
    subnet = f"{network.id}/subnets/endpoints"
    host, telemetry = scenario.host_storage.id, scenario.telemetry_storage.id
    wanted = {(host, "blob"), (host, "queue"), (host, "table"), (telemetry, "blob"), (telemetry, "queue")}
    if found != {(account, service, subnet) for account, service in wanted}:
        yield f"private endpoints are {sorted(found)}"
    zones = {zone.id: zone for zone in scenario.of("Microsoft.Network/privateDnsZones")}
    linked = {
        link.id.rpartition("/virtualNetworkLinks/")[0]
        for link in scenario.of("Microsoft.Network/privateDnsZones/virtualNetworkLinks")
        if link.get("properties.virtualNetwork.id") == network.id
    }
    if linked != zones.keys():
        yield "a private DNS zone is not linked with the network"
    groups = {
        group.id.rpartition("/privateDnsZoneGroups/")[0]: group
        for group in scenario.of("Microsoft.Network/privateEndpoints/privateDnsZoneGroups")
    }
    for endpoint in scenario.of("Microsoft.Network/privateEndpoints"):
        zone = f"privatelink.{_reach(endpoint)[1]}.core.windows.net"
        configs = groups[endpoint.id].get("properties.privateDnsZoneConfigs") if endpoint.id in groups else []
        if [
            zones[c["properties"]["privateDnsZoneId"]].name
            for c in configs
            if c["properties"]["privateDnsZoneId"] in zones
        ] != [zone]:
            yield f"{endpoint.name} has no record in {zone}"


def _subnets(scenario: Scenario, network: Resource) -> Iterator[str]:
    space = ipaddress.ip_network(scenario.parameter("virtualNetworkAddressPrefix"))
    subnets = {subnet["name"]: subnet["properties"] for subnet in network.get("properties.subnets")}
    ranges = [ipaddress.ip_network(subnet["addressPrefix"]) for subnet in subnets.values()]
    if network.get("properties.addressSpace.addressPrefixes") != [str(space)]:
        yield "the network has another address space than the parameter"
    if subnets.keys() != {"app", "endpoints"} or not all(part.subnet_of(space) for part in ranges):  # type: ignore[arg-type]
        yield "the subnets are not those of the network"
        return
    if ranges[0].overlaps(ranges[1]) or min(part.num_addresses for part in ranges) < 32:
        yield "the subnets overlap or are too small"
    delegated = [part["properties"]["serviceName"] for part in subnets["app"].get("delegations", [])]
    if delegated != ["Microsoft.App/environments"] or "delegations" in subnets["endpoints"]:
        yield f"the app's subnet is delegated to {delegated}"


def _reach(endpoint: Resource) -> tuple[str, str, str]:
    (connection,) = endpoint.get("properties.privateLinkServiceConnections")
    (service,) = connection["properties"]["groupIds"]
    return connection["properties"]["privateLinkServiceId"], service, endpoint.get("properties.subnet.id")


def waits_for_what_it_needs(scenario: Scenario) -> Iterator[str]:
    """Nothing starts before what it refers to as existing is there, and the app not before its roles."""
    yield from _early(scenario.file)
    app = next(module.symbol for module in scenario.file.modules if scenario.app in module.file.everything)
    waits = scenario.file.depends_on(app)
    needed = {module.symbol for module in scenario.file.modules if any(map(_app_needs, module.file.everything))}
    if needed - waits:
        yield f"the app starts without waiting for {sorted(needed - waits)}"


def _app_needs(found: Resource) -> bool:
    is_role = found.type == "Microsoft.Authorization/roleAssignments" and "/storageAccounts/" in found.scope
    return found.type == "Microsoft.Network/privateEndpoints" or (
        is_role and found.get("properties.principalId") != WRITER
    )


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
        found = [one for one in made if one.type.endswith("/eventSubscriptions")]
        if [one.name for one in found] != [trigger["functionName"] for trigger in BLOB_TRIGGERS]:
            yield "there should be one event subscription a function"
        for one, trigger in zip(found, BLOB_TRIGGERS, strict=False):
            if name and f"/systemTopics/{name}/" not in one.id:
                yield "the existing topic is not used"
            yield from _announced(one, trigger)
        yield from _early(file)


def _announced(subscription: Resource, trigger: Mapping[str, str]) -> Iterator[str]:
    address = urlsplit(subscription.get("properties.destination.properties.endpointUrl", ""))
    if (address.scheme, address.netloc, address.path) != ("https", "func.azurewebsites.net", "/runtime/webhooks/blobs"):
        yield f"events go to {address.geturl()}"
    if parse_qs(address.query) != {"functionName": [f"Host.Functions.{trigger['functionName']}"], "code": [SECRET]}:
        yield f"the webhook is asked for {address.query}"
    begins = subscription.get("properties.filter.subjectBeginsWith")
    if begins != f"/blobServices/default/containers/{trigger['containerName']}/":
        yield f"events are filtered by {begins}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (allowed_roles, blob_events, sensible_alerts)
SCENARIO_RULES: tuple[Callable[[Scenario], Iterator[str]], ...] = (
    alerts_on_demand,
    app_on_its_plan,
    assigned_roles,
    blobs_expire,
    custom_role,
    identity_everywhere,
    logs_kept,
    open_or_private,
    private_ways,
    settings_agree,
    settings_default,
    sign_in,
    waits_for_what_it_needs,
)
