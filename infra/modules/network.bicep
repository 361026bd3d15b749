// The virtual network of a private deployment that has none of its own: a subnet for the app, one for private endpoints.

@description('Name of the virtual network.')
param name string

@description('Region of the virtual network.')
param location string

@description('Tags of the virtual network.')
param tags object

@description('Address space of the network; a /24 or larger.')
param addressPrefix string

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

@description('Id of the virtual network.')
output id string = network.id

@description('Id of the subnet through which the app reaches the network.')
output appSubnetId string = network::appSubnet.id

@description('Id of the subnet for private endpoints.')
output endpointSubnetId string = network::endpointSubnet.id
