"""The names of the Batch REST API by their parent: a table and its parser.

Sources: the models of azure-batch 15.1.0, azure-batch 14.2.0 and @azure/batch 10.2.0; for sizes and vCPUs of pools the
specification of api-version 2026-10-01 in Azure/azure-rest-api-specs. A name of only some api-versions
is in the table for all of them. `name:Kind` is an object or a list of objects, `name*` is anything.
"""

from collections.abc import Mapping

type Names = Mapping[str, "Names | None"]
"""Nested names by name: empty for none, None for anything."""

_TABLE = """
JobSchedule schedule:Schedule jobSpecification:Job metadata:Pair
Task exitConditions:ExitConditions containerSettings:ContainerSettings resourceFiles:ResourceFile
  outputFiles:OutputFile environmentSettings:Pair affinityInfo:AffinityInfo constraints:TaskConstraints
  userIdentity:UserIdentity multiInstanceSettings:MultiInstanceSettings dependsOn:Dependencies
  applicationPackageReferences:ApplicationPackage authenticationTokenSettings:TokenSettings
Tasks value*
Upload identityReference:Identity

Job displayName priority allowTaskPreemption maxParallelTasks usesTaskDependencies onAllTasksComplete
  onTaskFailure constraints:JobConstraints jobManagerTask:JobManagerTask jobPreparationTask:JobPreparationTask
  jobReleaseTask:JobReleaseTask commonEnvironmentSettings:Pair poolInfo:PoolInfo
  networkConfiguration:JobNetworkConfiguration metadata:Pair
Schedule doNotRunUntil doNotRunAfter startWindow recurrenceInterval
JobConstraints maxWallClockTime maxTaskRetryCount
JobNetworkConfiguration subnetId skipWithdrawFromVNet
PoolInfo poolId autoPoolSpecification:AutoPool
AutoPool autoPoolIdPrefix poolLifetimeOption keepAlive pool:Pool
JobManagerTask id displayName commandLine containerSettings:ContainerSettings resourceFiles:ResourceFile
  outputFiles:OutputFile environmentSettings:Pair constraints:TaskConstraints requiredSlots killJobOnCompletion
  userIdentity:UserIdentity runExclusive applicationPackageReferences:ApplicationPackage allowLowPriorityNode
  authenticationTokenSettings:TokenSettings
JobPreparationTask id commandLine containerSettings:ContainerSettings resourceFiles:ResourceFile
  environmentSettings:Pair constraints:TaskConstraints waitForSuccess userIdentity:UserIdentity
  rerunOnNodeRebootAfterSuccess
JobReleaseTask id commandLine containerSettings:ContainerSettings resourceFiles:ResourceFile environmentSettings:Pair
  maxWallClockTime retentionTime userIdentity:UserIdentity

ContainerSettings containerRunOptions imageName registry:Registry workingDirectory
  containerHostBatchBindMounts:BindMount
BindMount source isReadOnly
Registry username password registryServer identityReference:Identity
Identity resourceId
ResourceFile autoStorageContainerName storageContainerUrl httpUrl blobPrefix filePath fileMode
  identityReference:Identity
OutputFile filePattern destination:Destination uploadOptions:UploadOptions
Destination container:Container
Container path containerUrl identityReference:Identity uploadHeaders:Pair
UploadOptions uploadCondition
Pair name value*
TaskConstraints maxWallClockTime retentionTime maxTaskRetryCount
UserIdentity username autoUser:AutoUser
AutoUser scope elevationLevel
ApplicationPackage applicationId version
TokenSettings access
AffinityInfo affinityId
MultiInstanceSettings numberOfInstances coordinationCommandLine commonResourceFiles:ResourceFile
Dependencies taskIds taskIdRanges:Range
Range start end
ExitConditions exitCodes:ExitCode exitCodeRanges:ExitCodeRange preProcessingError:ExitOptions
  fileUploadError:ExitOptions default:ExitOptions
ExitCode code exitOptions:ExitOptions
ExitCodeRange start end exitOptions:ExitOptions
ExitOptions jobAction dependencyAction

Pool displayName vmSize virtualMachineConfiguration:Machine taskSlotsPerNode taskSchedulingPolicy:SchedulingPolicy
  resizeTimeout targetDedicatedNodes targetLowPriorityNodes enableAutoScale autoScaleFormula
  autoScaleEvaluationInterval enableInterNodeCommunication networkConfiguration:Network startTask:StartTask
  applicationPackageReferences:ApplicationPackage userAccounts:UserAccount metadata:Pair
  mountConfiguration:Mount upgradePolicy:UpgradePolicy targetNodeCommunicationMode resourceTags*
  certificateReferences* vmSkuProfile:SkuProfile
Machine imageReference:Image nodeAgentSKUId windowsConfiguration:Windows dataDisks:DataDisk licenseType
  containerConfiguration:Containers diskEncryptionConfiguration:DiskEncryption
  nodePlacementConfiguration:Placement extensions:Extension osDisk:OSDisk securityProfile:Security
  serviceArtifactReference:Artifact hardwareProfile:Hardware placement:ZonePlacement resiliencyPolicy:Resiliency
SkuProfile vmSizes:SkuSize allocationStrategy
SkuSize name rank
Hardware vmSizeProperties:SizeProperties
SizeProperties vCPUsAvailable vCPUsPerCore
Image publisher offer sku version virtualMachineImageId exactVersion sharedGalleryImageId communityGalleryImageId
Windows enableAutomaticUpdates
DataDisk lun caching diskSizeGB managedDisk:ManagedDisk storageAccountType
ManagedDisk diskEncryptionSet:DiskEncryptionSet storageAccountType securityProfile:DiskSecurity
DiskEncryptionSet id
DiskSecurity securityEncryptionType
Containers type containerImageNames containerRegistries:Registry
DiskEncryption customerManagedKey:CustomerKey targets
CustomerKey identityReference:Identity keyUrl rotationToLatestKeyVersionEnabled
Placement policy
ZonePlacement zonePlacementPolicy
Resiliency zoneAllocationPolicy:ZoneAllocation
ZoneAllocation maxZoneCount maxInstancePercentPerZonePolicy:ZonePercent
ZonePercent enabled value
Extension name publisher type typeHandlerVersion autoUpgradeMinorVersion enableAutomaticUpgrade settings*
  protectedSettings* provisionAfterExtensions
OSDisk ephemeralOSDiskSettings:EphemeralDisk caching diskSizeGB managedDisk:ManagedDisk writeAcceleratorEnabled
EphemeralDisk placement
Security encryptionAtHost proxyAgentSettings:ProxyAgent securityType uefiSettings:Uefi
ProxyAgent enabled imds:HostEndpoint wireServer:HostEndpoint
HostEndpoint inVMAccessControlProfileReferenceId mode
Uefi secureBootEnabled vTpmEnabled
Artifact id
SchedulingPolicy jobDefaultOrder nodeFillType
Network subnetId dynamicVNetAssignmentScope endpointConfiguration:Endpoints
  publicIPAddressConfiguration:PublicAddresses enableAcceleratedNetworking
Endpoints inboundNATPools:InboundPool
InboundPool name protocol backendPort frontendPortRangeStart frontendPortRangeEnd
  networkSecurityGroupRules:SecurityRule
SecurityRule priority access sourceAddressPrefix sourcePortRanges
PublicAddresses provision ipFamilies ipAddressIds ipTags:IPTag
IPTag ipTagType tag
StartTask commandLine containerSettings:ContainerSettings resourceFiles:ResourceFile environmentSettings:Pair
  userIdentity:UserIdentity maxTaskRetryCount waitForSuccess
UserAccount name password elevationLevel linuxUserConfiguration:LinuxUser windowsUserConfiguration:WindowsUser
LinuxUser uid gid sshPrivateKey
WindowsUser loginMode
Mount azureBlobFileSystemConfiguration:BlobMount nfsMountConfiguration:NfsMount cifsMountConfiguration:CifsMount
  azureFileShareConfiguration:FileShare
BlobMount accountName containerName accountKey sasKey blobfuseOptions relativeMountPath identityReference:Identity
NfsMount source relativeMountPath mountOptions
CifsMount username source relativeMountPath mountOptions password
FileShare accountName accountKey azureFileUrl relativeMountPath mountOptions
UpgradePolicy mode automaticOSUpgradePolicy:AutomaticUpgrade rollingUpgradePolicy:RollingUpgrade
AutomaticUpgrade disableAutomaticRollback enableAutomaticOSUpgrade useRollingUpgradePolicy osRollingUpgradeDeferral
RollingUpgrade enableCrossZoneUpgrade maxBatchInstancePercent maxUnhealthyInstancePercent
  maxUnhealthyUpgradedInstancePercent pauseTimeBetweenBatches prioritizeUnhealthyInstances
  rollbackFailedInstancesOnPolicyBreach
"""


def _read(table: str) -> Mapping[str, Names]:
    rows = [row.split() for row in table.replace("\n  ", " ").splitlines() if row]
    kinds: dict[str, dict[str, Names | None]] = {kind: {} for kind, *_ in rows}
    for kind, *words in rows:
        for word in words:
            name, _, below = word.partition(":")
            kinds[kind][name.rstrip("*")] = None if name.endswith("*") else kinds[below] if below else {}
    return kinds


NAMES_BY_KIND = _read(_TABLE)
NO_NAMES: Names = {}
