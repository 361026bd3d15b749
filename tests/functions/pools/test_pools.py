"""Pools and nodes from Batch to the API: every number equals the truth, with the right confidence."""

from collections import Counter

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.core.injection import Fault
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World, begin_anew
from tests.functions.pools.shown_pools import differences, nodes, polled, pools

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty account that each tick polls."""
    await begin_anew(_running, poll_seconds=1)
    return _running


async def assert_totals_add_up(world: World) -> None:
    """Asserts that the account shows the sums of exactly its pools."""
    shown, account = await pools(world), (await world.get("accounts/demo")).body
    assert account == (await world.get("accounts")).body["value"][0]
    states, counts = Counter[str](), Counter[str]()
    for pool in shown.values():
        states[pool["state"]] += 1
        counts.update(pool["nodeCounts"])
    as_of = min((pool["verdict"]["asOf"] for pool in shown.values()), default=None)
    assert account["pools"] == {"total": len(shown), "byState": states, "notRead": 0, "asOf": as_of}
    assert account["nodeCounts"] == counts
    for name in ("slots", "cores"):
        sums: Counter[str] = Counter()
        for pool in shown.values():
            sums.update(pool[name])
        assert {key: value for key, value in account[name].items() if value} == +sums
    assert account["unknownCores"] == 0


async def test_every_number_equals_the_truth_while_pools_live_and_node_counts_lag(world: World) -> None:
    world.emulator.settings.preemptionSeconds, world.emulator.settings.nodeLossSeconds = 60, 300
    await add_pool(world.batch, nodes=5, spot=4)
    await add_pool(world.batch, "failing", nodes=2, start="/bin/sh -c 'sleep 3; exit 7'")
    await add_pool(world.batch, "empty", nodes=0)
    await add_job(world.batch)
    await add_tasks(world.batch, 90, command="sleep 15")
    seen: Counter[str] = Counter()
    for step in range(36):
        world.emulator.settings.nodeCountLagSeconds = 25 if step % 12 >= 6 else 0
        if step == 20:
            await world.batch.begin_resize_pool(
                "pool", models.BatchPoolResizeOptions(target_dedicated_nodes=2, target_low_priority_nodes=6)
            )
        await polled(world)
        assert await differences(world) == []
        await assert_totals_add_up(world)
        shown = await pools(world)
        assert {pool["verdict"]["level"] for pool in shown.values()} == {"exact"}
        seen.update(state for pool in shown.values() for state in pool["nodeCounts"])
        seen.update({"used": shown["pool"]["slots"]["used"]})
        world.advance(7)
    assert {"creating", "starting", "idle", "running", "starttaskfailed", "preempted", "used"} <= seen.keys()


async def test_faults_make_numbers_stale_and_the_next_good_poll_right(world: World) -> None:
    await add_pool(world.batch, nodes=4)
    await add_pool(world.batch, "other", nodes=2)
    await add_job(world.batch)
    await add_tasks(world.batch, 60, command="sleep 12")
    for fault in (
        Fault(path="/pools/pool/nodes", status=429, retryAfter=1),
        Fault(path="/pools/pool/nodes", reset=True),
        Fault(path="/pools/pool/nodes", truncate=True),
        Fault(path="/pools/pool/nodes", status=500),
        Fault(path="/nodecounts", status=503, retryAfter=1),
        Fault(path="/pools", status=403),
    ):
        world.advance(11)
        await polled(world)
        assert await differences(world) == []
        world.advance(11)
        world.emulator.faults.all.append(fault)
        await polled(world)
        shown = await pools(world)
        assert shown["pool"]["verdict"]["level"] == "stale", fault
        assert shown["pool"]["verdict"]["reason"].startswith("The last poll failed: http"), fault
        if fault.path == "/pools/pool/nodes" and fault.status != 429:
            assert shown["other"]["verdict"]["level"] == "exact"
        assert (await world.jobs())["job"]["verdict"]["level"] == "exact"
        world.emulator.faults.all.clear()
    world.advance(11)
    await polled(world)
    assert await differences(world) == []


async def test_node_counts_that_fail_spoil_no_pool(world: World) -> None:
    await add_pool(world.batch, nodes=4)
    await add_job(world.batch)
    await add_tasks(world.batch, 60, command="sleep 12")
    for fault in (
        Fault(path="/nodecounts", status=500),
        Fault(path="/nodecounts", reset=True),
        Fault(path="/nodecounts", truncate=True),
    ):
        world.emulator.faults.all.append(fault)
        world.advance(30)
        await polled(world)
        assert (await pools(world))["pool"]["verdict"]["level"] == "exact", fault
        assert await differences(world) == []
        assert (await world.get("accounts/demo")).body["poolsReason"].startswith("http"), fault
        world.emulator.faults.all.clear()
    world.advance(30)
    await polled(world)
    assert (await world.get("accounts/demo")).body["poolsReason"] is None


async def test_throttled_pools_leave_the_whole_account_alone_for_a_while(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world.batch)
    await world.app.fire("tick")
    world.advance(61)
    world.emulator.faults.all.append(Fault(path="/nodecounts", status=429, retryAfter=300))
    await world.app.fire("tick")
    assert (await pools(world))["pool"]["verdict"]["level"] == "stale"
    assert (await world.get("accounts/demo")).body["lastRound"]["outcome"] == "succeeded"
    health = (await world.get("health")).body
    assert (health["status"], len(health["problems"])) == ("degraded", 1)
    assert health["problems"][0].startswith("demo, pools: http")
    assert 'azbatch_collector_pools_up{account="demo"} 0.0' in (await world.get("metrics")).body
    world.emulator.faults.all.clear()
    world.emulator.counters.clear()
    world.advance(200)
    await world.app.fire("tick")
    assert world.emulator.counters == {}
    world.advance(120)
    await world.app.fire("tick")
    assert (await pools(world))["pool"]["verdict"]["level"] == "exact"


async def test_failing_jobs_do_not_hinder_pools(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world.batch)
    await polled(world)
    world.advance(30)
    world.emulator.faults.all.append(Fault(path="/jobs", status=500))
    await world.app.fire("tick")
    assert (await world.get("accounts/demo")).body["lastRound"]["outcome"] == "failed"
    assert (await pools(world))["pool"]["verdict"]["level"] == "exact"
    assert await differences(world) == []


async def test_an_account_shows_why_its_pools_are_not_known(world: World) -> None:
    await polled(world)
    account = (await world.get("accounts/demo")).body
    assert (account["pools"]["total"], account["poolsReason"]) == (0, None)
    await add_pool(world.batch, nodes=1)
    world.emulator.faults.all.append(Fault(path="/pools", status=403))
    world.advance(60)
    await polled(world)
    account = (await world.get("accounts/demo")).body
    assert (account["pools"], account["lastRound"]["outcome"]) == (None, "succeeded")
    assert "403" in account["poolsReason"]
    assert account["poolsReason"] in (await world.get("health")).body["problems"][0]
    world.emulator.faults.all.clear()
    world.emulator.faults.all.append(Fault(path="/pools/pool/nodes", status=500))
    world.advance(60)
    await polled(world)
    account = (await world.get("accounts/demo")).body
    assert account["pools"]["notRead"] == 1
    assert account["poolsReason"] == "1 pool couldn't be polled; its verdict says why."


async def test_pools_are_known_where_a_role_does_not_allow_node_counts(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    world.emulator.faults.all.append(Fault(path="/nodecounts", status=403))
    for nodes_there in (2, 1):
        world.advance(120)
        await polled(world)
        pool = (await pools(world))["pool"]
        assert (pool["dedicated"]["current"], pool["nodeCounts"]["idle"]) == (nodes_there, nodes_there)
        assert pool["verdict"]["level"] == "exact"
        assert await differences(world) == []
        assert "403" in (await world.get("accounts/demo")).body["poolsReason"]
        assert "403" in (await world.get("health")).body["problems"][0]
        await world.batch.begin_remove_nodes("pool", models.BatchNodeRemoveOptions(node_ids=[min(await nodes(world))]))


async def test_an_account_that_is_off_says_so_of_its_pools(world: World) -> None:
    await add_pool(world.batch)
    await polled(world)
    await world.put("accounts/demo/monitoring", b'{"enabled": false}')
    verdict = (await pools(world))["pool"]["verdict"]
    assert verdict["level"] == "stale"
    assert "switched off" in verdict["reason"]
