// Batchscope in a resource group of its own, and what it needs to read each watched Batch account.
targetScope = 'subscription'

@description('Name of the environment, such as dev or prod; part of every name, there in lower case and with a hyphen for what is no letter or digit.')
@minLength(2)
@maxLength(12)
param environmentName string

@description('Region of everything but the watched Batch accounts, such as westeurope.')
@minLength(3)
param location string

@description('Resource ids of the Batch accounts to watch, separated by commas; they may be in any resource group and subscription of the tenant.')
@minLength(100)
param batchAccountIds string

@description('Those of batchAccountIds whose resource logs are kept, as separated there; they must be in the region of this deployment. By default all; "none" for none.')
param loggedBatchAccountIds string = batchAccountIds

@description('Client id of the app registration with which people sign in; infra/app_registration.py makes one.')
@minLength(36)
@maxLength(36)
param authClientId string

@description('Address of a Key Vault secret with which the app signs people in; empty to sign in by its identity.')
param authCredentialUri string = ''

@description('Whether to set WEBSITE_AUTH_ENABLED; the smoke test says where the platform does not.')
param authEnabledSetting bool = false

@description('Whether to give the app a custom role with the least rights on Batch accounts, instead of the built-in Azure Batch Account Reader.')
param leastPrivilegeBatchRole bool = false

@description('Tags of everything that is deployed, beside azd-env-name.')
param tags object = {}

@description('Whether storage is reached through private endpoints only.')
param privateNetworking bool = false

@description('Address space of the virtual network when networking is private; a /24 or larger.')
param virtualNetworkAddressPrefix string = '10.64.0.0/24'

@description('Id of an existing subnet for the app when networking is private, delegated to Microsoft.App/environments; give both subnets or none.')
param appSubnetId string = ''

@description('Id of an existing subnet for private endpoints when networking is private, in reach of the one for the app.')
param endpointSubnetId string = ''

@description('Id of the resource group with central private DNS zones; "none" where a policy makes the records, empty to make zones here.')
param dnsZoneGroupId string = ''

@description('Those of batchAccountIds that are reached by private endpoints when networking is private, separated by commas.')
param privateBatchAccountIds string = ''

@description('Whether the app answers private endpoints only; needs privateNetworking for the endpoint.')
param privateInboundAccess bool = false

@description('Ranges of addresses that reach the app over the web, such as 203.0.113.0/24; empty for all.')
param allowedIpRanges string[] = []

@description('Ids of the subnets whose Batch pools write telemetry when networking is private; each needs the service endpoint Microsoft.Storage.')
param poolSubnetIds string[] = []

@description('Managed identities of Batch pools that write telemetry, each with the folders that are its own; they read the node agent.')
param telemetryWriters {
  @description('Object id of the identity.')
  principalId: string
  @description('Folders of the container telemetry, such as accounts/NAME/pools/POOL.')
  prefix: string
}[] = []

@description('Copies of stored data: LRS in one place, ZRS in three zones, GRS and GZRS in a second region as well.')
@allowed([
  'LRS'
  'ZRS'
  'GRS'
  'GZRS'
])
param storageRedundancy string = 'LRS'

@description('Address of a Key Vault key that encrypts storage, without a version; empty for keys of Microsoft.')
param encryptionKeyUri string = ''

@description('Id of the user-assigned identity that may use the key of encryptionKeyUri.')
param encryptionIdentityId string = ''

@description('Days after which telemetry of nodes is deleted.')
@minValue(1)
param telemetryRetentionDays int = 14

@description('Days after which resource logs of Batch accounts are deleted.')
@minValue(1)
param resourceLogRetentionDays int = 90

@description('Gigabytes of the app\'s own logs that are taken in a day.')
@minValue(1)
param logDailyQuotaGb int = 1

@description('Days that the app\'s own logs are kept.')
@minValue(30)
@maxValue(730)
param logRetentionDays int = 30

@description('Address that gets mail when the app stops polling or fails; empty for no alerts.')
param alertEmail string = ''

