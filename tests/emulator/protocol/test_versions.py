"""Older api-versions are answered in their shapes; jobs may have a pool of their own."""

from typing import Any

import pytest

from local.batch_emulator.protocol.versions import VERSIONS
from tests.emulator.support.direct import Direct
from tests.emulator.support.driver import Answer, Driver


async def _get(driver: Driver, path: str, version: str) -> Answer:
    return await driver.follow("GET", f"{driver.url}{path}?api-version={version}")


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_known_version_is_answered(stepped: Driver, version: str) -> None:
    await stepped.add_pool()
    pool = (await _get(stepped, "/pools/pool", version)).body
    counts = (await _get(stepped, "/nodecounts", version)).body["value"][0]["dedicated"]
    assert ("targetNodeCommunicationMode" in pool) == ("2022-10" < version < "2025")
    assert ("upgradingOS" in counts) == (version >= "2024-02")
    assert ("deallocated" in counts) == (version >= "2024-07")


async def test_properties_of_another_version_are_refused(stepped: Driver) -> None:
    body: Any = {"id": "p", "vmSize": "s", "certificateReferences": [], "targetNodeCommunicationMode": "simplified"}
    now = await stepped.call("POST", "/pools", body)
    assert (now.status, now.code) == (400, "UnsupportedProperty")
    older = f"{stepped.url}/pools?api-version=2024-02-01.19.0"
    assert (await stepped.follow("POST", older, body)).status == 201
    body |= {"id": "q", "certificateReferences": [{"thumbprint": "x"}]}
    assert (await stepped.follow("POST", older, body)).status == 501


def _auto(**rules: Any) -> dict[str, Any]:
    pool = {"vmSize": "standard_d2s_v5", "targetDedicatedNodes": 1}
    return {"autoPoolSpecification": {"poolLifetimeOption": "job", "autoPoolIdPrefix": "own", "pool": pool, **rules}}


async def test_a_job_brings_its_pool_and_takes_it_away(stepped: Driver) -> None:
    assert (await stepped.call("POST", "/jobs", {"id": "job", "poolInfo": _auto()})).status == 201
    await stepped.add_tasks("job", "sleep 1")
    (pool,) = await stepped.rows("/pools")
    assert pool["id"].startswith("own")
    job = (await stepped.call("GET", "/jobs/job")).body
    assert job["executionInfo"]["poolId"] == pool["id"]
    assert job["poolInfo"] == _auto()
    await stepped.advance(120)
    assert (await stepped.task())["state"] == "completed"
    await stepped.call("POST", "/jobs/job/terminate")
    await stepped.advance(60)
    assert await stepped.rows("/pools") == []


async def test_a_pool_may_stay_or_live_as_long_as_its_schedule(stepped: Driver) -> None:
    await stepped.call("POST", "/jobs", {"id": "job", "poolInfo": _auto(keepAlive=True)})
    specification = {"poolInfo": _auto(poolLifetimeOption="jobschedule", autoPoolIdPrefix="shared")}
    rules = {"recurrenceInterval": "PT10M"}
    body = {"id": "often", "schedule": rules, "jobSpecification": specification}
    assert (await stepped.call("POST", "/jobschedules", body)).status == 201
    for number in (1, 2):
        await stepped.advance(5)
        await stepped.call("POST", f"/jobs/often:job-{number}/terminate")
        await stepped.advance(600)
    await stepped.call("POST", "/jobs/job/terminate")
    await stepped.advance(60)
    assert sorted(row["id"][:3] for row in await stepped.rows("/pools")) == ["own", "sha"]
    await stepped.call("DELETE", "/jobschedules/often")
    await stepped.advance(60)
    assert [row["id"][:3] for row in await stepped.rows("/pools")] == ["own"]


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ({"poolLifetimeOption": "week"}, "InvalidPropertyValue"),
        ({"pool": {}}, "MissingRequiredProperty"),
        ({"pool": {"targetDedicatedNodes": 1}}, "MissingRequiredProperty"),
        ({"colour": "red"}, "UnsupportedProperty"),
    ],
)
async def test_a_wrong_pool_of_a_job_is_refused(stepped: Driver, rules: dict[str, Any], code: str) -> None:
    answer = await stepped.call("POST", "/jobs", {"id": "job", "poolInfo": _auto(**rules)})
    assert (answer.status, answer.code) == (400, code)


async def test_networks_and_images_of_ones_own_take_entra(stepped: Driver) -> None:
    network = {"id": "p", "vmSize": "s", "networkConfiguration": {"subnetId": "/subscriptions/x"}}
    image = {"imageReference": {"virtualMachineImageId": "/subscriptions/x"}, "nodeAgentSKUId": "a"}
    for body in (network, {"id": "p", "vmSize": "s", "virtualMachineConfiguration": image}):
        refused = await stepped.call("POST", "/pools", body)
        assert (refused.status, refused.code) == (400, "InvalidPropertyValue")
    bearer = {"authorization": "Bearer batchscope-development-token"}
    assert (await stepped.call("POST", "/pools", network, headers=bearer)).status == 201


