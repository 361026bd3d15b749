// A private endpoint to one service of a storage account, with its record in the private DNS zone.

@description('Region of the private endpoint.')
param location string

@description('Tags of the private endpoint.')
param tags object

@description('Id of the subnet that the endpoint takes its address from.')
param subnetId string

@description('Name of the storage account, in this resource group.')
param storageAccountName string

@description('Service of the storage account.')
@allowed([
  'blob'
  'queue'
  'table'
])
param service string

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: storageAccountName
}

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' existing = {
  name: 'privatelink.${service}.${environment().suffixes.storage}'
}

resource endpoint 'Microsoft.Network/privateEndpoints@2025-05-01' = {
  name: 'pe-${storageAccountName}-${service}'
  location: location
  tags: tags
  properties: {
    subnet: {
      id: subnetId
    }
    privateLinkServiceConnections: [
      {
        name: service
        properties: {
          privateLinkServiceId: account.id
          groupIds: [
            service
          ]
        }
      }
    ]
  }
}

resource zoneGroup 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2025-05-01' = {
  parent: endpoint
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      {
        name: service
        properties: {
          privateDnsZoneId: zone.id
        }
      }
    ]
  }
}
