// The identity that the app bears everywhere: storage, telemetry, Batch and its own sign-in.

@description('Name of the user-assigned identity.')
param name string

@description('Region of the identity.')
param location string

@description('Tags of the identity.')
param tags object

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

@description('Name, by which other modules refer to the identity.')
output name string = identity.name

@description('Object id, to which roles are assigned.')
output principalId string = identity.properties.principalId
