// Mail to the operators when the app stops polling, polls of an account fail, calls fail, or the daily log quota is used
// up. The rules read lines that the app itself logs; the tables need not be there yet when the rules are made.

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

// An empty table stands in for one that nothing was written to yet: no tick at all is what must be noticed most.
var traces = 'union isfuzzy=true (datatable(TimeGenerated:datetime, Message:string)[]), AppTraces'
var requests = 'union isfuzzy=true (datatable(TimeGenerated:datetime, Success:bool, ResultCode:string)[]), AppRequests'
var rules = [
  {
    name: 'no-tick'
    description: 'The timer that polls Batch has not ended well for 15 minutes.'
    query: '${traces} | where Message startswith "A tick ended well."'
    operator: 'LessThan'
    threshold: 1
    severity: 1
    window: 'PT15M'
  }
  {
    name: 'failing-polls'
    description: 'More than 3 rounds over the jobs, or the pools, of one account failed within 30 minutes.'
    query: '${traces} | where Message matches regex "^A round (of|over the (?:pools|job schedules) of) [^ ]+ (failed|broke)" | extend Kind = extract("^A round (of|over the (?:pools|job schedules) of) ", 1, Message), Account = extract("^A round (of|over the (?:pools|job schedules) of) ([^ ]+)", 2, Message) | summarize Rounds = count() by Account, Kind | where Rounds > 3'
    operator: 'GreaterThan'
    threshold: 0
    severity: 1
    window: 'PT30M'
  }
  {
    name: 'failures'
    description: 'More than 20 invocations failed within 15 minutes, those apart that were asked for what is wrong.'
    query: '${requests} | where Success == false and ResultCode !startswith "4"'
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
    skipQueryValidation: true
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
