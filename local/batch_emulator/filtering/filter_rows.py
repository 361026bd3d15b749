"""The properties of each list that can be filtered, with their operators.

Source: the tables on the page "OData filters in Batch"; anything else is a documented 400.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from local.batch_emulator.filtering.odata import OPERATORS, STARTSWITH


@dataclass(frozen=True, slots=True)
class Property:
    """A property's attribute path, its kind (String, Id, DateTime, Int, Boolean) and its operators.

    An Id compares without case, in the order of lists; `values` are all words that a String may be compared with.
    """

    attribute: str
    kind: str
    operators: tuple[str, ...] = OPERATORS
    values: tuple[str, ...] = ()


type FilterProperties = Mapping[str, Property]
_EQUALITY = ("eq", "ne")
_ORDERED_ID = (*OPERATORS, STARTSWITH)
_RESULTS = ("success", "failure")
_RUN_STATES = ("running", "completed")
_NODE_STATES = (
    "idle rebooting reimaging running unusable creating starting waitingforstarttask starttaskfailed unknown "
    "leavingpool offline preempted upgradingos deallocated deallocating"
)


def _time(attribute: str) -> Property:
    return Property(attribute, "DateTime")


def _enum(attribute: str, values: str, operators: tuple[str, ...] = _EQUALITY) -> Property:
    return Property(attribute, "String", operators, tuple(values.split()))


def _run(name: str, attribute: str, *, state: tuple[str, ...]) -> FilterProperties:
    """Returns the rows of a start, preparation or release task."""
    return {
        f"{name}/state": Property(f"{attribute}.state", "String", state, _RUN_STATES),
        f"{name}/result": Property(f"{attribute}.result", "String", _EQUALITY, _RESULTS),
        f"{name}/exitCode": Property(f"{attribute}.exit_code", "Int"),
        f"{name}/startTime": _time(f"{attribute}.started"),
        f"{name}/endTime": _time(f"{attribute}.ended"),
    }


_ID = {"id": Property("id", "Id", _ORDERED_ID)}
_TIMES = {"stateTransitionTime": _time("changed"), "creationTime": _time("created")}
_MODIFIED = _TIMES | {"lastModified": _time("modified")}
TASKS: FilterProperties = _ID | {
    **_TIMES,
    "state": _enum("state", "active preparing running completed"),
    "lastModifiedTime": _time("modified"),
    "executionInfo/startTime": _time("started"),
    "executionInfo/endTime": _time("ended"),
    "executionInfo/exitCode": Property("exit_code", "Int"),
    "executionInfo/result": Property("result", "String", _EQUALITY, _RESULTS),
}
JOBS_OF_SCHEDULE: FilterProperties = _MODIFIED | {
    "state": _enum("state", "active disabling disabled enabling terminating completed deleting"),
    "executionInfo/startTime": _time("created"),
    "executionInfo/endTime": _time("ended"),
    "executionInfo/poolId": Property("pool_id", "Id", _ORDERED_ID),
}
JOBS: FilterProperties = {**_ID, **JOBS_OF_SCHEDULE}
SCHEDULES: FilterProperties = {
    **_ID,
    **_MODIFIED,
    "state": _enum("state", "active completed disabled terminating deleting"),
    "executionInfo/endTime": _time("ended"),
    "schedule/doNotRunUntil": _time("not_before"),
    "schedule/doNotRunAfter": _time("not_after"),
}
POOLS: FilterProperties = {
    **_ID,
    **_MODIFIED,
    "state": _enum("state", "active deleting"),
    "allocationState": _enum("allocation", "steady resizing stopping", ("eq",)),
    "allocationStateTransitionTime": _time("allocation_changed"),
    "enableAutoScale": Property("is_autoscaled", "Boolean", _EQUALITY),
    "enableInterNodeCommunication": Property("is_interconnected", "Boolean", _EQUALITY),
    "vmSize": Property("vm_size", "String", _EQUALITY),
}
NODES: FilterProperties = {
    "state": _enum("state", _NODE_STATES),
    "stateTransitionTime": _time("changed"),
    "lastBootTime": _time("booted"),
    "allocationTime": _time("allocated"),
    **_run("startTaskInfo", "start_task", state=("eq",)),
}
NODE_COUNTS: FilterProperties = {"poolId": Property("id", "String", ("eq",))}
IMAGES: FilterProperties = {
    "osType": _enum("os_type", "linux windows"),
    "verificationType": _enum("verification", "verified unverified"),
    "nodeAgentSKUId": Property("agent", "String", _EQUALITY),
}
AGENTS: FilterProperties = {"osType": _enum("os_type", "linux windows")}
FILES: FilterProperties = {"name": Property("name", "Id", (STARTSWITH,))}
POOL_USAGE: FilterProperties = {"poolId": Property("pool_id", "Id", ("eq", "ge", "gt", "le", "lt", STARTSWITH))}
PREPARATIONS: FilterProperties = {
    "poolId": Property("pool_id", "String", _EQUALITY),
    "nodeId": Property("id", "String", _EQUALITY),
    **_run("jobPreparationTaskExecutionInfo", "preparation", state=_EQUALITY),
    **_run("jobReleaseTaskExecutionInfo", "release", state=_EQUALITY),
}
