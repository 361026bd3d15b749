"""Each resource has the properties that were looked up, and no others: one more can undo what all the others say.

A second identity provider, a filter of events, a range of addresses, versions that no lifecycle rule ends: each is one
property that no test of a known one would see. A change that needs another property enters it here, or, where only some
values are safe, beside those in resources.py.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from tests.infra.bicep.resources import Resource
from tests.infra.rules.resources import judged_paths, leaves
from tests.infra.rules.scenarios import Infrastructure

_EVERYWHERE = {"location", "name", "parent", "scope", "tags"}
_SUBNET = "properties.subnets[].properties"
_PROVIDER = "properties.identityProviders.azureActiveDirectory"
_RESTRICTION = ("action", "ipAddress", "name", "priority", "tag")
_APP_CONFIG = "properties.functionAppConfig"
_TAKEN: Mapping[str, set[str]] = {
    "Microsoft.Authorization/roleAssignments": {
        "properties.condition",
        "properties.conditionVersion",
        "properties.principalId",
        "properties.roleDefinitionId",
    },
    "Microsoft.Authorization/roleDefinitions": {
        "properties.assignableScopes[]",
        "properties.description",
        "properties.permissions[].actions[]",
        "properties.permissions[].dataActions[]",
        "properties.roleName",
    },
    "Microsoft.EventGrid/systemTopics": {"properties.source"},
    "Microsoft.EventGrid/systemTopics/eventSubscriptions": {
        "properties.destination.properties.endpointUrl",
        "properties.filter.subjectBeginsWith",
    },
    "Microsoft.Insights/actionGroups": {
        "properties.emailReceivers[].emailAddress",
        "properties.emailReceivers[].name",
        "properties.emailReceivers[].useCommonAlertSchema",
    },
    "Microsoft.Insights/diagnosticSettings": {"properties.logs[].category", "properties.logs[].enabled"},
    "Microsoft.Insights/scheduledQueryRules": {
        "properties.criteria.allOf[].failingPeriods.minFailingPeriodsToAlert",
        "properties.criteria.allOf[].failingPeriods.numberOfEvaluationPeriods",
        "properties.criteria.allOf[].operator",
        "properties.criteria.allOf[].query",
        "properties.criteria.allOf[].threshold",
        "properties.criteria.allOf[].timeAggregation",
        "properties.displayName",
        "properties.severity",
        "properties.windowSize",
    },
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks": {"properties.virtualNetwork.id"},
    "Microsoft.Network/privateEndpoints": {
        "properties.privateLinkServiceConnections[].name",
        "properties.privateLinkServiceConnections[].properties.groupIds[]",
        "properties.privateLinkServiceConnections[].properties.privateLinkServiceId",
        "properties.subnet.id",
    },
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups": {
        "properties.privateDnsZoneConfigs[].name",
        "properties.privateDnsZoneConfigs[].properties.privateDnsZoneId",
    },
    "Microsoft.Network/virtualNetworks": {
        "properties.subnets[].name",
        f"{_SUBNET}.addressPrefix",
        f"{_SUBNET}.delegations[].name",
        f"{_SUBNET}.delegations[].properties.serviceName",
    },
    "Microsoft.Storage/storageAccounts": {
        "identity",
        "identity.type",
        "properties.encryption",
        "properties.encryption.identity.userAssignedIdentity",
        "properties.encryption.keySource",
        "properties.encryption.keyvaultproperties.keyname",
        "properties.encryption.keyvaultproperties.keyvaulturi",
        *(
            f"properties.encryption.services.{service}.{name}"
            for service in ("blob", "queue", "table")
            for name in ("enabled", "keyType")
        ),
        "sku.name",
        "properties.networkAcls.defaultAction",
        "properties.networkAcls.virtualNetworkRules[].action",
        "properties.networkAcls.virtualNetworkRules[].id",
        "properties.publicNetworkAccess",
    },
    "Microsoft.Storage/storageAccounts/managementPolicies": {
        "properties.policy.rules[].definition.actions.baseBlob.delete.daysAfterModificationGreaterThan",
        "properties.policy.rules[].definition.actions.snapshot.delete.daysAfterCreationGreaterThan",
        "properties.policy.rules[].definition.filters.blobTypes[]",
        "properties.policy.rules[].definition.filters.prefixMatch[]",
        "properties.policy.rules[].enabled",
        "properties.policy.rules[].name",
        "properties.policy.rules[].type",
    },
    "Microsoft.Web/sites": {
        f"{_APP_CONFIG}.deployment.storage.authentication.userAssignedIdentityResourceId",
        f"{_APP_CONFIG}.deployment.storage.value",
        f"{_APP_CONFIG}.runtime.version",
        f"{_APP_CONFIG}.scaleAndConcurrency.instanceMemoryMB",
        f"{_APP_CONFIG}.scaleAndConcurrency.maximumInstanceCount",
        f"{_APP_CONFIG}.scaleAndConcurrency.triggers.http.perInstanceConcurrency",
        "properties.keyVaultReferenceIdentity",
        "properties.publicNetworkAccess",
        "properties.serverFarmId",
        "properties.siteConfig.ipSecurityRestrictions",
        *(f"properties.siteConfig.ipSecurityRestrictions[].{name}" for name in _RESTRICTION),
        "properties.siteConfig.ipSecurityRestrictionsDefaultAction",
        "properties.virtualNetworkSubnetId",
    },
    "Microsoft.Web/sites/config": {
        f"{_PROVIDER}.registration.clientId",
        f"{_PROVIDER}.registration.clientSecretSettingName",
        f"{_PROVIDER}.registration.openIdIssuer",
        f"{_PROVIDER}.validation.allowedAudiences[]",
    },
}
"""What other rules judge, by its path; `[]` stands for every entry of a list."""


def known_properties(infrastructure: Infrastructure) -> Iterator[str]:
    deployed = [found for scenario in infrastructure.scenarios for found in scenario.all]
    for found in [*deployed, *(found for found in infrastructure.events().everything if not found.existing)]:
        # What the app's settings may be named is for settings.py to say.
        if found.name != "appsettings":
            yield from _unknown(found)


def _unknown(found: Resource) -> Iterator[str]:
    judged = judged_paths(found)
    taken = {*_TAKEN.get(found.type, ()), *judged, *(f"{path}[]" for path in judged)}
    for place, _ in leaves(found.body):
        path = re.sub(r"\[\d+\]", "[]", place)
        if path not in taken and re.split(r"[.\[]", path)[0] not in _EVERYWHERE:
            yield f"{found.file}: nobody has looked up {path} of a {found.type}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (known_properties,)