_SLOTS = {"taskSlotsPerNode": ("2020-09", "9999"), "maxTasksPerNode": ("2018", "2020-09")}
_POOL = {"id": "pool", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": 1}
_FILES = [{"httpUrl": "https://example.org/y", "filePath": "y"}]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_names_things_as_its_time_did(version: str) -> None:
    """Names come from the models of azure-batch 4.1.3 to 15.1.0, one release for each version."""
    direct = _staged()
    pool = direct.call("GET", f"/pools/pool?api-version={version}")[1]
    assert {name for name in _SLOTS if name in pool} == {
        n for n, (first, end) in _SLOTS.items() if first <= version < end
    }
    assert ("mountConfiguration" in pool) == (version >= "2019-08")
    assert ("upgradePolicy" in pool) == (version >= "2024-02")
    (node,) = direct.call("GET", f"/pools/pool/nodes?api-version={version}")[1]["value"]
    assert ("nodeAgentInfo" in node) == (version >= "2018-08")
    assert ("runningTaskSlotsCount" in node) == (version >= "2020-09")
    assert ("virtualMachineInfo" in node) == (version >= "2021-06")
    job = direct.call("GET", f"/jobs/job?api-version={version}")[1]
    assert ("maxParallelTasks" in job) == (version >= "2021-06")
    assert ("allowTaskPreemption" in job) == (version >= "2022-01")
    task = direct.call("GET", f"/jobs/job/tasks/task?api-version={version}")[1]
    assert ("requiredSlots" in task) == (version >= "2020-09")
    assert set(task["resourceFiles"][0]) == {"httpUrl" if version >= "2018-12" else "blobSource", "filePath"}


@pytest.mark.parametrize("version", VERSIONS)
def test_task_counts_have_the_shape_of_their_version(version: str) -> None:
    _, counts = _staged().call("GET", f"/jobs/job/taskcounts?api-version={version}")
    names = {"active", "running", "completed", "succeeded", "failed"}
    if version >= "2020-09":
        assert counts.keys() - {"odata.metadata"} == {"taskCounts", "taskSlotCounts"}
        assert counts["taskCounts"].keys() == counts["taskSlotCounts"].keys() == names
    else:
        status = {"validationStatus"} if version < "2018-08" else set()
        assert counts.keys() - {"odata.metadata"} == names | status
        assert counts["active"] + counts["running"] + counts["completed"] == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_images_are_listed_as_their_version_did(version: str) -> None:
    answers = {
        name: _staged().call("GET", f"/{name}?api-version={version}") for name in ("supportedimages", "nodeagentskus")
    }
    shown, other = sorted(answers, reverse=version >= "2019-06")
    assert answers[other] == (404, "ResourceNotFound")
    (ubuntu,) = [row for row in answers[shown][1]["value"] if "ubuntu 24.04" in str(row)]
    references = ubuntu.get("verifiedImageReferences") or [ubuntu["imageReference"]]
    assert [each["offer"] for each in references] == ["ubuntu-24_04-lts"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_names_of_a_version_are_read_and_later_ones_refused(version: str) -> None:
    direct = _staged()
    for name, (first, end) in _SLOTS.items():
        status, answer = direct.call("POST", f"/pools?api-version={version}", {**_POOL, "id": name, name: 2})
        assert (status, answer) == ((201, None) if first <= version < end else (400, "UnsupportedProperty"))
    (made,) = {pool["id"] for pool in direct.rows("/pools")} - {"pool"}
    assert direct.call("GET", f"/pools/{made}")[1]["taskSlotsPerNode"] == 2
    task = {"id": "new", "commandLine": "true", "requiredSlots": 1}
    expected = 201 if version >= "2020-09" else 400
    assert direct.call("POST", f"/jobs/job/tasks?api-version={version}", task)[0] == expected
    row = {
        "id": "other",
        "commandLine": "true",
        "resourceFiles": [{"blobSource": "https://example.org/y", "filePath": "y"}],
    }
    expected = 201 if version < "2018-12" else 400
    assert direct.call("POST", f"/jobs/job/tasks?api-version={version}", row)[0] == expected


def test_select_takes_the_names_of_its_version() -> None:
    shown = _staged().call("GET", "/pools/pool?api-version=2018-03-01.6.1", select="id,maxTasksPerNode")[1]
    assert (shown["id"], shown["maxTasksPerNode"]) == ("pool", 4)


def _staged() -> Direct:
    direct = Direct(1)
    pool = {
        **_POOL,
        "taskSlotsPerNode": 4,
        "mountConfiguration": [{"nfsMountConfiguration": {"source": "s", "relativeMountPath": "p"}}],
        "upgradePolicy": {"mode": "automatic"},
    }
    task = {"id": "task", "commandLine": "sleep 1000", "requiredSlots": 2, "resourceFiles": _FILES}
    for path, body in (
        ("/pools", pool),
        ("/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}}),
        ("/jobs/job/tasks", task),
    ):
        assert direct.call("POST", path, body)[0] == 201
        direct.advance(60)
    return direct
