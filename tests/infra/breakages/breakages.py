"""Planted breakages, each one edit of one file: the rules and the checker must notice them.

They are of many kinds on purpose, and the rules are written for kinds of resources, not for this list.
"""

from tests.infra.breakages.by_addition import ADDITIONS
from tests.infra.breakages.of_names import TWO_OF_EACH
from tests.infra.breakages.of_networks import NETWORK_BREAKAGES
from tests.infra.breakages.of_pipelines import PIPELINE_BREAKAGES
from tests.infra.breakages.of_rights import RIGHTS_BREAKAGES
from tests.infra.breakages.planting import Breakage

_APP, _STORAGE, _MAIN = "infra/modules/app.bicep", "infra/modules/storage.bicep", "infra/main.bicep"
_BATCH, _EVENTS = "infra/modules/batch-account.bicep", "infra/events.bicep"


BREAKAGES = (
    Breakage("a role's id is mistyped", "infra/roles.json", "0fb88", "0fb89"),
    Breakage(
        "a role of another name is assigned",
        _MAIN,
        "roles.storageTableDataContributor",
        "roles.storageBlobDataOwner",
    ),
    Breakage("a role is not assigned", _MAIN, "      roles.storageQueueDataContributor\n", ""),
    Breakage("a role is assigned to the whole group", _BATCH, "  scope: batchAccount\n", ""),
    Breakage(
        "a role is given to a name",
        _MAIN,
        "principalId: identity.outputs.principalId",
        "principalId: identity.outputs.name",
    ),
    Breakage("a role assignment is for a user", _BATCH, "'ServicePrincipal'", "'User'"),
    Breakage(
        "the custom role may write",
        "infra/modules/batch-role.bicep",
        "batchAccounts/jobs/read",
        "batchAccounts/jobs/write",
    ),
    Breakage(
        "the custom role reads no schedules",
        "infra/modules/batch-role.bicep",
        "          'Microsoft.Batch/batchAccounts/jobSchedules/read'\n",
        "",
    ),
    Breakage(
        "a module doesn't wait for storage", _MAIN, "    hostStorage\n    telemetryStorage\n  ]", "    hostStorage\n  ]"
    ),
    Breakage("the app doesn't wait for its roles", _MAIN, "    hostStorageRoles\n", ""),
    Breakage("a topic is looked up before it is made", _EVENTS, "  dependsOn: [\n    newTopic\n  ]\n", ""),
    Breakage("events come with the master key", _EVENTS, "systemKeys.blobs_extension", "systemKeys.masterKey"),
    Breakage("a child has no parent", _STORAGE, "  parent: account\n", ""),
    Breakage("a child has another parent", _STORAGE, "  parent: blobService\n", "  parent: account\n"),
    Breakage(
        "the account is sought in another group",
        _MAIN,
        "scope: resourceGroup(split(id, '/')[2], split(id, '/')[4])",
        "scope: group",
    ),
    Breakage(
        "the account is sought in another subscription",
        _MAIN,
        "resourceGroup(split(id, '/')[2], ",
        "resourceGroup(split(id, '/')[1], ",
    ),
    Breakage("a module has no scope", _MAIN, "  name: 'monitoring'\n  scope: group\n", "  name: 'monitoring'\n"),
    Breakage("blobs may be public", _STORAGE, "allowBlobPublicAccess: false", "allowBlobPublicAccess: true"),
    Breakage("a container is public", _STORAGE, "publicAccess: 'None'", "publicAccess: 'Blob'"),
    Breakage("shared keys are allowed", _STORAGE, "    allowSharedKeyAccess: false\n", ""),
    Breakage(
        "plain HTTP is allowed to storage",
        _STORAGE,
        "supportsHttpsTrafficOnly: true",
        "supportsHttpsTrafficOnly: false",
    ),
    Breakage("plain HTTP is allowed to the app", _APP, "    httpsOnly: true\n", ""),
    Breakage("old TLS is allowed", _APP, "minTlsVersion: '1.2'", "minTlsVersion: '1.0'"),
    Breakage(
        "a site property is refused by the plan",
        _APP,
        "      http20Enabled: true\n",
        "      ftpsState: 'Disabled'\n      http20Enabled: true\n",
    ),
    Breakage(
        "instances are always ready",
        _APP,
        "        triggers: {\n",
        "        alwaysReady: [\n          { name: 'http', instanceCount: 1 }\n        ]\n        triggers: {\n",
    ),
    Breakage(
        "code can't be deployed from outside",
        _APP,
        "      scmMinTlsVersion: '1.2'\n",
        "      scmIpSecurityRestrictionsDefaultAction: 'Deny'\n      scmMinTlsVersion: '1.2'\n",
    ),
    Breakage("a password is taken over ftp", _APP, "  name: 'ftp'\n", "  name: 'scm'\n"),
    Breakage("a password is taken over scm", _APP, "    allow: false\n", "    allow: true\n"),
    Breakage("private storage stays open", _STORAGE, "privateNetworking ? 'Deny' : 'Allow'", "'Allow'"),
    Breakage("a private DNS zone is missing", _MAIN, "[ 'blob', 'queue', 'table' ]", "[ 'blob', 'table' ]"),
    Breakage(
        "the app's subnet is not delegated",
        "infra/modules/network.bicep",
        "Microsoft.App/environments",
        "Microsoft.Web/serverFarms",
    ),
    Breakage(
        "the app is not in the network",
        _MAIN,
        "subnetId: !privateNetworking ? '' : (empty(appSubnetId) ? network!.outputs.appSubnetId : appSubnetId)",
        "subnetId: ''",
    ),
    Breakage(
        "keys of Application Insights work",
        "infra/modules/monitoring.bicep",
        "DisableLocalAuth: true",
        "DisableLocalAuth: false",
    ),
    Breakage(
        "logs have no cap",
        "infra/modules/monitoring.bicep",
        "    workspaceCapping: {\n      dailyQuotaGb: dailyQuotaGb\n    }\n",
        "",
    ),
    Breakage(
        "an api-version doesn't exist",
        _APP,
        "Microsoft.Web/sites@2025-03-01' = {",
        "Microsoft.Web/sites@2035-03-01' = {",
    ),
    Breakage("an api-version is old", _STORAGE, "storageAccounts@2025-06-01' = {", "storageAccounts@2021-09-01' = {"),
    Breakage("a property is misspelt", _STORAGE, "minimumTlsVersion", "minimumTLSVersion"),
    Breakage("a value is of the wrong type", _APP, "instanceMemoryMB: instanceMemoryMB", "instanceMemoryMB: '2048'"),
    Breakage("a value is of no enumeration", _STORAGE, "kind: 'StorageV2'", "kind: 'StorageV9'"),
    Breakage("a brace is missing", _APP, "  sku: {\n", "  sku: \n"),
    Breakage("a symbol is misspelt", _MAIN, "workspaceId: monitoring.outputs", "workspaceId: monitorng.outputs"),
    Breakage(
        "a module's output is misspelt", _MAIN, "monitoring.outputs.workspaceId", "monitoring.outputs.workspaceID"
    ),
    Breakage("a module gets an unknown parameter", _MAIN, "    email: alertEmail\n", "    mail: alertEmail\n"),
    Breakage(
        "a module comes from a registry",
        _MAIN,
        "'modules/identity.bicep'",
        "'br/public:avm/res/managed-identity/user-assigned-identity:0.4.0'",
    ),
    Breakage("a parameter has no description", _MAIN, "@description('Seconds between two polls of an account.')\n", ""),
    Breakage("a parameter is removed", _MAIN, "param jobHorizonDays int = 7\n", ""),
    Breakage("a parameter is dead", _MAIN, "string(pollOverlapSeconds)", "'30'"),
    Breakage("a limit is lifted", _MAIN, "@minValue(1)\n@maxValue(86400)\n", ""),
    Breakage(
        "a default is another than the code's", _MAIN, "param pollSeconds int = 60", "param pollSeconds int = 600"
    ),
    Breakage("a region is fixed", "infra/modules/identity.bicep", "location: location", "location: 'westeurope'"),
    Breakage("a setting is missing", _MAIN, "      TICK_SCHEDULE: tickSchedule\n", ""),
    Breakage(
        "a binding's connection has no setting",
        "functions/polling.py",
        'connection="AzureWebJobsStorage"',
        'connection="OTHER_STORAGE"',
    ),
    Breakage(
        "logs are looked for elsewhere",
        _APP,
        "telemetryStorage.properties.primaryEndpoints.blob\n",
        "hostStorage.properties.primaryEndpoints.blob\n",
    ),
    Breakage("a setting is misspelt", _MAIN, "POLL_SECONDS:", "POLL_SECOND:"),
    Breakage(
        "a setting is refused by the plan",
        _APP,
        "    AzureWebJobsDisableHomepage",
        "    FUNCTIONS_WORKER_RUNTIME: 'python'\n    AzureWebJobsDisableHomepage",
    ),
    Breakage("the app doesn't know its identity", _APP, "    AZURE_CLIENT_ID: identity.properties.clientId\n", ""),
    Breakage(
        "a setting holds a key",
        _APP,
        "    AzureWebJobsStorage__credential: 'managedidentity'\n",
        "    AzureWebJobsStorage: 'AccountName=x;AccountKey=${hostStorage.listKeys().keys[0].value}'\n",
    ),
    Breakage(
        "an output holds a key",
        _APP,
        "output name string = app.name",
        "output name string = listKeys('${app.id}/host/default', app.apiVersion).masterKey",
    ),
    Breakage("the app bears its own identity", _APP, "    type: 'UserAssigned'\n", "    type: 'SystemAssigned'\n"),
    Breakage("sign-in is optional", _APP, "requireAuthentication: true", "requireAuthentication: false"),
    Breakage(
        "the accounts need no sign-in",
        _APP,
        "        '/api/health'\n",
        "        '/api/health'\n        '/api/accounts'\n",
    ),
    Breakage("the webhook needs sign-in", _APP, "        '/runtime/webhooks/blobs'\n", ""),
    Breakage("the app runs on an old Python", _APP, "version: '3.13'", "version: '3.11'"),
    Breakage("the plan is another", _APP, "name: 'FC1'", "name: 'Y1'"),
    Breakage(
        "the package is kept elsewhere",
        _MAIN,
        "packageContainerName: packageContainer",
        "packageContainerName: 'packages'",
    ),
    Breakage("logs of another category are kept", _BATCH, "'ServiceLog'", "'AuditLog'"),
    Breakage("logs go nowhere", _MAIN, "telemetryStorage.outputs.id : ''", "'' : ''"),
    Breakage("telemetry never ends", _MAIN, "days: telemetryRetentionDays", "days: resourceLogRetentionDays"),
    Breakage("an alert asks for what nobody logs", "infra/modules/alerts.bicep", "A tick ended well", "A tick ended"),
    Breakage(
        "an alert counts what clients did wrong", "infra/modules/alerts.bicep", ' and ResultCode !startswith "4"', ""
    ),
    Breakage("an alert's table must be there", "infra/modules/alerts.bicep", "    skipQueryValidation: true\n", ""),
    Breakage(
        "a role assignment bears one name on both accounts",
        "infra/modules/storage-roles.bicep",
        "guid(account.id, principalId, roleId)",
        "guid(resourceGroup().id, principalId, roleId)",
    ),
    Breakage(
        "two environments want one storage account",
        _MAIN,
        "uniqueString(subscription().id, environmentName, ",
        "uniqueString(subscription().id, ",
    ),
    Breakage(
        "two subscriptions want one storage account",
        _MAIN,
        "uniqueString(subscription().id, environmentName, ",
        "uniqueString(environmentName, ",
    ),
    Breakage(
        "a name has what no name may have",
        _MAIN,
        "app: 'func-batchscope-${environmentLabel}-${suffix}'",
        "app: 'func-batchscope-${environmentName}-${suffix}'",
    ),
    Breakage(
        "a comma too many is an account",
        _MAIN,
        "filter(split(replace(batchAccountIds, ' ', ''), ','), id => !empty(id))",
        "split(replace(batchAccountIds, ' ', ''), ',')",
    ),
    Breakage(
        "the custom role can't stand where it does",
        _MAIN,
        "union([ ownSubscriptionId ], accountSubscriptionIds)",
        "union(accountSubscriptionIds, [])",
    ),
    Breakage(
        "metrics are kept as well",
        _BATCH,
        "    logs: [\n",
        "    metrics: [\n      {\n        category: 'AllMetrics'\n        enabled: true\n      }\n    ]\n    logs: [\n",
    ),
    Breakage("events go to another webhook", _EVENTS, "/runtime/webhooks/blobs", "/runtime/webhooks/eventgrid"),
    Breakage(
        "events come without the key",
        _EVENTS,
        "&code=${listKeys('${app.id}/host/default', app.apiVersion).systemKeys.blobs_extension}",
        "",
    ),
    Breakage("events of other containers come as well", _EVENTS, "containers/${trigger.containerName}/", "containers/"),
    *ADDITIONS,
    *TWO_OF_EACH,
    *NETWORK_BREAKAGES,
    *RIGHTS_BREAKAGES,
    *PIPELINE_BREAKAGES,
)