@description('Memory of an instance of the app in megabytes.')
@allowed([
  512
  2048
  4096
])
param instanceMemoryMB int = 2048

@description('Most instances of the app that may run at once.')
@minValue(1)
@maxValue(1000)
param maximumInstanceCount int = 40

@description('HTTP requests that one instance serves at a time.')
@minValue(1)
@maxValue(1000)
param httpConcurrency int = 16

@description('Who may read and operate single accounts: entries ACCOUNT=ROLE:WHO with commas between them, WHO being an app role or the object id of a group; empty for every Reader and Operator.')
param accountRoles string = ''

@description('Your own announcements of what is retired, as JSON in the form of those that come with the app; empty for none.')
param retirements string = ''

@description('Where prices of nodes come from: both is your own prices first, then those of the retail list.')
@allowed([
  'both'
  'retail'
  'file'
  'off'
])
param priceSource string = 'both'

@description('Currency of prices, such as EUR.')
@minLength(3)
@maxLength(3)
param priceCurrency string = 'USD'

@description('Your own prices, as JSON in the form that docs/api.md describes; empty for none.')
param priceFile string = ''

@description('When to look for accounts that are due: six fields of NCRONTAB.')
param tickSchedule string = '0 * * * * *'

@description('Seconds between two polls of an account.')
@minValue(1)
@maxValue(86400)
param pollSeconds int = 60

@description('Seconds during which one tick may start new polls.')
@minValue(1)
@maxValue(1800)
param tickBudgetSeconds int = 45

@description('Seconds that each delta reaches back, for changes that become visible late.')
@minValue(1)
@maxValue(3600)
param pollOverlapSeconds int = 30

@description('Minutes between two lists of all jobs.')
@minValue(1)
@maxValue(1440)
param fullListMinutes int = 15

@description('Days after whose completion jobs are left alone when an account is first seen.')
@minValue(0)
@maxValue(3650)
param jobHorizonDays int = 7

@description('Hours after which the tasks of a job are listed anew.')
@minValue(1)
@maxValue(8760)
param fullReadHours int = 24

@description('Days that a deleted job and its tasks are kept.')
@minValue(0)
@maxValue(3650)
param deletedJobDays int = 30

@description('Days that the history of jobs is kept to the minute; no longer than to the quarter of an hour.')
@minValue(1)
@maxValue(365)
param historyMinuteDays int = 7

@description('Days that the history of jobs is kept to the quarter of an hour.')
@minValue(1)
@maxValue(3650)
param historyQuarterHourDays int = 90

@description('Days that events of Batch are kept.')
@minValue(1)
@maxValue(3650)
param eventDays int = 90

@description('Days that telemetry of nodes is kept by the minute.')
@minValue(1)
@maxValue(365)
param telemetryMinuteDays int = 7

@description('Days that telemetry of nodes is kept by the hour, which its minutes become; no longer than by the minute: not at all.')
@minValue(0)
@maxValue(3650)
param telemetryHourDays int = 90

@description('What names of telemetry blobs tell: a pattern of folders with {account}, {pool}, {node}, {job}, {task} and {attempt}.')
param telemetryPath string = 'accounts/{account}/pools/{pool}/nodes/{node}/**/*'

@description('Days that the status of a poll on demand is kept.')
@minValue(1)
@maxValue(365)
param pollStatusDays int = 7

@description('Names of metadata of pools and jobs, and of tags of accounts, whose values are kept to group costs by, separated by commas.')
param costLabels string = ''

@description('Whether to read the quotas of Batch accounts from Azure Resource Manager, once an hour.')
@allowed([
  'on'
  'off'
])
param readQuotas string = 'on'

@description('Who may read files of tasks and nodes: all readers, operators only, or nobody.')
@allowed([
  'readers'
  'operators'
  'nobody'
])
param fileReaders string = 'readers'

@description('For how many days the ends of failed tasks\' outputs are kept, also of single accounts and pools: 30, demo=7, demo/secret=0.')
param outputDays string = '30'

