// What the app may do with one whole storage account.

@description('Name of the storage account, in this resource group.')
param storageAccountName string

@description('Object id of the identity that gets the roles.')
param principalId string

@description('Ids of the built-in roles to assign, as in roles.json.')
param roleIds string[]

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: storageAccountName
}

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for roleId in roleIds: {
  name: guid(account.id, principalId, roleId)
  scope: account
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleId)
  }
}]
