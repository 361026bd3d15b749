"""By which way storage, Batch and the app are reached: by everybody with a token, or through private endpoints only."""

import ipaddress
from collections.abc import Callable, Iterator

from tests.infra.bicep.functions import environment_of
from tests.infra.bicep.resources import Resource
from tests.infra.rules.scenarios import Scenario


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


type Endpoint = tuple[str, str, str, str]
"""What a private endpoint leads to, its service, its subnet, and the zone with its record, empty for none."""


def private_ways(scenario: Scenario) -> Iterator[str]:
    """The app reaches storage and the chosen Batch accounts by private endpoints that its network can look up."""
    if not scenario.parameter("privateNetworking"):
        return
    if scenario.app.get("properties.virtualNetworkSubnetId") != _subnet(scenario, "app"):
        yield "the app is in another subnet than its own"
    found = [_reach(endpoint, scenario) for endpoint in scenario.of("Microsoft.Network/privateEndpoints")]
    wanted = list(_wanted_endpoints(scenario))
    if sorted(found) != sorted(wanted):
        yield f"private endpoints are {sorted(found)}, not {sorted(wanted)}"
    yield from _early_endpoints(scenario)


def _subnet(scenario: Scenario, name: str) -> str:
    """The id of the subnet `app` or `endpoints`: the one that is given, or that of the network which is made."""
    given: str = scenario.parameter({"app": "appSubnetId", "endpoints": "endpointSubnetId"}[name])
    return given or f"{scenario.one('Microsoft.Network/virtualNetworks').id}/subnets/{name}"


def _wanted_endpoints(scenario: Scenario) -> Iterator[Endpoint]:
    suffix = environment_of(scenario.cloud)["suffixes"]["storage"]
    host, telemetry = scenario.host_storage.id, scenario.telemetry_storage.id
    batch, web = _ZONES[scenario.cloud]
    ways = [(host, "blob"), (host, "queue"), (host, "table"), (telemetry, "blob"), (telemetry, "queue")]
    zoned = [
        *((account, service, f"privatelink.{service}.{suffix}") for account, service in ways),
        *((account, "batchAccount", batch) for account in scenario.private_accounts),
        *([(scenario.app.id, "sites", web)] if scenario.parameter("privateInboundAccess") else []),
    ]
    for target, service, zone in zoned:
        yield target, service, _subnet(scenario, "endpoints"), _zone_id(scenario, zone)


def _zone_id(scenario: Scenario, zone: str) -> str:
    central = scenario.parameter("dnsZoneGroupId")
    group = central or scenario.one("Microsoft.Resources/resourceGroups").id
    return "" if central == "none" else f"{group}/providers/Microsoft.Network/privateDnsZones/{zone}"


_ZONES = {
    "AzureCloud": ("privatelink.batch.azure.com", "privatelink.azurewebsites.net"),
    "AzureUSGovernment": ("privatelink.batch.usgovcloudapi.net", "privatelink.azurewebsites.us"),
    "AzureChinaCloud": ("privatelink.batch.chinacloudapi.cn", "privatelink.chinacloudsites.cn"),
}
"""Zones of Batch accounts and of apps in each cloud."""


def _reach(endpoint: Resource, scenario: Scenario) -> Endpoint:
    (connection,) = endpoint.get("properties.privateLinkServiceConnections")
    (service,) = connection["properties"]["groupIds"]
    zones = [
        config["properties"]["privateDnsZoneId"]
        for group in scenario.of("Microsoft.Network/privateEndpoints/privateDnsZoneGroups")
        if group.id.startswith(f"{endpoint.id}/")
        for config in group.get("properties.privateDnsZoneConfigs")
    ]
    target = connection["properties"]["privateLinkServiceId"]
    return target, service, endpoint.get("properties.subnet.id"), ", ".join(zones)


def _early_endpoints(scenario: Scenario) -> Iterator[str]:
    """An endpoint is made after what it leads to and the zone of its record, where the deployment makes these."""
    makers = {
        found.id: module.symbol
        for module in scenario.file.modules
        for found in module.file.everything
        if not found.existing
    }
    for module in scenario.file.modules:
        waits = scenario.file.depends_on(module.symbol)
        for endpoint in (one for one in module.file.everything if one.type == "Microsoft.Network/privateEndpoints"):
            target, _, _, zone = _reach(endpoint, scenario)
            if needed := {makers[place] for place in (target, zone) if place in makers} - waits:
                yield f"{module.symbol} starts without waiting for {sorted(needed)}"


def own_network(scenario: Scenario) -> Iterator[str]:
    """A network is made where no subnets are given; zones, linked with the app's network, where there are no others."""
    networks = scenario.of("Microsoft.Network/virtualNetworks")
    if len(networks) != int(scenario.makes_network):
        yield f"{len(networks)} networks are made"
    for network in networks:
        yield from _subnets(scenario, network)
    zones = {zone.id for zone in scenario.of("Microsoft.Network/privateDnsZones")}
    own = scenario.parameter("privateNetworking") and not scenario.parameter("dnsZoneGroupId")
    wanted = {zone for _, _, _, zone in _wanted_endpoints(scenario)} if own else set()
    if own and zones != wanted:
        yield f"the zones are {sorted(zones)}, not {sorted(wanted)}"
    if not own and zones:
        yield f"the zones {sorted(zones)} are of no use"
    links = scenario.of("Microsoft.Network/privateDnsZones/virtualNetworkLinks")
    linked = [link.id.rpartition("/virtualNetworkLinks/")[0] for link in links]
    if sorted(linked) != sorted(zones):
        yield f"the zones {sorted(linked)} are linked, not {sorted(zones)}"
    for link in links:
        if link.get("properties.virtualNetwork.id") != _subnet(scenario, "app").partition("/subnets/")[0]:
            yield f"{link.id} links with {link.get('properties.virtualNetwork.id')}, where the app isn't"


def way_in(scenario: Scenario) -> Iterator[str]:
    """The app answers the web, some addresses and Event Grid, or private endpoints only, as its parameters say."""
    site, ranges = scenario.app, scenario.parameter("allowedIpRanges")
    access = "Disabled" if scenario.parameter("privateInboundAccess") else "Enabled"
    if site.get("properties.publicNetworkAccess") != access:
        yield f"the app's public access is {site.get('properties.publicNetworkAccess')}"
    config = "properties.siteConfig.ipSecurityRestrictions"
    rules = site.get(config)
    if not ranges:
        if (rules, site.get(f"{config}DefaultAction")) != (None, None):
            yield f"the app refuses addresses by {rules}"
        return
    if site.get(f"{config}DefaultAction") != "Deny":
        yield "the app answers every address"
    told = {(rule["ipAddress"], rule.get("tag")) for rule in rules if rule["action"] == "Allow"}
    if told != {("AzureEventGrid", "ServiceTag"), *((addresses, None) for addresses in ranges)}:
        yield f"the app answers {sorted(map(str, told))}"
    priorities = [rule["priority"] for rule in rules]
    if (
        len(rules) != len(told)
        or len(set(priorities)) != len(rules)
        or len({rule["name"] for rule in rules}) != len(rules)
    ):
        yield f"the rules on addresses are {rules}"


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


SCENARIO_RULES: tuple[Callable[[Scenario], Iterator[str]], ...] = (
    open_or_private,
    own_network,
    private_ways,
    way_in,
)
