"""Nodes are restarted, barred from tasks and removed; pools are changed, stopped and listed."""

from typing import Any

import pytest

from tests.emulator.support.driver import Driver


async def _pool(driver: Driver, **spec: Any) -> list[str]:
    """Returns the ids of a started pool's nodes."""
    await driver.add_pool(nodes=2, **spec)
    await driver.advance(120)
    return [row["id"] for row in await driver.rows("/pools/pool/nodes", _select="id")]


async def _node(driver: Driver, name: str) -> Any:
    return (await driver.call("GET", f"/pools/pool/nodes/{name}")).body


@pytest.mark.parametrize(
    ("verb", "state", "code"),
    [("reboot", "rebooting", "NodeBeingRebooted"), ("reimage", "reimaging", "NodeBeingReimaged")],
)
async def test_a_node_restarts_and_its_task_runs_again(stepped: Driver, verb: str, state: str, code: str) -> None:
    first, _ = await _pool(stepped)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 500", "sleep 500")
    await stepped.advance(10)
    assert (await stepped.call("POST", f"/pools/pool/nodes/{first}/{verb}", {})).status == 202
    assert (await _node(stepped, first))["state"] == state
    again = await stepped.call("POST", f"/pools/pool/nodes/{first}/{verb}", {})
    assert (again.status, again.code) == (
        409,
        {"rebooting": "NodeBeingRebooted", "reimaging": "NodeBeingReimaged"}[state],
    )
    states = {row["state"] for row in await stepped.rows("/jobs/job/tasks")}
    assert states == {"active", "running"}
    await stepped.advance(90)
    assert (await _node(stepped, first))["state"] == "running"
    assert [row["executionInfo"]["requeueCount"] for row in await stepped.rows("/jobs/job/tasks")] == [0, 0]


async def test_a_restart_may_wait_for_the_task_or_end_it(stepped: Driver) -> None:
    first, second = await _pool(stepped)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 100", "sleep 100")
    await stepped.advance(10)
    await stepped.call("POST", f"/pools/pool/nodes/{first}/reboot", {"nodeRebootOption": "taskcompletion"})
    await stepped.call("POST", f"/pools/pool/nodes/{second}/reboot", {"nodeRebootOption": "terminate"})
    assert [(await _node(stepped, name))["state"] for name in (first, second)] == ["running", "rebooting"]
    await stepped.advance(110)
    rows = await stepped.rows("/jobs/job/tasks")
    assert sorted(row["executionInfo"]["result"] for row in rows) == ["failure", "success"]
    assert (await _node(stepped, first))["state"] in ("rebooting", "starting", "idle")


async def test_a_deallocated_node_stays_so_until_it_is_started(stepped: Driver) -> None:
    first, _ = await _pool(stepped)
    assert (await stepped.call("POST", f"/pools/pool/nodes/{first}/start")).code == "OperationInvalidForCurrentState"
    assert (await stepped.call("POST", f"/pools/pool/nodes/{first}/deallocate", {})).status == 202
    await stepped.advance(100)
    assert (await _node(stepped, first))["state"] == "deallocated"
    assert (await stepped.call("POST", f"/pools/pool/nodes/{first}/start")).status == 202
    await stepped.advance(100)
    assert (await _node(stepped, first))["state"] == "idle"


async def test_a_node_without_scheduling_takes_no_tasks_until_it_is_enabled(stepped: Driver) -> None:
    first, second = await _pool(stepped)
    verbs = f"/pools/pool/nodes/{first}"
    assert (await stepped.call("POST", f"{verbs}/enablescheduling")).code == "NodeAlreadyInTargetSchedulingState"
    assert (await stepped.call("POST", f"{verbs}/disablescheduling", {})).status == 200
    assert (await stepped.call("POST", f"{verbs}/disablescheduling", {})).code == "NodeAlreadyInTargetSchedulingState"
    shown = await _node(stepped, first)
    assert (shown["state"], shown["schedulingState"]) == ("offline", "disabled")
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 50", "sleep 50")
    await stepped.advance(10)
    assert {row["nodeInfo"]["nodeId"] for row in await stepped.rows("/jobs/job/tasks") if "nodeInfo" in row} == {second}
    assert (await stepped.call("POST", f"{verbs}/enablescheduling")).status == 200
    await stepped.advance(10)
    assert (await _node(stepped, first))["state"] == "running"
    assert (await stepped.call("POST", f"{verbs}/reboot", {"nodeRebootOption": "gently"})).status == 400


