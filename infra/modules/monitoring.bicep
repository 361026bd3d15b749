// Logs and metrics of the app itself: a workspace with a daily cap, and Application Insights without keys.

@description('Name of the Log Analytics workspace.')
param workspaceName string

@description('Name of the Application Insights component.')
param applicationInsightsName string

@description('Region of both.')
param location string

@description('Tags of both.')
param tags object

@description('Gigabytes that the workspace takes in a day; what comes after that is dropped until the next day.')
param dailyQuotaGb int

@description('Days that logs are kept.')
param retentionDays int

@description('Object id of the identity that may send telemetry.')
param publisherPrincipalId string

var roles = loadJsonContent('../roles.json')

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' = {
  name: workspaceName
  location: location
  tags: tags
  properties: {
    features: {
      disableLocalAuth: true
      enableLogAccessUsingOnlyResourcePermissions: true
    }
    retentionInDays: retentionDays
    sku: {
      name: 'PerGB2018'
    }
    workspaceCapping: {
      dailyQuotaGb: dailyQuotaGb
    }
  }
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' = {
  name: applicationInsightsName
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    DisableLocalAuth: true
    IngestionMode: 'LogAnalytics'
    WorkspaceResourceId: workspace.id
  }
}

resource publisher 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(applicationInsights.id, publisherPrincipalId, roles.monitoringMetricsPublisher)
  scope: applicationInsights
  properties: {
    principalId: publisherPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.monitoringMetricsPublisher)
  }
}

@description('Name of the component, by which other modules refer to it.')
output applicationInsightsName string = applicationInsights.name

@description('Resource id of the workspace, whose tables alert rules query.')
output workspaceId string = workspace.id
