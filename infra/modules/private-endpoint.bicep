// A private endpoint to one service of a resource, with its record in a private DNS zone.

@description('Name of the private endpoint.')
param name string

@description('Region of the private endpoint, which is that of its subnet.')
param location string

@description('Tags of the private endpoint.')
param tags object

@description('Id of the subnet that the endpoint takes its address from.')
param subnetId string

@description('Id of the resource that the endpoint leads to, in any region and subscription.')
param resourceId string

@description('Service of the resource, such as blob, batchAccount or sites.')
param service string

@description('Id of the zone that gets the record; empty where a policy makes it.')
param zoneId string

resource endpoint 'Microsoft.Network/privateEndpoints@2025-05-01' = {
  name: name
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
          privateLinkServiceId: resourceId
          groupIds: [
            service
          ]
        }
      }
    ]
  }
}

resource zoneGroup 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2025-05-01' = if (!empty(zoneId)) {
  parent: endpoint
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      {
        name: service
        properties: {
          privateDnsZoneId: zoneId
        }
      }
    ]
  }
}
