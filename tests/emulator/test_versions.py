"""Older api-versions are answered in their shapes; jobs may bring a pool of their own."""

from typing import Any

import pytest

from local.batch_emulator.versions import VERSIONS
from tests.emulator.driver import Answer, Driver


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


async def test_what_a_version_does_not_have_is_refused_in_it(stepped: Driver) -> None:
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
