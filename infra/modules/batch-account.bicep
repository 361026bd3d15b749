// Lets the app read one Batch account, in any resource group or subscription, and sends its resource logs on.

@description('Name of the Batch account, in the resource group of this deployment.')
param batchAccountName string

@description('Object id of the identity that reads the account.')
param principalId string

@description('GUID of the role that it gets on the account, built-in or custom.')
param roleId string

@description('Resource id of the storage account for resource logs, which must be in the region of the Batch account; empty for none.')
param logStorageId string

@description('Name of the diagnostic setting, unique among those of the account.')
param diagnosticSettingName string

resource batchAccount 'Microsoft.Batch/batchAccounts@2025-06-01' existing = {
  name: batchAccountName
}

resource reader 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(batchAccount.id, principalId, roleId)
  scope: batchAccount
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleId)
  }
}

resource resourceLogs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(logStorageId)) {
  name: diagnosticSettingName
  scope: batchAccount
  properties: {
    storageAccountId: logStorageId
    logs: [
      {
        category: 'ServiceLog'
        enabled: true
      }
    ]
  }
}

@description('Address of the account as the app\'s settings have it.')
output endpoint string = 'https://${batchAccount.properties.accountEndpoint}'
