// Lets identities of Batch pools write into one container, each below its own prefix, and into nothing else.

@description('Name of the storage account, in this resource group.')
param storageAccountName string

@description('Name of the container.')
param containerName string

@description('GUID of the role, which makes, appends to and reads blobs.')
param roleId string

@description('Who writes where: an identity has one prefix.')
param writers {
  @description('Object id of the identity.')
  principalId: string
  @description('Folders of the container, such as accounts/NAME/pools/POOL.')
  prefix: string
}[]

var blobs = 'Microsoft.Storage/storageAccounts/blobServices/containers/blobs'
// A folder ends in a slash: without it, pools/1 would also be the beginning of pools/10.
var folders = map(writers, writer => endsWith(writer.prefix, '/') ? writer.prefix : '${writer.prefix}/')
// Lists have no path of a blob, but the prefix that is asked for.
var lists = '(ActionMatches{\'${blobs}/read\'} AND SubOperationMatches{\'Blob.List\'})'
var reads = '(ActionMatches{\'${blobs}/read\'} AND NOT SubOperationMatches{\'Blob.List\'})'
var adds = '(ActionMatches{\'${blobs}/add/action\'})'

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: storageAccountName
}

resource blobService 'Microsoft.Storage/storageAccounts/blobServices@2025-06-01' existing = {
  parent: account
  name: 'default'
}

resource container 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-06-01' existing = {
  parent: blobService
  name: containerName
}

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for (writer, i) in writers: {
  name: guid(container.id, writer.principalId, roleId)
  scope: container
  properties: {
    principalId: writer.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleId)
    condition: '((!${reads} AND !${adds}) OR (@Resource[${blobs}:path] StringStartsWith \'${folders[i]}\')) AND ((!${lists}) OR (@Request[${blobs}:prefix] StringStartsWith \'${folders[i]}\'))'
    conditionVersion: '2.0'
  }
}]
