"""Checks request bodies: known properties, required ones, and those that the emulator doesn't support."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from local.batch_emulator.core.durations import seconds_of
from local.batch_emulator.core.errors import BatchError, invalid_property, missing_property, not_implemented
from local.batch_emulator.protocol.body_names import NAMES_BY_KIND, NO_NAMES, Names
from local.batch_emulator.protocol.versions import (
    has_certificates,
    has_communication_mode,
    has_resource_tags,
    has_several_sizes,
    has_token_settings,
)

type Body = Mapping[str, Any]
_MAX_SLOTS = 256
_MAX_LENGTHS = {"displayName": 1024, "autoPoolIdPrefix": 20}
_NESTED_TYPES = (dict, list)
_NAMED_PAIRS = ("metadata", "environmentSettings", "commonEnvironmentSettings", "userAccounts")


@dataclass(frozen=True, slots=True)
class BodyProperties:
    """The properties of a body; the emulator lacks `not_implemented` ones, `kind` gives the names of nested ones."""

    known: frozenset[str]
    required: tuple[str, ...] = ()
    not_implemented: frozenset[str] = frozenset()
    kind: str = ""
    _nested: Names = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_nested", NAMES_BY_KIND[self.kind] if self.kind else NO_NAMES)

    def check(self, body: Body) -> None:
        """Raises BatchError for an invalid property at any depth, with its name."""
        check_sizes(body)
        for name, value in body.items():
            if name in self.not_implemented:
                if value:
                    raise not_implemented(f"property {name}")
            elif name not in self.known:
                raise _unsupported(name)
            if type(value) in _NESTED_TYPES:
                nested = self._nested.get(name, NO_NAMES)
                if nested is not None:
                    _check_nested(nested, value, name)
        for name in self.required:
            if body.get(name) in (None, ""):
                raise missing_property(name)


def _unsupported(name: str) -> BatchError:
    text = "A property in the request's body is not supported."
    return BatchError(400, "UnsupportedProperty", text, {"PropertyName": name})


def _check_nested(names: Names, value: Any, position: str) -> None:
    """Raises BatchError for an unknown nested name."""
    if type(value) is list:
        for each in value:
            _check_nested(names, each, position)
    elif type(value) is dict:
        for name, item in value.items():
            if name not in names:
                raise _unsupported(f"{position}.{name}")
            nested = names[name]
            if nested is not None and type(item) in _NESTED_TYPES:
                _check_nested(nested, item, f"{position}.{name}")


_COMMON = "id displayName metadata networkConfiguration"
_JOB_CHANGES = "priority allowTaskPreemption maxParallelTasks constraints onAllTasksComplete poolInfo"
_JOB_STARTS = (
    "commonEnvironmentSettings onTaskFailure usesTaskDependencies jobManagerTask jobPreparationTask jobReleaseTask"
)
JOB = BodyProperties(frozenset(f"{_COMMON} {_JOB_CHANGES} {_JOB_STARTS}".split()), ("id", "poolInfo"), kind="Job")
SPECIFICATION = BodyProperties(JOB.known - {"id"}, ("poolInfo",), kind="Job")
JOB_PUT = BodyProperties(frozenset(f"metadata {_JOB_CHANGES}".split()), ("poolInfo",), kind="Job")
SCHEDULE_RULES = BodyProperties(frozenset(["doNotRunUntil", "doNotRunAfter", "startWindow", "recurrenceInterval"]))
SCHEDULE_PATCH = BodyProperties(frozenset(["schedule", "jobSpecification", "metadata"]), kind="JobSchedule")
SCHEDULE_PUT = BodyProperties(SCHEDULE_PATCH.known, ("schedule", "jobSpecification"), kind="JobSchedule")
SCHEDULE = BodyProperties(
    SCHEDULE_PUT.known | {"id", "displayName"}, ("id", *SCHEDULE_PUT.required), kind="JobSchedule"
)
JOB_PATCH = BodyProperties(frozenset(f"metadata networkConfiguration {_JOB_CHANGES}".split()), kind="Job")
TASK = BodyProperties(
    frozenset(
        [
            "id",
            "displayName",
            "commandLine",
            "containerSettings",
            "resourceFiles",
            "outputFiles",
            "environmentSettings",
            "affinityInfo",
            "constraints",
            "requiredSlots",
            "userIdentity",
            "applicationPackageReferences",
            "dependsOn",
            "exitConditions",
            "multiInstanceSettings",
        ]
    ),
    ("id",),
    kind="Task",
)
_TASK_WITH_TOKENS = replace(TASK, known=TASK.known | {"authenticationTokenSettings"})
TASK_PUT = BodyProperties(frozenset({"constraints"}), kind="Task")
POOL = BodyProperties(
    frozenset(
        f"{_COMMON} vmSize virtualMachineConfiguration resizeTimeout targetDedicatedNodes targetLowPriorityNodes "
        "enableInterNodeCommunication startTask applicationPackageReferences taskSlotsPerNode taskSchedulingPolicy "
        "userAccounts mountConfiguration upgradePolicy enableAutoScale autoScaleFormula "
        "autoScaleEvaluationInterval".split()
    ),
    ("id", "vmSize"),
    kind="Pool",
)
_WHILE_EMPTY = (
    "displayName vmSize enableInterNodeCommunication virtualMachineConfiguration taskSlotsPerNode taskSchedulingPolicy "
    "networkConfiguration userAccounts mountConfiguration upgradePolicy"
)
_CHANGED_WHILE_EMPTY = frozenset(_WHILE_EMPTY.split())
POOL_WHILE_EMPTY = _CHANGED_WHILE_EMPTY | {"vmSkuProfile"}
_POOL_PATCH = BodyProperties(
    _CHANGED_WHILE_EMPTY | {"startTask", "applicationPackageReferences", "metadata"}, kind="Pool"
)
_PROPERTIES = BodyProperties(frozenset({"startTask", "applicationPackageReferences", "metadata"}), kind="Pool")
POOL_SPECIFICATION = BodyProperties(
    POOL.known - {"id"} | {"resourceTags", "targetNodeCommunicationMode"},
    ("vmSize",),
    frozenset(["certificateReferences"]),
    kind="Pool",
)
_AUTO = ("poolLifetimeOption", "pool")
AUTO_POOL = BodyProperties(frozenset(["autoPoolIdPrefix", "keepAlive", *_AUTO]), _AUTO, kind="AutoPool")
REMOVE = BodyProperties(frozenset({"nodeList", "resizeTimeout", "nodeDeallocationOption"}), ("nodeList",))
RESIZE = BodyProperties(
    frozenset(["targetDedicatedNodes", "targetLowPriorityNodes", "resizeTimeout", "nodeDeallocationOption"])
)
DISABLE = BodyProperties(frozenset({"disableTasks"}), ("disableTasks",))
TERMINATE = BodyProperties(frozenset({"terminateReason"}))
COLLECTION = BodyProperties(frozenset({"value"}), ("value",), kind="Tasks")


def task(version: str) -> BodyProperties:
    """Returns the shape of a task in an api-version."""
    return _TASK_WITH_TOKENS if has_token_settings(version) else TASK


def pool(version: str) -> BodyProperties:
    """Returns the shape of a pool in an api-version."""
    properties = _with_older_names(POOL, version)
    tags = {"resourceTags"} if has_resource_tags(version) else set()
    return replace(properties, known=properties.known | tags | _several_sizes(version))


def pool_patch(version: str) -> BodyProperties:
    properties = _with_older_names(_POOL_PATCH, version)
    return replace(properties, known=properties.known | _several_sizes(version))


def pool_properties(version: str) -> BodyProperties:
    return _with_older_names(_PROPERTIES, version)


def _several_sizes(version: str) -> set[str]:
    return {"vmSkuProfile"} if has_several_sizes(version) else set()


def _with_older_names(properties: BodyProperties, version: str) -> BodyProperties:
    mode = {"targetNodeCommunicationMode"} if has_communication_mode(version) else set()
    certificates = {"certificateReferences"} if has_certificates(version) else set()
    return replace(properties, known=properties.known | mode, not_implemented=properties.not_implemented | certificates)


def number(body: Body, name: str, default: int, *, minimum: int = 0, maximum: int = 2**31 - 1) -> int:
    """Returns a whole number. Raises BatchError."""
    found = body.get(name)
    if found is None:
        return default
    if not isinstance(found, int) or isinstance(found, bool) or not minimum <= found <= maximum:
        raise invalid_property(name, found, f"It is a whole number from {minimum} to {maximum}.")
    return found


def duration(body: Body, name: str, *, minimum: float = 0, maximum: float = float("inf")) -> float | None:
    """Returns an ISO 8601 duration in seconds, None if absent. Raises BatchError."""
    if body.get(name) is None:
        return None
    try:
        found = seconds_of(body[name])
    except ValueError as error:
        raise invalid_property(name, body[name], str(error)) from None
    if not minimum <= found <= maximum:
        limit = f"at least {minimum:g}" if found < minimum else f"at most {maximum:g}"
        raise invalid_property(name, body[name], f"It is {limit} seconds.")
    return found


def check_sizes(body: Body) -> None:
    """Raises BatchError for texts that are too long and for pairs without a name (documented)."""
    for name, maximum in _MAX_LENGTHS.items():
        if isinstance(body.get(name), str) and len(body[name]) > maximum:
            raise invalid_property(name, body[name], f"It has at most {maximum} characters.")
    for name in _NAMED_PAIRS:
        for pair in objects(body, name):
            if pair.get("name") in (None, ""):
                raise _missing_name(name)


def check_command_line(spec: Body, name: str = "commandLine") -> None:
    """Raises BatchError without a command line; an empty one runs a container image's entry point (documented)."""
    line = spec.get("commandLine")
    if line is None or (not line and not spec.get("containerSettings")):
        raise missing_property(name)


def _missing_name(pairs: str) -> BatchError:
    if pairs == "metadata":
        return BatchError(400, "EmptyMetadataKey", "The key for one of the metadata key-value pairs is empty.")
    return missing_property(f"{pairs}.name")


def slots(body: Body, name: str) -> int:
    return number(body, name, 1, minimum=1, maximum=_MAX_SLOTS)


def objects(body: Body, name: str) -> list[Body]:
    """Returns a list of objects, empty if absent. Raises BatchError."""
    found = body.get(name)
    if found is not None and not (isinstance(found, list) and all(isinstance(each, dict) for each in found)):
        raise invalid_property(name, found, "It is a list of objects.")
    return found or []


def choice(body: Body, name: str, default: str, options: tuple[str, ...]) -> str:
    """Returns one of a few words, in lower case. Raises BatchError."""
    found = body.get(name)
    if found is None:
        return default
    if not isinstance(found, str) or found.lower() not in options:
        raise invalid_property(name, found, f"It is one of {', '.join(options)}.")
    return found.lower()
