"""Names unknown at their place are refused at any depth; names that any client sends are accepted."""

import copy
import inspect
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from azure.batch import models

from local.batch_emulator.protocol.body_names import NAMES_BY_KIND, Names
from tests.emulator.support.direct import Direct
from tests.emulator.support.driver import Driver

_ROOTS = {
    "Job": models.BatchJobCreateOptions,
    "JobSchedule": models.BatchJobScheduleCreateOptions,
    "Pool": models.BatchPoolCreateOptions,
    "Task": models.BatchTaskCreateOptions,
    "Upload": models.UploadBatchServiceLogsOptions,
}
_OLDER = {  # of azure-batch 14.2.0 and @azure/batch 10.2.0
    "authenticationTokenSettings.access",
    "dataDisks.storageAccountType",
    "jobManagerTask.authenticationTokenSettings",
    "pool.certificateReferences",
    "pool.resourceTags",
    "pool.targetNodeCommunicationMode",
}
_COMING = {  # of api-version 2026-10-01, which no client sends so far
    "hardwareProfile.vmSizeProperties",
    "maxInstancePercentPerZonePolicy.enabled",
    "maxInstancePercentPerZonePolicy.value",
    "placement.zonePlacementPolicy",
    "pool.vmSkuProfile",
    "resiliencyPolicy.zoneAllocationPolicy",
    "virtualMachineConfiguration.hardwareProfile",
    "virtualMachineConfiguration.placement",
    "virtualMachineConfiguration.resiliencyPolicy",
    "vmSizeProperties.vCPUsAvailable",
    "vmSizeProperties.vCPUsPerCore",
    "vmSizes.name",
    "vmSizes.rank",
    "vmSkuProfile.allocationStrategy",
    "vmSkuProfile.vmSizes",
    "zoneAllocationPolicy.maxInstancePercentPerZonePolicy",
    "zoneAllocationPolicy.maxZoneCount",
}
_POOL = {
    "vmSize": "s",
    "virtualMachineConfiguration": {
        "imageReference": {"publisher": "p", "offer": "o", "sku": "s"},
        "nodeAgentSKUId": "a",
        "dataDisks": [{"lun": 0, "diskSizeGB": 1, "storageAccountType": "premium_lrs"}],
        "extensions": [{"name": "e", "publisher": "p", "type": "t"}],
    },
    "networkConfiguration": {
        "endpointConfiguration": {"inboundNATPools": [{"name": "n", "networkSecurityGroupRules": [{"priority": 150}]}]}
    },
    "startTask": {"commandLine": "true", "userIdentity": {"autoUser": {"scope": "pool"}}},
    "userAccounts": [{"name": "u", "password": "p", "linuxUserConfiguration": {"uid": 1}}],
    "mountConfiguration": [{"nfsMountConfiguration": {"source": "s", "relativeMountPath": "p"}}],
    "upgradePolicy": {"mode": "automatic", "rollingUpgradePolicy": {"maxBatchInstancePercent": 20}},
    "metadata": [{"name": "a", "value": "b"}],
}
_LINE = {"commandLine": "true", "resourceFiles": [{"httpUrl": "http://x", "identityReference": {"resourceId": "r"}}]}
_JOB = {
    "constraints": {"maxTaskRetryCount": 1},
    "jobManagerTask": {**_LINE, "id": "m", "authenticationTokenSettings": {"access": ["job"]}},
    "jobPreparationTask": {**_LINE, "constraints": {"retentionTime": "PT1H"}},
    "jobReleaseTask": {**_LINE, "environmentSettings": [{"name": "a", "value": "b"}]},
    "poolInfo": {"autoPoolSpecification": {"poolLifetimeOption": "job", "pool": _POOL}},
    "networkConfiguration": {"skipWithdrawFromVNet": True},
}
_TASK = {
    "id": "new",
    **_LINE,
    "containerSettings": {"imageName": "i", "registry": {"username": "u"}},
    "outputFiles": [{"filePattern": "*", "destination": {"container": {"containerUrl": "http://x"}}}],
    "constraints": {"retentionTime": "PT1H"},
    "exitConditions": {"exitCodes": [{"code": 1, "exitOptions": {"jobAction": "none"}}]},
    "dependsOn": {"taskIdRanges": [{"start": 1, "end": 2}]},
}
_BODIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "pool": ("POST", "/pools", {"id": "new", **_POOL}),
    "patched pool": ("PATCH", "/pools/pool", _POOL),
    "properties": ("POST", "/pools/pool/updateproperties", {name: _POOL[name] for name in ("startTask", "metadata")}),
    "job": ("POST", "/jobs", {"id": "new", **_JOB}),
    "patched job": ("PATCH", "/jobs/job", {"constraints": _JOB["constraints"], "metadata": _POOL["metadata"]}),
    "replaced job": ("PUT", "/jobs/job", {"poolInfo": {"poolId": "pool"}, "constraints": _JOB["constraints"]}),
    "schedule": ("POST", "/jobschedules", {"id": "new", "schedule": {}, "jobSpecification": _JOB}),
    "patched schedule": ("PATCH", "/jobschedules/often", {"jobSpecification": _JOB}),
    "task": ("POST", "/jobs/job/tasks", _TASK),
    "replaced task": ("PUT", "/jobs/job/tasks/task", {"constraints": _TASK["constraints"]}),
}


