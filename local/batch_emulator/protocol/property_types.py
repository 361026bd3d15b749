"""The type of each request property: a name of the Batch REST API has the same type everywhere but in two places.

A string that spells a number or a flag is converted, since the service reads JSON with Microsoft's OData library
(version 3), whose reader converts strings to the type of the property. It converts nothing to a string, and no fraction
to a whole number. Any other value of a wrong type is an error. A null property counts as absent. Values below
`settings` of extensions may have any type.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from local.batch_emulator.core.errors import invalid_body, invalid_property

_MAX_DEPTH = 64
_MIN_INT, _MAX_INT = -(2**31), 2**31 - 1
_NUMBER_TEXT = re.compile(r"[\t-\r ]*[+-]?[0-9]{1,20}[\t-\r ]*")
_FLAG_TEXTS = {"true": True, "false": False}
_UNTYPED = ("settings", "protectedSettings")
_OBJECTS = """affinityInfo authenticationTokenSettings autoPoolSpecification autoUser automaticOSUpgradePolicy
azureBlobFileSystemConfiguration azureFileShareConfiguration cifsMountConfiguration constraints container
containerConfiguration containerSettings customerManagedKey default dependsOn destination diskEncryptionConfiguration
diskEncryptionSet endpointConfiguration ephemeralOSDiskSettings exitConditions exitOptions fileUploadError
hardwareProfile identityReference imageReference imds jobManagerTask jobPreparationTask jobReleaseTask
jobSpecification linuxUserConfiguration managedDisk maxInstancePercentPerZonePolicy multiInstanceSettings
networkConfiguration nfsMountConfiguration nodePlacementConfiguration osDisk pool poolInfo preProcessingError
proxyAgentSettings publicIPAddressConfiguration registry resiliencyPolicy resourceTags rollingUpgradePolicy schedule
securityProfile serviceArtifactReference startTask taskSchedulingPolicy uefiSettings upgradePolicy uploadOptions
userIdentity virtualMachineConfiguration vmSizeProperties vmSkuProfile windowsConfiguration windowsUserConfiguration
wireServer zoneAllocationPolicy"""
_LISTS = """applicationPackageReferences commonEnvironmentSettings commonResourceFiles containerHostBatchBindMounts
containerRegistries dataDisks environmentSettings exitCodeRanges exitCodes extensions inboundNATPools ipTags metadata
mountConfiguration networkSecurityGroupRules outputFiles resourceFiles taskIdRanges uploadHeaders userAccounts
vmSizes"""
_TEXT_LISTS = """containerImageNames ipAddressIds ipFamilies nodeList provisionAfterExtensions
sourcePortRanges targets taskIds"""
_NUMBERS = """backendPort code diskSizeGB end frontendPortRangeEnd frontendPortRangeStart gid lun
maxBatchInstancePercent maxParallelTasks maxTaskRetryCount maxUnhealthyInstancePercent
maxUnhealthyUpgradedInstancePercent maxZoneCount numberOfInstances priority rank requiredSlots start
targetDedicatedNodes targetLowPriorityNodes taskSlotsPerNode uid vCPUsAvailable vCPUsPerCore"""
_FLAGS = """allowLowPriorityNode allowTaskPreemption autoUpgradeMinorVersion disableAutomaticRollback
enableAcceleratedNetworking enableAutoScale enableAutomaticOSUpgrade enableAutomaticUpdates enableAutomaticUpgrade
enableCrossZoneUpgrade enableInterNodeCommunication enabled encryptionAtHost isAdmin isReadOnly keepAlive
killJobOnCompletion osRollingUpgradeDeferral prioritizeUnhealthyInstances rerunOnNodeRebootAfterSuccess
rollbackFailedInstancesOnPolicyBreach rotationToLatestKeyVersionEnabled runExclusive secureBootEnabled
skipWithdrawFromVNet useRollingUpgradePolicy usesTaskDependencies vTpmEnabled waitForSuccess writeAcceleratorEnabled"""
_TEXTS = """accountKey accountName affinityId allocationStrategy applicationId autoPoolIdPrefix
autoScaleEvaluationInterval autoScaleFormula autoStorageContainerName azureFileUrl blobfuseOptions blobPrefix caching
commandLine communityGalleryImageId containerName containerRunOptions containerUrl coordinationCommandLine
dependencyAction disableTasks displayName doNotRunAfter doNotRunUntil dynamicVNetAssignmentScope elevationLevel endTime
exactVersion
expiryTime fileMode filePath filePattern httpUrl id imageName inVMAccessControlProfileReferenceId ipTagType jobAction
jobDefaultOrder keyUrl licenseType loginMode maxWallClockTime mode mountOptions name nodeAgentSKUId
nodeDeallocateOption nodeDeallocationOption nodeDisableSchedulingOption nodeFillType nodeRebootOption
nodeReimageOption offer onAllTasksComplete onTaskFailure password path pauseTimeBetweenBatches placement policy
poolId poolLifetimeOption protocol provision publisher recurrenceInterval registryServer relativeMountPath
resizeTimeout resourceId retentionTime sasKey scope securityEncryptionType securityType sharedGalleryImageId sku
source sourceAddressPrefix sshPrivateKey sshPublicKey startTime startWindow storageAccountType storageContainerUrl
subnetId tag targetNodeCommunicationMode terminateReason type typeHandlerVersion uploadCondition username version
virtualMachineImageId vmSize workingDirectory zonePlacementPolicy"""
_TYPE_NAMES: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a number",
    bool: "true or false",
}


def _rows() -> Iterator[tuple[str, tuple[type, type | None]]]:
    for names, property_type, item_type in (
        (_OBJECTS, dict, None),
        (_LISTS, list, dict),
        (_TEXT_LISTS, list, str),
        (_NUMBERS, int, None),
        (_FLAGS, bool, None),
        (_TEXTS, str, None),
    ):
        yield from ((name, (property_type, item_type)) for name in names.split())


_TYPES: Mapping[str, tuple[type, type | None]] = dict(_rows())
_TYPES_WITHIN: Mapping[tuple[str, str], tuple[type, type | None]] = {
    ("virtualMachineConfiguration", "placement"): (dict, None),
    ("maxInstancePercentPerZonePolicy", "value"): (int, None),
}


def type_of(name: str) -> tuple[type, type | None] | None:
    """Returns the type of a property and of its items; None for unknown names and for properties without items."""
    return _TYPES.get(name)


def typed_body(body: dict[str, Any], depth: int = 0, within: str = "") -> dict[str, Any]:
    """Returns a body, or the object `within` a property of it, without its nulls.

    Raises BatchError for a value of a wrong type or too much nesting.
    """
    _check_depth((), depth)
    return {name: _value(name, value, depth, within) for name, value in body.items() if value is not None}


def _value(name: str, original: Any, depth: int, within: str) -> Any:
    value = original
    property_type, item_type = _TYPES_WITHIN.get((within, name)) or _TYPES.get(name) or (None, None)
    if type(value) is str and property_type in _STRING_CONVERTERS:
        value = _STRING_CONVERTERS[property_type](value)
    if property_type and (
        type(value) is not property_type or (isinstance(value, int) and not _MIN_INT <= value <= _MAX_INT)
    ):
        raise invalid_property(name, original, f"It is {_TYPE_NAMES[property_type]}.")
    if name == "value" and not property_type and type(value) not in (str, list):
        raise invalid_property(name, original, "It is a string, or the list of a collection.")
    if name in _UNTYPED:
        _check_depth(value, depth + 1)
        return value
    if isinstance(value, dict):
        return typed_body(value, depth + 1, name)
    if isinstance(value, list):
        return [_item(name, each, item_type, depth + 1) for each in value]
    return value


def _number(text: str) -> int | None:
    """Returns a number as .NET reads Int32: digits with a sign and surrounding blanks; None for anything else."""
    return int(text) if _NUMBER_TEXT.fullmatch(text) else None


def _flag(text: str) -> bool | None:
    """Returns a flag as .NET reads Boolean: in any case, with surrounding blanks; None for anything else."""
    return _FLAG_TEXTS.get(text.strip().lower())


_STRING_CONVERTERS: Mapping[type | None, Callable[[str], Any]] = {int: _number, bool: _flag}


def _item(name: str, value: Any, item_type: type | None, depth: int) -> Any:
    if item_type and type(value) is not item_type:
        raise invalid_property(name, value, f"It is a list whose items are each {_TYPE_NAMES[item_type]}.")
    _check_depth((), depth)
    if isinstance(value, dict):
        return typed_body(value, depth)
    return [_item(name, each, None, depth + 1) for each in value] if isinstance(value, list) else value


def _check_depth(value: Any, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise invalid_body(f"it is more than {_MAX_DEPTH} deep")
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(each, depth + 1)
