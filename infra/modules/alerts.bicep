// Mail to the operators when the app stops polling, fails, or has used up its daily log quota.

@description('Beginning of the names of the alert rules.')
param namePrefix string

@description('Region of the alert rules.')
param location string

@description('Tags of the alert rules.')
param tags object

@description('Resource id of the Log Analytics workspace that the rules query.')
param workspaceId string

@description('Address that gets the mail.')
param email string

var rules = [
  {
    name: 'no-tick'
    description: 'The timer that polls Batch has not run for 15 minutes.'
    query: 'AppRequests | where Name == "tick" and Success'
    operator: 'LessThan'
    threshold: 1
    severity: 1
    window: 'PT15M'
  }
  {
    name: 'failures'
    description: 'More than 20 invocations failed within 15 minutes.'
    query: 'AppRequests | where Success == false'
    operator: 'GreaterThan'
    threshold: 20
    severity: 2
    window: 'PT15M'
  }
  {
    name: 'daily-quota'
    description: 'The workspace takes in no more logs today.'
    query: '_LogOperation | where Category == "Ingestion" and Detail has "OverQuota"'
    operator: 'GreaterThan'
    threshold: 0
    severity: 2
    window: 'PT1H'
  }
]

resource operators 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: '${namePrefix}-operators'
  location: 'global'
  tags: tags
  properties: {
    enabled: true
    groupShortName: 'batchscope'
    emailReceivers: [
      {
        name: 'operators'
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

resource queryRules 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [for rule in rules: {
  name: '${namePrefix}-${rule.name}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    enabled: true
    displayName: '${namePrefix}-${rule.name}'
    description: rule.description
    severity: rule.severity
    evaluationFrequency: 'PT5M'
    windowSize: rule.window
    autoMitigate: true
    scopes: [
      workspaceId
    ]
    criteria: {
      allOf: [
        {
          query: rule.query
          timeAggregation: 'Count'
          operator: rule.operator
          threshold: rule.threshold
          failingPeriods: {
            minFailingPeriodsToAlert: 1
            numberOfEvaluationPeriods: 1
          }
        }
      ]
    }
    actions: {
      actionGroups: [
        operators.id
      ]
    }
  }
}]
