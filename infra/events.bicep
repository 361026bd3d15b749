// The second deployment: tells the app's blob-triggered functions of new blobs. It needs the deployed code, since the
// webhook's key exists only once the app has a blob trigger; infra/event_subscriptions.py deploys it.

@description('Name of the app, in this resource group.')
param appName string

@description('Name of the storage account whose blobs are announced, in this resource group.')
param storageAccountName string

@description('Region of the storage account.')
param location string = resourceGroup().location

@description('Tags of the system topic; by default those of the resource group.')
param tags object = resourceGroup().tags

@description('Name of a system topic that the storage account already has in this resource group, as it can have only one; empty to make one.')
param existingTopicName string = ''

@description('Blob-triggered functions, each with the container that it watches.')
param triggers {
  @description('Name of the function.')
  functionName: string
  @description('Name of the container.')
  containerName: string
}[]

var topicName = empty(existingTopicName) ? 'evgt-${storageAccountName}' : existingTopicName

resource app 'Microsoft.Web/sites@2025-03-01' existing = {
  name: appName
}

resource storageAccount 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: storageAccountName
}

resource newTopic 'Microsoft.EventGrid/systemTopics@2025-02-15' = if (empty(existingTopicName)) {
  name: topicName
  location: location
  tags: tags
  properties: {
    source: storageAccount.id
    topicType: 'Microsoft.Storage.StorageAccounts'
  }
}

resource topic 'Microsoft.EventGrid/systemTopics@2025-02-15' existing = {
  name: topicName
  dependsOn: [
    newTopic
  ]
}

resource subscriptions 'Microsoft.EventGrid/systemTopics/eventSubscriptions@2025-02-15' = [for trigger in triggers: {
  parent: topic
  name: trigger.functionName
  properties: {
    destination: {
      endpointType: 'WebHook'
      properties: {
        endpointUrl: 'https://${app.properties.defaultHostName}/runtime/webhooks/blobs?functionName=Host.Functions.${trigger.functionName}&code=${listKeys('${app.id}/host/default', app.apiVersion).systemKeys.blobs_extension}'
        minimumTlsVersionAllowed: '1.2'
      }
    }
    eventDeliverySchema: 'EventGridSchema'
    filter: {
      includedEventTypes: [
        'Microsoft.Storage.BlobCreated'
      ]
      subjectBeginsWith: '/blobServices/default/containers/${trigger.containerName}/'
    }
    retryPolicy: {
      eventTimeToLiveInMinutes: 1440
      maxDeliveryAttempts: 30
    }
  }
}]
