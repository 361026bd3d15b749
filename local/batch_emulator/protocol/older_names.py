"""The names of older api-versions, in requests and responses.

Sources: the models of azure-batch 4.1.3 to 14.2.0, one release per api-version. Names are translated regardless of
their position, since a name of the Batch REST API means the same everywhere. The few exceptions stay unchanged
(`osDisk`, and `networkConfiguration` of jobs).
"""

from collections.abc import Mapping
from typing import Any

from local.batch_emulator.core.errors import BatchError

_SINCE: Mapping[str, str] = {
    name: version
    for version, names in {
        "2018-08-01.7.0": "nodeAgentInfo",
        "2018-12-01.8.0": "autoStorageContainerName blobPrefix dynamicVNetAssignmentScope storageContainerUrl "
        "windowsUserConfiguration",
        "2019-06-01.9.0": "sourcePortRanges workingDirectory",
        "2019-08-01.10.0": "mountConfiguration",
        "2020-03-01.11.0": "diskEncryptionConfiguration publicIPAddressConfiguration",
        "2020-09-01.12.0": "requiredSlots runningTaskSlotsCount taskSlotCounts",
        "2021-06-01.14.0": "exactVersion extensions identityReference maxParallelTasks nodePlacementConfiguration "
        "virtualMachineInfo",
        "2022-01-01.15.0": "allowTaskPreemption uploadHeaders",
        "2023-05-01.17.0": "enableAcceleratedNetworking enableAutomaticUpgrade",
        "2023-11-01.18.0": "securityProfile serviceArtifactReference",
        "2024-02-01.19.0": "upgradePolicy",
        "2025-06-01": "jobDefaultOrder",
    }.items()
    for name in names.split()
}
_RENAMED: Mapping[str, tuple[str, str]] = {
    "httpUrl": ("blobSource", "2018-12-01.8.0"),
    "taskSlotsPerNode": ("maxTasksPerNode", "2020-09-01.12.0"),
}
_LAST_CHANGE = max(_SINCE.values())
_UNTRANSLATED = frozenset({"protectedSettings", "resourceTags", "settings"})


def from_version(body: Any, version: str) -> Any:
    """Returns a request's body with current names. Raises BatchError for a name unknown to its version."""
    if version >= _LAST_CHANGE:
        return body
    current_names = {older: name for name, (older, until) in _RENAMED.items() if version < until}
    later_names = {name for name, since in _SINCE.items() if version < since} | set(current_names.values())
    return _to_current(body, current_names, later_names)


def in_version(body: Any, version: str) -> Any:
    """Returns a response's body with the names of a version, without later ones."""
    if version >= _LAST_CHANGE:
        return body
    older_names = {name: older for name, (older, until) in _RENAMED.items() if version < until}
    return _to_older(body, older_names, {name for name, since in _SINCE.items() if version < since})


def select_in_version(names: str, version: str) -> str:
    """Returns the properties of `$select` with current names."""
    current_names = {older: name for name, (older, until) in _RENAMED.items() if version < until}
    return ",".join(current_names.get(name.strip(), name) for name in names.split(","))


def _to_current(value: Any, current_names: Mapping[str, str], later_names: set[str]) -> Any:
    if isinstance(value, list):
        return [_to_current(each, current_names, later_names) for each in value]
    if not isinstance(value, dict):
        return value
    for name in value:
        if name in later_names:
            text = "A property in the request's body is not supported."
            raise BatchError(400, "UnsupportedProperty", text, {"PropertyName": name})
    return {
        current_names.get(name, name): each if name in _UNTRANSLATED else _to_current(each, current_names, later_names)
        for name, each in value.items()
    }


def _to_older(value: Any, older_names: Mapping[str, str], later_names: set[str]) -> Any:
    if isinstance(value, list):
        return [_to_older(each, older_names, later_names) for each in value]
    if not isinstance(value, dict):
        return value
    known = {name: each for name, each in value.items() if name not in later_names}
    return {
        older_names.get(name, name): each if name in _UNTRANSLATED else _to_older(each, older_names, later_names)
        for name, each in known.items()
    }
