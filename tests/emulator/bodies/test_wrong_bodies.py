"""Values of a wrong kind anywhere in bodies are refused, or accepted and shown; they never cause a failure."""

import copy
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.emulator.support.direct import Direct

_LINE = {
    "commandLine": "sleep 1",
    "resourceFiles": [{"httpUrl": "http://x", "filePath": "x"}],
    "environmentSettings": [{"name": "a", "value": "b"}],
}
_SIDE = {**_LINE, "constraints": {"maxTaskRetryCount": 1, "maxWallClockTime": "PT5M"}}
_POOL = {
    "vmSize": "standard_d2s_v5",
    "targetDedicatedNodes": 1,
    "virtualMachineConfiguration": {
        "imageReference": {"publisher": "p", "offer": "o", "sku": "s", "version": "latest"},
        "nodeAgentSKUId": "batch.node.ubuntu 22.04",
        "extensions": [{"name": "e", "publisher": "p", "type": "t", "settings": {"a": 1}}],
    },
    "resizeTimeout": "PT15M",
    "startTask": {**_LINE, "maxTaskRetryCount": 1, "waitForSuccess": True},
    "taskSchedulingPolicy": {"nodeFillType": "spread"},
    "userAccounts": [{"name": "u", "password": "p"}],
    "metadata": [{"name": "a", "value": "b"}],
}
_SCALED = {"vmSize": "x", "enableAutoScale": True, "autoScaleFormula": "$TargetDedicatedNodes=1"}
_JOB = {
    "priority": 1,
    "maxParallelTasks": 2,
    "constraints": {"maxTaskRetryCount": 1, "maxWallClockTime": "PT5M"},
    "jobManagerTask": {**_SIDE, "id": "m", "requiredSlots": 1},
    "jobPreparationTask": {**_SIDE, "id": "p"},
    "jobReleaseTask": {"commandLine": "sleep 1"},
    "poolInfo": {"poolId": "pool"},
}
_AUTO = {"poolInfo": {"autoPoolSpecification": {"poolLifetimeOption": "job", "pool": _SCALED}}}
_TASK = {
    **_SIDE,
    "requiredSlots": 1,
    "dependsOn": {"taskIds": ["a"], "taskIdRanges": [{"start": 1, "end": 2}]},
    "exitConditions": {"exitCodes": [{"code": 1, "exitOptions": {"jobAction": "none"}}], "default": {}},
}
_RULES = {"recurrenceInterval": "PT10M", "startWindow": "PT5M", "doNotRunAfter": "2026-02-01T00:00:00Z"}
_BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "pool": ("/pools", {"id": "new", **_POOL}),
    "scaled": ("/pools", {"id": "new", **_SCALED, "autoScaleEvaluationInterval": "PT5M"}),
    "job": ("/jobs", {"id": "new", **_JOB}),
    "auto": ("/jobs", {"id": "new", **_AUTO}),
    "tasks": ("/jobs/job/addtaskcollection", {"value": [{"id": "new", **_TASK}]}),
    "schedule": ("/jobschedules", {"id": "new", "schedule": _RULES, "jobSpecification": _JOB}),
    "user": ("/pools/pool/nodes/NODE/users", {"name": "u", "password": "p", "isAdmin": True}),
}
_WRONG: tuple[Any, ...] = (
    None,
    "x",
    "P99999D",
    "P9999999D",
    "9999-12-31T23:59:59Z",
    -1,
    2**63,
    1.5,
    True,
    [],
    {},
    [None],
    [1],
    [{}],
)
_LISTS = ("/pools", "/jobs", "/jobschedules", "/pools/pool/nodes", "/pools/new/nodes", "/jobs/new/tasks")


@pytest.mark.parametrize("name", _BODIES)
def test_a_value_of_a_wrong_kind_is_refused_or_does_no_harm(name: str) -> None:
    path, body = _BODIES[name]
    direct = _prepared()
    (node,) = (row["id"] for row in direct.rows("/pools/pool/nodes"))
    assert direct.call("POST", path.replace("NODE", node), body)[0] < 300
    direct = _prepared()
    for place in _places(body):
        for wrong in _WRONG:
            status, _ = direct.call("POST", path.replace("NODE", node), _with(body, place, wrong))
            if status < 300:
                for seconds in (0, 60, 1000):
                    direct.advance(seconds)
                    for each in _LISTS:
                        orjson.dumps(direct.call("GET", each)[1])
                direct = _prepared()


@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_a_body_that_is_too_deep_to_be_shown_again_is_refused(opening: str) -> None:
    direct = _prepared()
    for depth in (100, 500, 1020, 5000):
        deep = orjson.Fragment(opening * depth + "1" + ("}" if opening[0] == "{" else "]") * depth)
        extension = {"name": "e", "publisher": "p", "type": "t", "settings": deep}
        body = {**_POOL, "id": "new", "virtualMachineConfiguration": {"extensions": [extension]}}
        assert direct.call("POST", "/pools", body) == (400, "InvalidRequestBody")
        for name in ("outputFiles", "containerSettings"):
            assert direct.call("POST", "/jobs/job/tasks", {"id": "t", "commandLine": "x", name: deep})[0] == 400
    assert len(direct.rows("/pools")) == 1


def test_null_is_as_good_as_absent() -> None:
    direct = _prepared()
    body = {"id": "new", "poolInfo": {"poolId": "pool"}, "maxParallelTasks": None}
    assert direct.call("POST", "/jobs", body)[0] == 201
    assert direct.call("PATCH", "/pools/pool", {"metadata": None, "startTask": None})[0] == 200
    assert direct.call("POST", "/jobs/new/tasks", {"id": "t", "commandLine": None}) == (400, "MissingRequiredProperty")


def _prepared() -> Direct:
    direct = Direct(1)
    pool = {"id": "pool", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": 1}
    assert direct.call("POST", "/pools", pool)[0] == 201
    assert direct.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}, "usesTaskDependencies": True})
    direct.advance(60)
    return direct


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the paths of all values except the whole."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield (*place, key)
        yield from _places(each, (*place, key))


def _with(body: Any, place: tuple[Any, ...], wrong: Any) -> Any:
    changed = copy.deepcopy(body)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = wrong
    return changed
