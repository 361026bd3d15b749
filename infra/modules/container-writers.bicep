// Lets the identities of Batch pools write into one container, and into nothing else.

@description('Name of the storage account, in this resource group.')
param storageAccountName string

@description('Name of the container.')
param containerName string

@description('Object ids of the pools\' managed identities.')
param principalIds string[]

var roles = loadJsonContent('../roles.json')

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

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for principalId in principalIds: {
  name: guid(container.id, principalId, roles.storageBlobDataContributor)
  scope: container
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.storageBlobDataContributor)
  }
}]
