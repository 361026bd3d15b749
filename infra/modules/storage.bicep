// A storage account that only Microsoft Entra identities can use, with its containers and lifecycle rules.

@description('Name of the account: 3 to 24 lower-case letters and digits.')
@minLength(3)
@maxLength(24)
param name string

@description('Region of the account.')
param location string

@description('Tags of the account.')
param tags object

@description('Names of the blob containers to create.')
param containerNames string[]

@description('Lifecycle rules: objects with name, prefixes (container, or container and path) and days after which blobs are deleted.')
param lifecycleRules array

@description('Whether the account answers only private endpoints, the named subnets and trusted services of Azure.')
param privateNetworking bool

@description('Ids of subnets that reach the account through service endpoints when networking is private.')
param allowedSubnetIds string[]

@description('Copies that Azure keeps: LRS in one place, ZRS in zones, GRS and GZRS in another region as well.')
param redundancy string

@description('Address of the Key Vault key that encrypts the account, without a version; empty for keys of Microsoft.')
param encryptionKeyUri string

@description('Id of the user-assigned identity that may use that key.')
param encryptionIdentityId string

// With keys of one's own, queues and tables are encrypted by them only if the account was made so.
var encryption = {
  identity: {
    userAssignedIdentity: encryptionIdentityId
  }
  keySource: 'Microsoft.Keyvault'
  keyvaultproperties: {
    keyname: last(split(encryptionKeyUri, '/keys/'))
    keyvaulturi: first(split(encryptionKeyUri, '/keys/'))
  }
  services: {
    blob: {
      enabled: true
      keyType: 'Account'
    }
    queue: {
      enabled: true
      keyType: 'Account'
    }
    table: {
      enabled: true
      keyType: 'Account'
    }
  }
}

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: {
    name: 'Standard_${redundancy}'
  }
  identity: empty(encryptionKeyUri) ? null : {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${encryptionIdentityId}': {}
    }
  }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    encryption: empty(encryptionKeyUri) ? null : encryption
    minimumTlsVersion: 'TLS1_2'
    networkAcls: {
      bypass: 'AzureServices'
      defaultAction: privateNetworking ? 'Deny' : 'Allow'
      virtualNetworkRules: [for subnetId in allowedSubnetIds: {
        action: 'Allow'
        id: subnetId
      }]
    }
    publicNetworkAccess: privateNetworking && empty(allowedSubnetIds) ? 'Disabled' : 'Enabled'
    supportsHttpsTrafficOnly: true
  }
}

resource blobService 'Microsoft.Storage/storageAccounts/blobServices@2025-06-01' = {
  parent: account
  name: 'default'
  properties: {
    deleteRetentionPolicy: {
      enabled: true
      days: 7
    }
  }
}

resource containers 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-06-01' = [for containerName in containerNames: {
  parent: blobService
  name: containerName
  properties: {
    publicAccess: 'None'
  }
}]

resource lifecycle 'Microsoft.Storage/storageAccounts/managementPolicies@2025-06-01' = if (!empty(lifecycleRules)) {
  parent: account
  name: 'default'
  properties: {
    policy: {
      rules: [for rule in lifecycleRules: {
        name: rule.name
        type: 'Lifecycle'
        enabled: true
        definition: {
          filters: {
            blobTypes: [
              'appendBlob'
              'blockBlob'
            ]
            prefixMatch: rule.prefixes
          }
          actions: {
            baseBlob: {
              delete: {
                daysAfterModificationGreaterThan: rule.days
              }
            }
            snapshot: {
              delete: {
                daysAfterCreationGreaterThan: rule.days
              }
            }
          }
        }
      }]
    }
  }
}

@description('Name, by which other modules refer to the account.')
output name string = account.name

@description('Resource id of the account.')
output id string = account.id
