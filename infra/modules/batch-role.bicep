// The least that the app needs to know of a Batch account: itself, its pools, jobs, tasks and schedules.
targetScope = 'subscription'

@description('GUID of the role definition, the same on every deployment of an environment.')
param roleId string

@description('Name of the environment; role names must be unique in a tenant, so the subscription is named as well.')
param environmentName string

@description('Ids of the subscriptions in which the role can be assigned.')
param assignableSubscriptionIds string[]

resource batchReader 'Microsoft.Authorization/roleDefinitions@2022-04-01' = {
  name: roleId
  properties: {
    roleName: 'Batchscope Reader of Batch accounts (${environmentName}, ${subscription().subscriptionId})'
    description: 'Reads Batch accounts, pools, jobs, tasks and job schedules, and nothing else.'
    type: 'CustomRole'
    assignableScopes: [for subscriptionId in assignableSubscriptionIds: '/subscriptions/${subscriptionId}']
    permissions: [
      {
        actions: [
          'Microsoft.Batch/batchAccounts/read'
          'Microsoft.Batch/batchAccounts/pools/read'
        ]
        notActions: []
        dataActions: [
          'Microsoft.Batch/batchAccounts/jobs/read'
          'Microsoft.Batch/batchAccounts/jobSchedules/read'
        ]
        notDataActions: []
      }
    ]
  }
}

@description('GUID of the role definition, once it exists.')
output roleId string = batchReader.name
