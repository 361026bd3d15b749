// The virtual network of a private deployment: a subnet for the app, one for private endpoints, and the DNS zones of storage.

@description('Name of the virtual network.')
param name string

@description('Region of the virtual network.')
param location string

@description('Tags of the network and its zones.')
param tags object

@description('Address space of the network; a /24 or larger.')
param addressPrefix string

var services = [
  'blob'
  'queue'
  'table'
]

resource network 'Microsoft.Network/virtualNetworks@2025-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: {
      addressPrefixes: [
        addressPrefix
      ]
    }
    subnets: [
      {
        name: 'app'
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 26, 0)
          delegations: [
            {
              name: 'flex-consumption'
              properties: {
                serviceName: 'Microsoft.App/environments'
              }
            }
          ]
        }
      }
      {
        name: 'endpoints'
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 26, 1)
        }
      }
    ]
  }

  resource appSubnet 'subnets' existing = {
    name: 'app'
  }

  resource endpointSubnet 'subnets' existing = {
    name: 'endpoints'
  }
}

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [for service in services: {
  name: 'privatelink.${service}.${environment().suffixes.storage}'
  location: 'global'
  tags: tags
}]

resource links 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [for (service, i) in services: {
  parent: zones[i]
  name: name
  location: 'global'
  tags: tags
  properties: {
    registrationEnabled: false
    virtualNetwork: {
      id: network.id
    }
  }
}]

@description('Id of the subnet through which the app reaches the network.')
output appSubnetId string = network::appSubnet.id

@description('Id of the subnet for private endpoints.')
output endpointSubnetId string = network::endpointSubnet.id