async def test_nodes_are_taken_out_and_the_targets_follow(stepped: Driver) -> None:
    first, second = await _pool(stepped)
    unknown = await stepped.call("POST", "/pools/pool/removenodes", {"nodeList": [first, "tvm-x"]})
    assert (unknown.status, unknown.code) == (404, "NodeNotFound")
    assert (await stepped.call("POST", "/pools/pool/removenodes", {"nodeList": []})).status == 400
    assert (await stepped.call("POST", "/pools/pool/removenodes", {"nodeList": [first]})).status == 202
    assert (await stepped.call("POST", "/pools/pool/removenodes", {"nodeList": [second]})).code == "PoolBeingResized"
    await stepped.advance(60)
    pool = (await stepped.call("GET", "/pools/pool")).body
    assert (pool["targetDedicatedNodes"], pool["currentDedicatedNodes"], pool["allocationState"]) == (1, 1, "steady")
    assert [row["id"] for row in await stepped.rows("/pools/pool/nodes")] == [second]


async def test_a_stopped_resize_has_an_error(stepped: Driver) -> None:
    await stepped.add_pool(nodes=3)
    assert (await stepped.call("POST", "/pools/pool/stopresize")).status == 202
    assert (await stepped.call("GET", "/pools/pool")).body["allocationState"] == "stopping"
    assert (await stepped.call("POST", "/pools/pool/stopresize")).code == "OperationInvalidForCurrentState"
    await stepped.advance(60)
    pool = (await stepped.call("GET", "/pools/pool")).body
    assert (pool["allocationState"], pool["currentDedicatedNodes"]) == ("steady", 0)
    assert [error["code"] for error in pool["resizeErrors"]] == ["ResizeStopped"]
    await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 1})
    await stepped.advance(60)
    pool = (await stepped.call("GET", "/pools/pool")).body
    assert (pool["currentDedicatedNodes"], "resizeErrors" in pool) == (1, False)


async def test_nodes_beyond_the_quota_do_not_come(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"dedicatedNodeQuota": 3})
    await stepped.add_pool("first", nodes=2)
    await stepped.advance(60)
    await stepped.add_pool("second", nodes=2)
    await stepped.advance(60)
    first, second = [(await stepped.call("GET", f"/pools/{name}")).body for name in ("first", "second")]
    assert (first["allocationState"], first["currentDedicatedNodes"], "resizeErrors" in first) == ("steady", 2, False)
    assert (second["allocationState"], second["currentDedicatedNodes"]) == ("steady", 1)
    assert [error["code"] for error in second["resizeErrors"]] == ["AccountCoreQuotaReached"]
    await stepped.control("POST", "settings", {"dedicatedNodeQuota": 0})
    assert (await stepped.call("POST", "/pools/second/resize", {"targetDedicatedNodes": 2})).status == 202
    assert "resizeErrors" not in (await stepped.call("GET", "/pools/second")).body
    await stepped.advance(60)
    second = (await stepped.call("GET", "/pools/second")).body
    assert (second["currentDedicatedNodes"], "resizeErrors" in second) == (2, False)


async def test_a_pools_properties_are_patched_and_replaced(stepped: Driver) -> None:
    await _pool(stepped, metadata=[{"name": "a", "value": "1"}], startTask={"commandLine": "true"})
    before = (await stepped.call("GET", "/pools/pool")).body
    assert (await stepped.call("PATCH", "/pools/pool", {"metadata": []})).status == 200
    after = (await stepped.call("GET", "/pools/pool")).body
    assert (after["metadata"], after["startTask"]) == ([], before["startTask"])
    assert after["eTag"] != before["eTag"]
    refused = await stepped.call("PATCH", "/pools/pool", {"vmSize": "standard_d4s_v5"})
    assert (refused.status, refused.code) == (409, "OperationNotValidOnPool")
    assert (await stepped.call("PATCH", "/pools/pool", {"targetDedicatedNodes": 5})).code == "UnsupportedProperty"
    replaced = {"applicationPackageReferences": [], "metadata": [{"name": "b", "value": "2"}]}
    assert (await stepped.call("POST", "/pools/pool/updateproperties", replaced)).status == 204
    last = (await stepped.call("GET", "/pools/pool")).body
    assert (last["metadata"], "startTask" in last) == ([{"name": "b", "value": "2"}], False)
    await stepped.add_pool("empty", 0)
    assert (await stepped.call("PATCH", "/pools/empty", {"vmSize": "standard_d4s_v5"})).status == 200
    assert (await stepped.call("GET", "/pools/empty")).body["vmSize"] == "standard_d4s_v5"