@description('Megabytes that may be read of an account\'s nodes on a day to keep outputs, also of single accounts: 200, demo=50.')
param outputMbPerDay string = '200'

@description('Of how many failed tasks of each failure group and each node outputs are kept, also of single accounts and pools: 5, demo=3, demo/wide=9.')
param outputTasksOfEach string = '5'

@description('How many failed tasks of an account have their outputs read in a minute, also of single accounts: 60, demo=20.')
param outputTasksPerMinute string = '60'

@description('When to delete what is past its time: six fields of NCRONTAB.')
param housekeepingSchedule string = '0 17 * * * *'

@description('Requests to one Batch account a minute, beyond which it waits.')
@minValue(10)
@maxValue(1000000)
param maxBatchCallsPerMinute int = 3000

@description('API version of requests for pools and nodes; later ones show VM sizes and vCPUs that pools set.')
@allowed([
  '2025-06-01'
  '2026-10-01'
])
param batchPoolApiVersion string = '2025-06-01'

var roles = loadJsonContent('roles.json')
var clouds = loadJsonContent('clouds.json')
var cloud = clouds[environment().name]
var letters = map(range(0, length(environmentName)), i => toLower(substring(environmentName, i, 1)))
var environmentLabel = join(map(letters, letter => contains('abcdefghijklmnopqrstuvwxyz0123456789', letter) ? letter : '-'), '')
// One region has many spellings, such as West Europe, and none of them may give an environment other names.
var suffix = uniqueString(subscription().id, environmentName, toLower(replace(location, ' ', '')))
var names = {
  app: 'func-batchscope-${environmentLabel}-${suffix}'
  applicationInsights: 'appi-batchscope-${environmentLabel}'
  diagnosticSetting: 'batchscope-${environmentLabel}-${subscription().subscriptionId}'
  hostStorage: 'stbshost${suffix}'
  identity: 'id-batchscope-${environmentLabel}'
  network: 'vnet-batchscope-${environmentLabel}'
  plan: 'plan-batchscope-${environmentLabel}'
  resourceGroup: 'rg-batchscope-${environmentLabel}'
  telemetryStorage: 'stbstele${suffix}'
  workspace: 'log-batchscope-${environmentLabel}'
}
var packageContainer = 'app-package'
var telemetryContainer = 'telemetry'
// The app puts the node agent's file there, and nodes fetch it when they start.
var agentContainer = 'agent'
var resourceLogContainer = 'insights-logs-servicelog'
var allTags = union(tags, {
  'azd-env-name': environmentName
})

var accountIds = filter(split(replace(batchAccountIds, ' ', ''), ','), id => !empty(id))
var loggedIds = split(toLower(replace(loggedBatchAccountIds, ' ', '')), ',')
var accountSubscriptionIds = map(accountIds, id => toLower(split(id, '/')[2]))
// A role's definition must be assignable where it stands.
var ownSubscriptionId = toLower(subscription().subscriptionId)
var batchRoleId = guid(subscription().id, 'batchscope', environmentName)
var writerRoleId = guid(subscription().id, 'batchscope-telemetry', environmentName)
var ownNetwork = privateNetworking && (empty(appSubnetId) || empty(endpointSubnetId))
var groupId = '${subscription().id}/resourceGroups/${names.resourceGroup}'
var zonesId = '${empty(dnsZoneGroupId) ? groupId : dnsZoneGroupId}/providers/Microsoft.Network/privateDnsZones'
var zonesByPolicy = dnsZoneGroupId == 'none'
var batchZone = 'privatelink.${cloud.batch}'
var webZone = 'privatelink.${cloud.web}'
var storageZones = map([ 'blob', 'queue', 'table' ], service => 'privatelink.${service}.${environment().suffixes.storage}')
var privateBatchIds = filter(split(replace(privateBatchAccountIds, ' ', ''), ','), id => !empty(id))
var privateEndpoints = [
  { storage: names.hostStorage, service: 'blob' }
  { storage: names.hostStorage, service: 'queue' }
  { storage: names.hostStorage, service: 'table' }
  { storage: names.telemetryStorage, service: 'blob' }
  { storage: names.telemetryStorage, service: 'queue' }
]

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: names.resourceGroup
  location: location
  tags: allTags
}

