"""What kind of value each property has, wherever it stands: the names of the Batch REST API mean one kind each.

A value of another kind can't be read by the service either. A property that is null is as good as absent. What is below
`settings` of extensions is anybody's.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from local.batch_emulator.errors import bad_property, unreadable

_DEEPEST = 64
_FREE = ("settings", "protectedSettings")
_OBJECTS = """affinityInfo authenticationTokenSettings autoPoolSpecification autoUser automaticOSUpgradePolicy
azureBlobFileSystemConfiguration azureFileShareConfiguration cifsMountConfiguration constraints container
containerConfiguration containerSettings customerManagedKey default dependsOn destination diskEncryptionConfiguration
diskEncryptionSet endpointConfiguration ephemeralOSDiskSettings exitConditions exitOptions fileUploadError
identityReference imageReference imds jobManagerTask jobPreparationTask jobReleaseTask jobSpecification
linuxUserConfiguration managedDisk multiInstanceSettings networkConfiguration nfsMountConfiguration
nodePlacementConfiguration osDisk pool poolInfo preProcessingError proxyAgentSettings publicIPAddressConfiguration
registry resourceTags rollingUpgradePolicy schedule securityProfile serviceArtifactReference startTask
taskSchedulingPolicy uefiSettings upgradePolicy uploadOptions userIdentity virtualMachineConfiguration
windowsConfiguration windowsUserConfiguration wireServer"""
_LISTS = """applicationPackageReferences commonEnvironmentSettings commonResourceFiles containerHostBatchBindMounts
containerRegistries dataDisks environmentSettings exitCodeRanges exitCodes extensions inboundNATPools ipTags metadata
mountConfiguration networkSecurityGroupRules outputFiles resourceFiles taskIdRanges uploadHeaders userAccounts"""
_TEXT_LISTS = """containerImageNames ipAddressIds ipFamilies nodeList provisionAfterExtensions sourcePortRanges
taskIds"""
_NUMBERS = """backendPort diskSizeGB end frontendPortRangeEnd frontendPortRangeStart gid lun maxParallelTasks
maxTaskRetryCount numberOfInstances priority requiredSlots start targetDedicatedNodes targetLowPriorityNodes
taskSlotsPerNode uid"""
_FLAGS = """allowLowPriorityNode allowTaskPreemption autoUpgradeMinorVersion enableAcceleratedNetworking
enableAutoScale enableAutomaticUpgrade enableAutomaticUpdates enableInterNodeCommunication isAdmin keepAlive
killJobOnCompletion rerunOnNodeRebootAfterSuccess runExclusive secureBootEnabled skipWithdrawFromVNet
usesTaskDependencies waitForSuccess"""
_TEXTS = """affinityId applicationId autoPoolIdPrefix autoScaleEvaluationInterval autoScaleFormula commandLine
containerUrl dependencyAction disableTasks displayName doNotRunAfter doNotRunUntil elevationLevel endTime expiryTime
fileMode filePath filePattern httpUrl imageName jobAction maxWallClockTime mode nodeAgentSKUId nodeDeallocateOption
nodeDeallocationOption nodeDisableSchedulingOption nodeFillType nodeRebootOption nodeReimageOption offer
onAllTasksComplete onTaskFailure password poolId poolLifetimeOption publisher recurrenceInterval resizeTimeout
retentionTime scope sku sshPublicKey startTime startWindow storageContainerUrl subnetId targetNodeCommunicationMode
terminateReason uploadCondition version vmSize"""
_WORDS: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a number",
    bool: "true or false",
}


def _rows() -> Iterator[tuple[str, tuple[type, type | None]]]:
    for names, kind, inner in (
        (_OBJECTS, dict, None),
        (_LISTS, list, dict),
        (_TEXT_LISTS, list, str),
        (_NUMBERS, int, None),
        (_FLAGS, bool, None),
        (_TEXTS, str, None),
    ):
        yield from ((name, (kind, inner)) for name in names.split())


_KINDS: Mapping[str, tuple[type, type | None]] = dict(_rows())


def readable(body: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    """A body without its nulls. Raises RefusedError for a value of a wrong kind, and for one that is too deep."""
    _check_depth((), depth)
    return {name: _value(name, value, depth) for name, value in body.items() if value is not None}


def _value(name: str, value: Any, depth: int) -> Any:
    kind, inner = _KINDS.get(name, (None, None))
    if kind and type(value) is not kind:
        raise bad_property(name, value, f"It is {_WORDS[kind]}.")
    if name in _FREE:
        _check_depth(value, depth + 1)
        return value
    if isinstance(value, dict):
        return readable(value, depth + 1)
    if isinstance(value, list):
        return [_item(name, each, inner, depth + 1) for each in value]
    return value


def _item(name: str, value: Any, inner: type | None, depth: int) -> Any:
    if inner and type(value) is not inner:
        raise bad_property(name, value, f"It is a list whose items are each {_WORDS[inner]}.")
    _check_depth((), depth)
    if isinstance(value, dict):
        return readable(value, depth)
    return [_item(name, each, None, depth + 1) for each in value] if isinstance(value, list) else value


def _check_depth(value: Any, depth: int) -> None:
    if depth > _DEEPEST:
        raise unreadable(f"it is more than {_DEEPEST} deep")
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(each, depth + 1)
