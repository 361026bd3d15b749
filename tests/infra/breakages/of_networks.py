"""Planted breakages of networks: private endpoints, zones, subnets of others, ways in, one and two of each."""

from tests.infra.breakages.planting import Breakage

_APP, _NETWORK, _ZONES, _ENDPOINT = (
    f"infra/modules/{name}.bicep" for name in ("app", "network", "dns-zones", "private-endpoint")
)
_MAIN, _CLOUDS = "infra/main.bicep", "infra/clouds.json"
_APP_SUBNET = "(empty(appSubnetId) ? network!.outputs.appSubnetId : appSubnetId)"
_ENDPOINT_SUBNET = "empty(endpointSubnetId) ? network!.outputs.endpointSubnetId : endpointSubnetId"
_ZONE_NAMES = (
    "union(storageZones, empty(privateBatchIds) ? [] : [ batchZone ], privateInboundAccess ? [ webZone ] : [])"
)
_BATCH_NAME = "name: 'pe-${last(split(id, '/'))}-${uniqueString(toLower(id))}'"

NETWORK_BREAKAGES = (
    Breakage("the app ignores the subnet that it is given", _MAIN, _APP_SUBNET, "network!.outputs.appSubnetId"),
    Breakage("the app is put into the endpoints' subnet", _MAIN, _APP_SUBNET, _APP_SUBNET.replace("app", "endpoint")),
    Breakage("storage's endpoints ignore their subnet", _MAIN, _ENDPOINT_SUBNET, "network!.outputs.endpointSubnetId"),
    Breakage("storage's endpoints are in the app's subnet", _MAIN, _ENDPOINT_SUBNET, "appSubnetId"),
    Breakage(
        "a network is made beside the one that is given",
        _MAIN,
        "privateNetworking && (empty(appSubnetId) || empty(endpointSubnetId))",
        "privateNetworking",
    ),
    Breakage(
        "a network is made without private networking",
        _MAIN,
        "privateNetworking && (empty(appSubnetId) || empty(endpointSubnetId))",
        "empty(appSubnetId) || empty(endpointSubnetId)",
    ),
    Breakage("a network is made for nothing", _MAIN, "= if (ownNetwork)", "= if (privateNetworking)"),
    Breakage(
        "no network is made", _MAIN, "var ownNetwork = privateNetworking &&", "var ownNetwork = !privateNetworking &&"
    ),
    Breakage(
        "zones are made beside the central ones",
        _MAIN,
        "if (privateNetworking && empty(dnsZoneGroupId))",
        "if (privateNetworking)",
    ),
    Breakage(
        "zones are made without private networking",
        _MAIN,
        "if (privateNetworking && empty(dnsZoneGroupId))",
        "if (empty(dnsZoneGroupId))",
    ),
    Breakage(
        "records go to zones that nobody made",
        _MAIN,
        "${empty(dnsZoneGroupId) ? groupId : dnsZoneGroupId}",
        "${groupId}",
    ),
    Breakage(
        "central zones are sought in the group",
        _MAIN,
        "empty(dnsZoneGroupId) ? groupId",
        "!empty(dnsZoneGroupId) ? groupId",
    ),
    Breakage("a policy's records are made twice", _MAIN, "dnsZoneGroupId == 'none'", "dnsZoneGroupId == 'policy'"),
    Breakage(
        "an endpoint of storage has no record",
        _MAIN,
        "zoneId: zonesByPolicy ? '' : '${zonesId}/privatelink",
        "zoneId: true ? '' : '${zonesId}/privatelink",
    ),
    Breakage("an endpoint of Batch has no record", _MAIN, "zonesByPolicy ? '' : '${zonesId}/${batchZone}'", "''"),
    Breakage("the app's endpoint has no record", _MAIN, "zonesByPolicy ? '' : '${zonesId}/${webZone}'", "''"),
    Breakage(
        "records of Batch are in the zone of the web", _MAIN, "'${zonesId}/${batchZone}'", "'${zonesId}/${webZone}'"
    ),
    Breakage(
        "no zone of Batch is made", _MAIN, _ZONE_NAMES, "union(storageZones, privateInboundAccess ? [ webZone ] : [])"
    ),
    Breakage(
        "no zone of the web is made",
        _MAIN,
        _ZONE_NAMES,
        "union(storageZones, empty(privateBatchIds) ? [] : [ batchZone ])",
    ),
    Breakage(
        "a zone of Batch is made for nothing",
        _MAIN,
        _ZONE_NAMES,
        "union(storageZones, [ batchZone ], privateInboundAccess ? [ webZone ] : [])",
    ),
    Breakage(
        "a zone of the web is made for nothing",
        _MAIN,
        _ZONE_NAMES,
        "union(storageZones, empty(privateBatchIds) ? [] : [ batchZone ], [ webZone ])",
    ),
    Breakage(
        "zones are linked with the endpoints' network",
        _MAIN,
        "first(split(appSubnetId, '/subnets/'))",
        "first(split(endpointSubnetId, '/subnets/'))",
    ),
    Breakage("zones are linked with a subnet", _MAIN, "first(split(appSubnetId, '/subnets/'))", "appSubnetId"),
    Breakage(
        "zones are linked with the network that isn't there",
        _MAIN,
        "empty(appSubnetId) ? network!.outputs.id",
        "true ? network!.outputs.id",
    ),
    Breakage(
        "names of machines are written into zones", _ZONES, "registrationEnabled: false", "registrationEnabled: true"
    ),
    Breakage("all zones are linked by the first", _ZONES, "parent: zones[i]", "parent: zones[0]"),
    Breakage(
        "zones stand in a region",
        _ZONES,
        "  location: 'global'\n  tags: tags\n}]",
        "  location: 'westeurope'\n  tags: tags\n}]",
    ),
    Breakage("zones have no tags", _ZONES, "  location: 'global'\n  tags: tags\n}]", "  location: 'global'\n}]"),
    Breakage(
        "Batch has no endpoints",
        _MAIN,
        "[for id in privateBatchIds: if (privateNetworking) {",
        "[for id in privateBatchIds: if (!privateNetworking) {",
    ),
    Breakage(
        "Batch has endpoints without a network",
        _MAIN,
        "[for id in privateBatchIds: if (privateNetworking) {",
        "[for id in privateBatchIds: if (true) {",
    ),
    Breakage("every watched account has an endpoint", _MAIN, "[for id in privateBatchIds:", "[for id in accountIds:"),
    Breakage(
        "the endpoint leads to the nodes' management", _MAIN, "service: 'batchAccount'", "service: 'nodeManagement'"
    ),
    Breakage(
        "a comma too many is a private account",
        _MAIN,
        "filter(split(replace(privateBatchAccountIds, ' ', ''), ','), id => !empty(id))",
        "split(replace(privateBatchAccountIds, ' ', ''), ',')",
    ),
    Breakage(
        "a space is part of a private account",
        _MAIN,
        "replace(privateBatchAccountIds, ' ', '')",
        "privateBatchAccountIds",
    ),
    Breakage("two private accounts have one endpoint", _MAIN, _BATCH_NAME, "name: 'pe-batch'"),
    Breakage(
        "two private accounts have one deployment",
        _MAIN,
        "'endpoint-batch-${uniqueString(toLower(id))}'",
        "'endpoint-batch'",
    ),
    Breakage(
        "every endpoint of Batch leads to the first account",
        _MAIN,
        "    resourceId: id\n",
        "    resourceId: privateBatchIds[0]\n",
    ),
    Breakage(
        "the app doesn't wait for the endpoints of Batch",
        _MAIN,
        "    batchEndpoints\n    endpoints\n",
        "    endpoints\n",
    ),
    Breakage(
        "an endpoint of Batch doesn't wait for its zone",
        _MAIN,
        "    zoneId: zonesByPolicy ? '' : '${zonesId}/${batchZone}'\n  }\n  dependsOn: [\n    dnsZones\n  ]\n",
        "    zoneId: zonesByPolicy ? '' : '${zonesId}/${batchZone}'\n  }\n",
    ),
    Breakage(
        "storage's endpoints don't wait for their zones", _MAIN, "    dnsZones\n    hostStorage\n", "    hostStorage\n"
    ),
    Breakage(
        "an endpoint is made without its zone's record", _ENDPOINT, "= if (!empty(zoneId))", "= if (empty(zoneId))"
    ),
    Breakage("an endpoint has no tags", _ENDPOINT, "  tags: tags\n", ""),
    Breakage(
        "endpoints lead to another group's storage",
        _MAIN,
        "resourceId: '${groupId}/providers",
        "resourceId: '${subscription().id}/providers",
    ),
    Breakage("the private app answers the web", _APP, "privateInboundAccess ? 'Disabled' : 'Enabled'", "'Enabled'"),
    Breakage(
        "the app answers the web where it has no other way in",
        _MAIN,
        "privateInboundAccess: privateInboundAccess",
        "privateInboundAccess: privateNetworking && privateInboundAccess",
    ),
    Breakage("the app is closed to everybody", _APP, "privateInboundAccess ? 'Disabled' : 'Enabled'", "'Disabled'"),
    Breakage(
        "the private app has no way in",
        _MAIN,
        "if (privateNetworking && privateInboundAccess)",
        "if (!privateNetworking && privateInboundAccess)",
    ),
    Breakage(
        "the app has a way in that nobody asked for",
        _MAIN,
        "if (privateNetworking && privateInboundAccess)",
        "if (privateNetworking)",
    ),
    Breakage("the way in leads to the plan", _MAIN, "service: 'sites'", "service: 'serverfarms'"),
    Breakage("a way in is not the app's", _MAIN, "resourceId: app.outputs.id", "resourceId: hostStorage.outputs.id"),
    Breakage(
        "everybody gets in beside the ranges",
        _APP,
        "empty(allowedIpRanges) ? null : 'Deny'",
        "empty(allowedIpRanges) ? null : 'Allow'",
    ),
    Breakage("nobody gets in without ranges", _APP, "empty(allowedIpRanges) ? null : 'Deny'", "'Deny'"),
    Breakage(
        "the ranges are refused",
        _APP,
        "  name: 'allowed-${i}'\n  action: 'Allow'\n",
        "  name: 'allowed-${i}'\n  action: 'Deny'\n",
    ),
    Breakage("Event Grid can't reach the app", _APP, "concat(eventGridRules, ipRules)", "ipRules"),
    Breakage("only Event Grid reaches the app", _APP, "concat(eventGridRules, ipRules)", "eventGridRules"),
    Breakage("all of Azure gets in", _APP, "ipAddress: 'AzureEventGrid'", "ipAddress: 'AzureCloud'"),
    Breakage("a service tag is taken for an address", _APP, "    tag: 'ServiceTag'\n", ""),
    Breakage("two ranges have one priority", _APP, "priority: 200 + i", "priority: 200"),
    Breakage("two ranges have one name", _APP, "name: 'allowed-${i}'", "name: 'allowed'"),
    Breakage("every rule lets the first range in", _APP, "ipAddress: addresses", "ipAddress: allowedIpRanges[0]"),
    Breakage("a zone of another cloud is made", _CLOUDS, '"batch.usgovcloudapi.net"', '"batch.azure.us"'),
    Breakage("a cloud is unknown", _CLOUDS, '"AzureChinaCloud"', '"AzureGermanCloud"'),
    Breakage("apps have the zone of another cloud", _CLOUDS, '"azurewebsites.us"', '"azurewebsites.net"'),
    Breakage("the cloud is always the public one", _MAIN, "clouds[environment().name]", "clouds['AzureCloud']"),
)
