// Lets identities of Batch pools read the blobs of one container, and nothing else.

@description('Name of the storage account, in this resource group.')
param storageAccountName string

@description('Name of the container.')
param containerName string

@description('GUID of the built-in role, which reads blobs.')
param roleId string

@description('Object ids of the identities.')
param principalIds string[]

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
  name: guid(container.id, principalId, roleId)
  scope: container
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleId)
  }
}]
