"""The properties of events that are stored, by case-insensitive name: those that Microsoft documents.

The value of an extension, or of a future field, may be a secret that looks like any text. So of other properties only
numbers and booleans are stored; otherwise just the name.
"""

LEFT_OUT = "[left out]"
_NAMES = (
    "id jobId taskId taskName poolId nodeId displayName name value values details category code message result results"
    " formula error timestamp taskType systemTaskVersion requiredSlots nodeInfo multiInstanceSettings"
    " numberOfInstances constraints maxTaskRetryCount executionInfo schedulingError failureInfo startTime endTime"
    " scheduledTime exitCode retryCount requeueCount lastRetryTime lastRequeueTime resultCode resultMessage vmSize"
    " imageType resizeTimeout vmFillType taskSlotsPerNode maxTasksPerNode nodeDeallocationOption"
    " targetDedicatedNodes targetLowPriorityNodes currentDedicatedNodes currentLowPriorityNodes targetDedicated"
    " targetLowPriority currentDedicated currentLowPriority enableAutoScale enableInterNodeCommunication isAutoPool"
    " cloudServiceConfiguration osFamily targetOsVersion virtualMachineConfiguration imageReference publisher offer"
    " sku version exactVersion virtualMachineImageId nodeAgentId nodeAgentSkuId licenseType osDisk dataDisks caching"
    " diskSizeGB lun storageAccountType managedDisk containerConfiguration type containerImageNames"
    " networkConfiguration subnetId dynamicVNetAssignmentScope enableAcceleratedNetworking"
    " nodePlacementConfiguration policy diskEncryptionConfiguration targets securityProfile securityType"
    " extensions typeHandlerVersion autoUpgradeMinorVersion enableAutomaticUpgrade provisionAfterExtensions"
)
LET_IN = frozenset(name.lower() for name in _NAMES.split())