@pytest.mark.parametrize("name", _BODIES)
def test_a_name_that_nothing_at_its_place_has_is_refused(name: str) -> None:
    method, path, body = _BODIES[name]
    places = list(_objects(body))
    assert len(places) > 1
    for place in places:
        assert _prepared().call(method, path, _with(body, place)) == (400, "UnsupportedProperty"), place
    status, answer = _prepared().call(method, path, body)
    assert status < 300, answer


async def test_the_refusal_says_where_the_name_stands(stepped: Driver) -> None:
    await stepped.add_pool(nodes=0)
    await stepped.add_job()
    pool = await stepped.call(
        "PATCH", "/pools/pool", {"startTask": {"commandLine": "true", "resourceFiles": [{"a": 1}]}}
    )
    assert (pool.status, pool.values) == (400, {"PropertyName": "startTask.resourceFiles.a"})
    rows = [
        {"id": "good", "commandLine": "true"},
        {"id": "bad", "commandLine": "true", "constraints": {"colour": "red"}},
    ]
    answer = await stepped.call("POST", "/jobs/job/addtaskcollection", {"value": rows})
    good, bad = answer.body["value"]
    assert (answer.status, good["status"], bad["status"]) == (200, "Success", "ClientError")
    assert bad["error"]["code"] == "UnsupportedProperty"
    assert bad["error"]["values"] == [{"key": "PropertyName", "value": "constraints.colour"}]
    assert [row["id"] for row in await stepped.rows("/jobs/job/tasks")] == ["good"]


def test_whose_names_are_anybodys_stays_free() -> None:
    extension = {
        "name": "e",
        "publisher": "p",
        "type": "t",
        "settings": {"a": [{"b": 1}]},
        "protectedSettings": {"c": {}},
    }
    body = {"id": "p", "vmSize": "s", "virtualMachineConfiguration": {"extensions": [extension]}}
    assert _prepared().call("POST", "/pools", body)[0] == 201


def test_older_names_are_taken_where_the_version_has_them() -> None:
    task = {"id": "t", "commandLine": "true", "authenticationTokenSettings": {"access": ["job"]}}
    pool = {"id": "p", "vmSize": "s", "resourceTags": {"team": "a"}}
    for path, body, name in (
        ("/jobs/job/tasks", task, "authenticationTokenSettings"),
        ("/pools", pool, "resourceTags"),
    ):
        direct = _prepared()
        assert direct.call("POST", path, body) == (400, "UnsupportedProperty")
        assert direct.call("POST", f"{path}?api-version=2024-02-01.19.0", body)[0] == 201
        assert direct.call("GET", f"{path}/{body['id']}?api-version=2024-02-01.19.0")[1][name] == body[name]
    assert _prepared().call("POST", "/pools?api-version=2022-10-01.16.0", pool) == (400, "UnsupportedProperty")


def test_the_names_are_those_of_azure_batch_and_of_older_clients() -> None:
    ours = {f"{kind}.{path}" for kind in _ROOTS for path in _paths(NAMES_BY_KIND[kind]) if "." in path}
    theirs = {f"{kind}.{path}" for kind, model in _ROOTS.items() for path in _model_paths(model) if "." in path}
    assert theirs - ours == set()
    assert {".".join(path.split(".")[-2:]) for path in ours - theirs} == _OLDER | _COMING


def _paths(names: Names) -> Iterator[str]:
    for name, below in names.items():
        yield name
        yield from (f"{name}.{each}" for each in _paths(below or {}))


def _model_paths(model: Any) -> Iterator[str]:
    model.__new__(model)
    for attribute, hint in typing.get_type_hints(model, {**vars(models), "_models": models}).items():
        name = getattr(inspect.getattr_static(model, attribute, None), "_rest_name_input", None)
        if name:
            yield name
            yield from (f"{name}.{each}" for inner in _models_in(hint) for each in _model_paths(inner))


def _models_in(hint: Any) -> Iterator[Any]:
    if getattr(models, getattr(hint, "__name__", ""), None) is hint and not hasattr(hint, "__members__"):
        yield hint
    for each in typing.get_args(hint):
        yield from _models_in(each)


def _prepared() -> Direct:
    direct = Direct(1)
    job = {"id": "job", "poolInfo": {"poolId": "pool"}, "usesTaskDependencies": True}
    job |= {"onTaskFailure": "performexitoptionsjobaction"}
    schedule = {
        "id": "often",
        "schedule": {"recurrenceInterval": "PT10M"},
        "jobSpecification": {"poolInfo": {"poolId": "p"}},
    }
    for path, body in (
        ("/pools", {"id": "pool", "vmSize": "s"}),
        ("/jobs", job),
        ("/jobs/job/tasks", {"id": "task", "commandLine": "sleep 60"}),
        ("/jobschedules", schedule),
    ):
        assert direct.call("POST", path, body)[0] == 201
    return direct


def _objects(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the paths of all objects."""
    if isinstance(value, dict):
        yield place
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield from _objects(each, (*place, key))


def _with(body: Any, place: tuple[Any, ...]) -> Any:
    changed = copy.deepcopy(body)
    inner = changed
    for key in place:
        inner = inner[key]
    inner["colour"] = "red"
    return changed
