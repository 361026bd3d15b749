"""By which way storage is reached: by everybody with a token, or through private endpoints only."""

import ipaddress
from collections.abc import Callable, Iterator

from tests.infra.bicep_resources import Resource
from tests.infra.scenarios import Scenario


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


SCENARIO_RULES: tuple[Callable[[Scenario], Iterator[str]], ...] = (
    open_or_private,
    private_ways,
)