module identity 'modules/identity.bicep' = {
  name: 'identity'
  scope: group
  params: {
    name: names.identity
    location: location
    tags: allTags
  }
}

module hostStorage 'modules/storage.bicep' = {
  name: 'host-storage'
  scope: group
  params: {
    name: names.hostStorage
    location: location
    tags: allTags
    containerNames: [
      packageContainer
    ]
    lifecycleRules: []
    privateNetworking: privateNetworking
    allowedSubnetIds: []
    redundancy: storageRedundancy
    encryptionKeyUri: encryptionKeyUri
    encryptionIdentityId: encryptionIdentityId
  }
}

module hostStorageRoles 'modules/storage-roles.bicep' = {
  name: 'host-storage-roles'
  scope: group
  params: {
    storageAccountName: hostStorage.outputs.name
    principalId: identity.outputs.principalId
    roleIds: [
      roles.storageBlobDataOwner
      roles.storageQueueDataContributor
      roles.storageTableDataContributor
    ]
  }
}

module telemetryStorage 'modules/storage.bicep' = {
  name: 'telemetry-storage'
  scope: group
  params: {
    name: names.telemetryStorage
    location: location
    tags: allTags
    containerNames: [
      telemetryContainer
      resourceLogContainer
      agentContainer
    ]
    lifecycleRules: [
      {
        name: 'telemetry'
        prefixes: [
          telemetryContainer
        ]
        days: telemetryRetentionDays
      }
      {
        name: 'resource-logs'
        prefixes: [
          resourceLogContainer
        ]
        days: resourceLogRetentionDays
      }
    ]
    privateNetworking: privateNetworking
    allowedSubnetIds: poolSubnetIds
    redundancy: storageRedundancy
    encryptionKeyUri: encryptionKeyUri
    encryptionIdentityId: encryptionIdentityId
  }
}

module telemetryStorageRoles 'modules/storage-roles.bicep' = {
  name: 'telemetry-storage-roles'
  scope: group
  params: {
    storageAccountName: telemetryStorage.outputs.name
    principalId: identity.outputs.principalId
    roleIds: [
      roles.storageBlobDataOwner
      roles.storageQueueDataContributor
    ]
  }
}

module telemetryWriterRole 'modules/telemetry-writer-role.bicep' = if (!empty(telemetryWriters)) {
  name: 'telemetry-writer-role-${environmentLabel}'
  params: {
    roleId: writerRoleId
    environmentName: environmentName
  }
}

module telemetryWriterRights 'modules/container-writers.bicep' = if (!empty(telemetryWriters)) {
  name: 'telemetry-writers'
  scope: group
  params: {
    storageAccountName: telemetryStorage.outputs.name
    containerName: telemetryContainer
    roleId: telemetryWriterRole!.outputs.roleId
    writers: telemetryWriters
  }
}

module agentReaderRights 'modules/container-readers.bicep' = if (!empty(telemetryWriters)) {
  name: 'agent-readers'
  scope: group
  params: {
    storageAccountName: telemetryStorage.outputs.name
    containerName: agentContainer
    roleId: roles.storageBlobDataReader
    principalIds: [for writer in telemetryWriters: writer.principalId]
  }
}

module monitoring 'modules/monitoring.bicep' = {
  name: 'monitoring'
  scope: group
  params: {
    workspaceName: names.workspace
    applicationInsightsName: names.applicationInsights
    location: location
    tags: allTags
    dailyQuotaGb: logDailyQuotaGb
    retentionDays: logRetentionDays
    publisherPrincipalId: identity.outputs.principalId
  }
}