async def test_whether_a_pool_exists_is_a_head(stepped: Driver) -> None:
    assert (await stepped.call("HEAD", "/pools/pool")).status == 404
    await stepped.add_pool()
    there = await stepped.call("HEAD", "/pools/pool")
    assert (there.status, there.body) == (200, None)
    assert (await stepped.call("HEAD", "/pools/pool", headers={"if-none-match": there.headers["ETag"]})).status == 304


async def test_images_are_listed_and_filtered_and_there_are_no_applications(stepped: Driver) -> None:
    images = await stepped.rows("/supportedimages")
    assert {"imageReference", "verificationType", "nodeAgentSKUId", "osType"} <= set(images[0])
    windows = await stepped.rows("/supportedimages", _filter="osType eq 'windows' and verificationType eq 'verified'")
    assert 0 < len(windows) < len(images)
    assert sum("batchSupportEndOfLife" in image for image in images) >= 18
    assert [len(page.body["value"]) for page in await stepped.pages("/supportedimages", maxresults=9)] == [9, 9, 6]
    assert await stepped.rows("/applications") == []
    missing = await stepped.call("GET", "/applications/app")
    assert (missing.status, missing.code) == (404, "ApplicationNotFound")


async def test_usage_counts_the_core_hours_of_half_hours_that_are_over(stepped: Driver) -> None:
    await stepped.add_pool(nodes=2)
    assert await stepped.rows("/poolusagemetrics") == []
    await stepped.advance(3600)
    (row,) = await stepped.rows("/poolusagemetrics")
    assert row == {
        "poolId": "pool",
        "startTime": "2026-01-05T08:30:00Z",
        "endTime": "2026-01-05T09:00:00Z",
        "vmSize": "standard_d2s_v5",
        "totalCoreHours": 2.0,
    }
    both = await stepped.rows("/poolusagemetrics", startTime="2026-01-05T08:00:00Z", endtime="2026-01-05T09:00:00Z")
    assert len(both) == 2
    assert 1.9 < both[0]["totalCoreHours"] < 2.0
    await stepped.call("DELETE", "/pools/pool")
    await stepped.advance(3600)
    assert len(await stepped.rows("/poolusagemetrics", startTime="2026-01-05T08:00:00Z")) == 3
    assert await stepped.rows("/poolusagemetrics", _filter="startswith(poolId,'x')") == []
    assert (await stepped.call("GET", "/poolusagemetrics", startTime="2026-01-05T08:10:00Z")).status == 400


async def test_nodes_have_users_and_an_address_to_log_in(stepped: Driver) -> None:
    first, _ = await _pool(stepped)
    users = f"/pools/pool/nodes/{first}/users"
    assert (await stepped.call("POST", users, {"name": "me"})).code == "MissingRequiredProperty"
    assert (await stepped.call("POST", users, {"name": "me", "password": "p"})).status == 201
    assert (await stepped.call("POST", users, {"name": "me", "password": "p"})).code == "NodeUserExists"
    assert (await stepped.call("PUT", f"{users}/me", {"password": "q"})).status == 200
    assert (await stepped.call("DELETE", f"{users}/me")).status == 200
    gone = await stepped.call("PUT", f"{users}/me", {"password": "q"})
    assert (gone.status, gone.code) == (404, "NodeUserNotFound")
    login = (await stepped.call("GET", f"/pools/pool/nodes/{first}/remoteloginsettings")).body
    assert login["remoteLoginIPAddress"] == "192.0.2.1"
    assert login["remoteLoginPort"] in (50000, 50001)


async def test_nodes_show_the_endpoints_that_their_pool_asks_for(stepped: Driver) -> None:
    ports = {"name": "web", "protocol": "tcp", "backendPort": 80, "frontendPortRangeStart": 15000}
    network = {
        "endpointConfiguration": {"inboundNATPools": [ports]},
        "publicIPAddressConfiguration": {"ipFamilies": ["IPv4", "IPv6"]},
    }
    await _pool(stepped, networkConfiguration=network)
    shown = (await stepped.rows("/pools/pool/nodes", _filter="state eq 'idle'"))[0]
    names = [each["name"].partition(".")[0] for each in shown["endpointConfiguration"]["inboundEndpoints"]]
    assert names == ["web", "SSHRule"]
    assert shown["ipv6Address"].startswith("2001:db8::")
