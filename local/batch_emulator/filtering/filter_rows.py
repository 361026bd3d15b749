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


type Rows = Mapping[str, Property]
_SAME = ("eq", "ne")
_ORDERED_ID = (*OPERATORS, STARTSWITH)
_RESULTS = ("success", "failure")
_RUN_STATES = ("running", "completed")
_NODE_STATES = (
    "idle rebooting reimaging running unusable creating starting waitingforstarttask starttaskfailed unknown "
    "leavingpool offline preempted upgradingos deallocated deallocating"
)


def _moment(attribute: str) -> Property:
    return Property(attribute, "DateTime")


def _words(attribute: str, words: str, operators: tuple[str, ...] = _SAME) -> Property:
    return Property(attribute, "String", operators, tuple(words.split()))


def _run(name: str, attribute: str, *, state: tuple[str, ...]) -> Rows:
    """Returns the rows of a start, preparation or release task."""
    return {
        f"{name}/state": Property(f"{attribute}.state", "String", state, _RUN_STATES),
        f"{name}/result": Property(f"{attribute}.result", "String", _SAME, _RESULTS),
        f"{name}/exitCode": Property(f"{attribute}.exit_code", "Int"),
        f"{name}/startTime": _moment(f"{attribute}.started"),
        f"{name}/endTime": _moment(f"{attribute}.ended"),
    }


_ID = {"id": Property("id", "Id", _ORDERED_ID)}
_MOMENTS = {"stateTransitionTime": _moment("changed"), "creationTime": _moment("created")}
_MODIFIED = _MOMENTS | {"lastModified": _moment("modified")}
TASKS: Rows = _ID | {
    **_MOMENTS,
    "state": _words("state", "active preparing running completed"),
    "lastModifiedTime": _moment("modified"),
    "executionInfo/startTime": _moment("started"),
    "executionInfo/endTime": _moment("ended"),
    "executionInfo/exitCode": Property("exit_code", "Int"),
    "executionInfo/result": Property("result", "String", _SAME, _RESULTS),
}
JOBS_OF_SCHEDULE: Rows = _MODIFIED | {
    "state": _words("state", "active disabling disabled enabling terminating completed deleting"),
    "executionInfo/startTime": _moment("created"),
    "executionInfo/endTime": _moment("ended"),
    "executionInfo/poolId": Property("pool_id", "Id", _ORDERED_ID),
}
JOBS: Rows = {**_ID, **JOBS_OF_SCHEDULE}
SCHEDULES: Rows = {
    **_ID,
    **_MODIFIED,
    "state": _words("state", "active completed disabled terminating deleting"),
    "executionInfo/endTime": _moment("ended"),
    "schedule/doNotRunUntil": _moment("not_before"),
    "schedule/doNotRunAfter": _moment("not_after"),
}
POOLS: Rows = {
    **_ID,
    **_MODIFIED,
    "state": _words("state", "active deleting"),
    "allocationState": _words("allocation", "steady resizing stopping", ("eq",)),
    "allocationStateTransitionTime": _moment("allocation_changed"),
    "enableAutoScale": Property("is_autoscaled", "Boolean", _SAME),
    "enableInterNodeCommunication": Property("is_interconnected", "Boolean", _SAME),
    "vmSize": Property("vm_size", "String", _SAME),
}
NODES: Rows = {
    "state": _words("state", _NODE_STATES),
    "stateTransitionTime": _moment("changed"),
    "lastBootTime": _moment("booted"),
    "allocationTime": _moment("allocated"),
    **_run("startTaskInfo", "start_task", state=("eq",)),
}
NODE_COUNTS: Rows = {"poolId": Property("id", "String", ("eq",))}
IMAGES: Rows = {
    "osType": _words("os_type", "linux windows"),
    "verificationType": _words("verification", "verified unverified"),
    "nodeAgentSKUId": Property("agent", "String", _SAME),
}
AGENTS: Rows = {"osType": _words("os_type", "linux windows")}
FILES: Rows = {"name": Property("name", "Id", (STARTSWITH,))}
POOL_USAGE: Rows = {"poolId": Property("pool_id", "Id", ("eq", "ge", "gt", "le", "lt", STARTSWITH))}
PREPARATIONS: Rows = {
    "poolId": Property("pool_id", "String", _SAME),
    "nodeId": Property("id", "String", _SAME),
    **_run("jobPreparationTaskExecutionInfo", "preparation", state=_SAME),
    **_run("jobReleaseTaskExecutionInfo", "release", state=_SAME),
}