module alerts 'modules/alerts.bicep' = if (!empty(alertEmail)) {
  name: 'alerts'
  scope: group
  params: {
    namePrefix: 'batchscope-${environmentLabel}'
    location: location
    tags: allTags
    workspaceId: monitoring.outputs.workspaceId
    email: alertEmail
  }
}

module batchRole 'modules/batch-role.bicep' = if (leastPrivilegeBatchRole) {
  name: 'batch-role-${environmentLabel}'
  params: {
    roleId: batchRoleId
    environmentName: environmentName
    assignableSubscriptionIds: union([ ownSubscriptionId ], accountSubscriptionIds)
  }
}

module batchAccounts 'modules/batch-account.bicep' = [for (id, i) in accountIds: {
  name: 'batchscope-${environmentLabel}-${suffix}-${i}'
  scope: resourceGroup(split(id, '/')[2], split(id, '/')[4])
  params: {
    batchAccountName: last(split(id, '/'))
    principalId: identity.outputs.principalId
    roleId: leastPrivilegeBatchRole ? batchRole!.outputs.roleId : roles.azureBatchAccountReader
    logStorageId: contains(loggedIds, toLower(id)) ? telemetryStorage.outputs.id : ''
    diagnosticSettingName: names.diagnosticSetting
  }
}]

module network 'modules/network.bicep' = if (ownNetwork) {
  name: 'network'
  scope: group
  params: {
    name: names.network
    location: location
    tags: allTags
    addressPrefix: virtualNetworkAddressPrefix
  }
}

module dnsZones 'modules/dns-zones.bicep' = if (privateNetworking && empty(dnsZoneGroupId)) {
  name: 'dns-zones'
  scope: group
  params: {
    zoneNames: union(storageZones, empty(privateBatchIds) ? [] : [ batchZone ], privateInboundAccess ? [ webZone ] : [])
    tags: allTags
    networkId: empty(appSubnetId) ? network!.outputs.id : first(split(appSubnetId, '/subnets/'))
    linkName: names.network
  }
}

module endpoints 'modules/private-endpoint.bicep' = [for endpoint in privateEndpoints: if (privateNetworking) {
  name: 'endpoint-${endpoint.storage}-${endpoint.service}'
  scope: group
  params: {
    name: 'pe-${endpoint.storage}-${endpoint.service}'
    location: location
    tags: allTags
    subnetId: empty(endpointSubnetId) ? network!.outputs.endpointSubnetId : endpointSubnetId
    resourceId: '${groupId}/providers/Microsoft.Storage/storageAccounts/${endpoint.storage}'
    service: endpoint.service
    zoneId: zonesByPolicy ? '' : '${zonesId}/privatelink.${endpoint.service}.${environment().suffixes.storage}'
  }
  dependsOn: [
    dnsZones
    hostStorage
    telemetryStorage
  ]
}]

module batchEndpoints 'modules/private-endpoint.bicep' = [for id in privateBatchIds: if (privateNetworking) {
  name: 'endpoint-batch-${uniqueString(toLower(id))}'
  scope: group
  params: {
    name: 'pe-${last(split(id, '/'))}-${uniqueString(toLower(id))}'
    location: location
    tags: allTags
    subnetId: empty(endpointSubnetId) ? network!.outputs.endpointSubnetId : endpointSubnetId
    resourceId: id
    service: 'batchAccount'
    zoneId: zonesByPolicy ? '' : '${zonesId}/${batchZone}'
  }
  dependsOn: [
    dnsZones
  ]
}]

module appEndpoint 'modules/private-endpoint.bicep' = if (privateNetworking && privateInboundAccess) {
  name: 'endpoint-app'
  scope: group
  params: {
    name: 'pe-${names.app}'
    location: location
    tags: allTags
    subnetId: empty(endpointSubnetId) ? network!.outputs.endpointSubnetId : endpointSubnetId
    resourceId: app.outputs.id
    service: 'sites'
    zoneId: zonesByPolicy ? '' : '${zonesId}/${webZone}'
  }
}

