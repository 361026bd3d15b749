// Private DNS zones of a deployment that uses no central ones, linked with the network in which the app looks names up.

@description('Names of the zones, such as privatelink.blob.SUFFIX.')
param zoneNames string[]

@description('Tags of the zones and their links.')
param tags object

@description('Id of the virtual network that resolves names in the zones.')
param networkId string

@description('Name of the links.')
param linkName string

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [for zoneName in zoneNames: {
  name: zoneName
  location: 'global'
  tags: tags
}]

resource links 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [for (zoneName, i) in zoneNames: {
  parent: zones[i]
  name: linkName
  location: 'global'
  tags: tags
  properties: {
    registrationEnabled: false
    virtualNetwork: {
      id: networkId
    }
  }
}]
