// What an identity that writes telemetry may do at most: make blobs, append to them and read them. It can't overwrite or
// delete: those need blobs/write and blobs/delete. Which blobs, the condition of each assignment says.
targetScope = 'subscription'

@description('GUID of the role definition, the same on every deployment of an environment.')
param roleId string

@description('Name of the environment; role names must be unique in a tenant, so the subscription is named as well.')
param environmentName string

resource writer 'Microsoft.Authorization/roleDefinitions@2022-04-01' = {
  name: roleId
  properties: {
    roleName: 'Batchscope Writer of telemetry (${environmentName}, ${subscription().subscriptionId})'
    description: 'Makes blobs, appends to blobs and reads blobs, and nothing else.'
    type: 'CustomRole'
    assignableScopes: [
      '/subscriptions/${subscription().subscriptionId}'
    ]
    permissions: [
      {
        actions: []
        notActions: []
        dataActions: [
          'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/add/action'
          'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read'
        ]
        notDataActions: []
      }
    ]
  }
}

@description('GUID of the role definition, once it exists.')
output roleId string = writer.name
