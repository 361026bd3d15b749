// The app on a Flex Consumption plan, its settings and its sign-in. It bears one identity; where sign-in needs a secret,
// the platform reads it from a Key Vault with that identity.

@description('Name of the app.')
param name string

@description('Name of the Flex Consumption plan.')
param planName string

@description('Region of both.')
param location string

@description('Tags of both.')
param tags object

@description('Name of the user-assigned identity, in this resource group.')
param identityName string

@description('Name of the storage account of the functions host, in this resource group.')
param hostStorageName string

@description('Name of the storage account that nodes and Batch write to, in this resource group.')
param telemetryStorageName string

@description('Container of the host\'s account in which the platform keeps the deployed package.')
param packageContainerName string

@description('Name of the Application Insights component, in this resource group.')
param applicationInsightsName string

@description('Client id of the app registration with which people sign in.')
param authClientId string

@description('Memory of an instance in megabytes.')
param instanceMemoryMB int

@description('Most instances that the platform may run at once.')
param maximumInstanceCount int

@description('HTTP requests that one instance serves at a time.')
param httpConcurrency int

@description('Id of the subnet through which the app reaches private endpoints; empty for none.')
param subnetId string

@description('Whether the app answers private endpoints only.')
param privateInboundAccess bool

@description('Ranges of addresses that reach the app, in CIDR notation; empty for all.')
param allowedIpRanges string[]

@description('Address of the Key Vault secret with which the app signs people in; empty to sign in by its identity.')
param authCredentialUri string

@description('Whether to set WEBSITE_AUTH_ENABLED, where the platform does not.')
param authEnabledSetting bool

@description('Addresses of the Batch accounts to watch.')
param batchAccountEndpoints string[]

@description('Settings of the app by name, as the README lists them; those that tell where things are come from this module.')
param settings object

var signInSetting = empty(authCredentialUri) ? 'OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID' : 'MICROSOFT_PROVIDER_AUTHENTICATION_SECRET'
var ipRules = [for (addresses, i) in allowedIpRanges: {
  name: 'allowed-${i}'
  action: 'Allow'
  priority: 200 + i
  ipAddress: addresses
}]
// Event Grid tells of new blobs over the web, with a key.
var eventGridRules = [
  {
    name: 'event-grid'
    action: 'Allow'
    priority: 100
    tag: 'ServiceTag'
    ipAddress: 'AzureEventGrid'
  }
]

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: identityName
}

resource hostStorage 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: hostStorageName
}

resource telemetryStorage 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: telemetryStorageName
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: applicationInsightsName
}

// The functions host makes addresses of its storage from a name in the public cloud only.
var storageSettings = environment().name == 'AzureCloud' ? {
  AzureWebJobsStorage__accountName: hostStorage.name
} : {
  AzureWebJobsStorage__blobServiceUri: hostStorage.properties.primaryEndpoints.blob
  AzureWebJobsStorage__queueServiceUri: hostStorage.properties.primaryEndpoints.queue
  AzureWebJobsStorage__tableServiceUri: hostStorage.properties.primaryEndpoints.table
}

resource plan 'Microsoft.Web/serverfarms@2025-03-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: {
    name: 'FC1'
    tier: 'FlexConsumption'
  }
  properties: {
    reserved: true
  }
}

resource app 'Microsoft.Web/sites@2025-03-01' = {
  name: name
  location: location
  tags: union(tags, { 'azd-service-name': 'app' })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identity.id}': {}
    }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    publicNetworkAccess: privateInboundAccess ? 'Disabled' : 'Enabled'
    keyVaultReferenceIdentity: empty(authCredentialUri) ? null : identity.id
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: '${hostStorage.properties.primaryEndpoints.blob}${packageContainerName}'
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identity.id
          }
        }
      }
      runtime: {
        name: 'python'
        version: '3.13'
      }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryMB
        maximumInstanceCount: maximumInstanceCount
        triggers: {
          http: {
            perInstanceConcurrency: httpConcurrency
          }
        }
      }
    }
    siteConfig: {
      http20Enabled: true
      ipSecurityRestrictions: empty(allowedIpRanges) ? null : concat(eventGridRules, ipRules)
      ipSecurityRestrictionsDefaultAction: empty(allowedIpRanges) ? null : 'Deny'
      minTlsVersion: '1.2'
      remoteDebuggingEnabled: false
      scmMinTlsVersion: '1.2'
    }
  }
}

resource ftpPasswords 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2025-03-01' = {
  parent: app
  name: 'ftp'
  properties: {
    allow: false
  }
}

resource scmPasswords 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2025-03-01' = {
  parent: app
  name: 'scm'
  properties: {
    allow: false
  }
}

resource appSettings 'Microsoft.Web/sites/config@2025-03-01' = {
  parent: app
  name: 'appsettings'
  properties: union(settings, storageSettings, authEnabledSetting ? { WEBSITE_AUTH_ENABLED: 'true' } : {}, {
    APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identity.properties.clientId};Authorization=AAD'
    APPLICATIONINSIGHTS_CONNECTION_STRING: applicationInsights.properties.ConnectionString
    AZURE_CLIENT_ID: identity.properties.clientId
    AzureWebJobsDisableHomepage: 'true'
    AzureWebJobsStorage__clientId: identity.properties.clientId
    AzureWebJobsStorage__credential: 'managedidentity'
    BATCH_ACCOUNTS: join(batchAccountEndpoints, ',')
    '${signInSetting}': empty(authCredentialUri) ? identity.properties.clientId : '@Microsoft.KeyVault(SecretUri=${authCredentialUri})'
    TELEMETRY_STORAGE__blobServiceUri: telemetryStorage.properties.primaryEndpoints.blob
    TELEMETRY_STORAGE__clientId: identity.properties.clientId
    TELEMETRY_STORAGE__credential: 'managedidentity'
    TELEMETRY_STORAGE__queueServiceUri: telemetryStorage.properties.primaryEndpoints.queue
  })
}

resource signIn 'Microsoft.Web/sites/config@2025-03-01' = {
  parent: app
  name: 'authsettingsV2'
  properties: {
    platform: {
      enabled: true
    }
    globalValidation: {
      requireAuthentication: true
      unauthenticatedClientAction: 'RedirectToLoginPage'
      redirectToProvider: 'azureactivedirectory'
      excludedPaths: [
        '/api/health'
        '/runtime/webhooks/blobs'
      ]
    }
    httpSettings: {
      requireHttps: true
    }
    identityProviders: {
      azureActiveDirectory: {
        enabled: true
        registration: {
          clientId: authClientId
          clientSecretSettingName: signInSetting
          openIdIssuer: '${environment().authentication.loginEndpoint}${tenant().tenantId}/v2.0'
        }
        validation: {
          allowedAudiences: [
            authClientId
            'api://${authClientId}'
          ]
        }
      }
    }
    login: {
      tokenStore: {
        enabled: false
      }
    }
  }
  dependsOn: [
    appSettings
  ]
}

@description('Resource id of the app.')
output id string = app.id

@description('Name of the app, to which the code is deployed.')
output name string = app.name

@description('Name under which the app answers on the web.')
output hostName string = app.properties.defaultHostName