module app 'modules/app.bicep' = {
  name: 'app'
  scope: group
  params: {
    name: names.app
    planName: names.plan
    location: location
    tags: allTags
    identityName: identity.outputs.name
    hostStorageName: hostStorage.outputs.name
    telemetryStorageName: telemetryStorage.outputs.name
    packageContainerName: packageContainer
    applicationInsightsName: monitoring.outputs.applicationInsightsName
    authClientId: authClientId
    instanceMemoryMB: instanceMemoryMB
    maximumInstanceCount: maximumInstanceCount
    httpConcurrency: httpConcurrency
    subnetId: !privateNetworking ? '' : (empty(appSubnetId) ? network!.outputs.appSubnetId : appSubnetId)
    privateInboundAccess: privateInboundAccess
    allowedIpRanges: allowedIpRanges
    authCredentialUri: authCredentialUri
    authEnabledSetting: authEnabledSetting
    batchAccountEndpoints: [for (id, i) in accountIds: batchAccounts[i].outputs.endpoint]
    settings: {
      ACCOUNT_ROLES: accountRoles
      BATCH_ACCOUNT_IDS: batchAccountIds
      BATCH_POOL_API_VERSION: batchPoolApiVersion
      COST_LABELS: costLabels
      DELETED_JOB_DAYS: string(deletedJobDays)
      EVENT_DAYS: string(eventDays)
      FILE_READERS: fileReaders
      FULL_LIST_MINUTES: string(fullListMinutes)
      FULL_READ_HOURS: string(fullReadHours)
      HISTORY_MINUTE_DAYS: string(historyMinuteDays)
      HISTORY_QUARTER_HOUR_DAYS: string(historyQuarterHourDays)
      HOUSEKEEPING_SCHEDULE: housekeepingSchedule
      JOB_HORIZON_DAYS: string(jobHorizonDays)
      MAX_BATCH_CALLS_PER_MINUTE: string(maxBatchCallsPerMinute)
      OUTPUT_DAYS: outputDays
      OUTPUT_MB_PER_DAY: outputMbPerDay
      OUTPUT_TASKS_OF_EACH: outputTasksOfEach
      OUTPUT_TASKS_PER_MINUTE: outputTasksPerMinute
      POLL_OVERLAP_SECONDS: string(pollOverlapSeconds)
      POLL_SECONDS: string(pollSeconds)
      POLL_STATUS_DAYS: string(pollStatusDays)
      PRICE_CURRENCY: priceCurrency
      PRICE_FILE: priceFile
      PRICE_SOURCE: priceSource
      READ_QUOTAS: readQuotas
      RESOURCE_LOG_CONTAINER: resourceLogContainer
      RETIREMENTS: retirements
      TELEMETRY_CONTAINER: telemetryContainer
      TELEMETRY_HOUR_DAYS: string(telemetryHourDays)
      TELEMETRY_MINUTE_DAYS: string(telemetryMinuteDays)
      TELEMETRY_PATH: telemetryPath
      TICK_BUDGET_SECONDS: string(tickBudgetSeconds)
      TICK_SCHEDULE: tickSchedule
    }
  }
  dependsOn: [
    batchEndpoints
    endpoints
    hostStorageRoles
    telemetryStorageRoles
  ]
}

@description('Name of the resource group.')
output AZURE_RESOURCE_GROUP string = group.name

@description('Name of the app, to which the code is deployed.')
output AZURE_FUNCTION_APP_NAME string = app.outputs.name

@description('Address of the dashboard and the API.')
output BATCHSCOPE_URL string = 'https://${app.outputs.hostName}'

@description('Object id of the app\'s identity, which the app registration trusts.')
output BATCHSCOPE_PRINCIPAL_ID string = identity.outputs.principalId

@description('Name of the storage account for telemetry and resource logs, whose blobs the event subscriptions announce.')
output BATCHSCOPE_TELEMETRY_STORAGE string = telemetryStorage.outputs.name
