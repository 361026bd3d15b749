"""Pools and nodes from Batch to the API: every number equals the truth, and says how sure it is."""

from collections import Counter
from datetime import datetime
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from azure.batch import models

from local.azurite import StorageAddresses
from local.batch_emulator.entities import Node
from local.batch_emulator.injection import Fault
from local.batch_emulator.stamps import stamp
from shared.domain.vm_sizes import vcpus_of
from shared.stores.rounds import ROUND_ROW
from shared.stores.tables import json_columns, json_of
from tests.emulator.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import Answer, World, begin_anew
from tests.functions.test_unreadable_rows import opened, rows

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """An empty account that each tick polls."""
    await begin_anew(_running, poll_seconds=1)
    return _running


async def pools(world: World) -> dict[str, Any]:
    found = await world.get("accounts/demo/pools?maxpagesize=1000")
    assert found.status == 200, found.body
    return {pool["id"]: pool for pool in found.body["value"]}


async def nodes(world: World, pool: str = "pool") -> dict[str, Any]:
    found = await world.get(f"accounts/demo/pools/{pool}/nodes?maxpagesize=1000")
    assert found.status == 200, found.body
    return {node["id"]: node for node in found.body["value"]}


def machines_of(states: dict[str, int]) -> int:
    """Of nodes by state those that have a machine."""
    return sum(states.values()) - states.get("preempted", 0) - states.get("deallocated", 0)


async def differences(world: World) -> list[str]:
    """Where pools, nodes and their times in state aren't what the emulator's own lists would show now."""
    shown, truth = await pools(world), world.emulator.truth()["accounts"]["demo"]["pools"]
    found = [f"{pool} is shown or exists alone" for pool in truth.keys() ^ shown.keys()]
    for name in truth.keys() & shown.keys():
        pool, true = shown[name], truth[name]
        vcpus = vcpus_of(pool["vmSize"]) or 0
        told = {
            "nodes": (pool["nodeCounts"], true["nodes"]),
            "dedicated": (pool["dedicated"]["current"], true["dedicated"]),
            "spot": (pool["spot"]["current"], true["spot"]),
            "slotsUsed": (pool["slots"]["used"], true["slotsUsed"]),
            "slotsTotal": (pool["slots"]["total"], true["slotsTotal"]),
            "cores": (pool["cores"]["total"], vcpus * machines_of(true["nodes"])),
            "busy": (pool["cores"]["busy"], vcpus * true["slotsUsed"] / pool["taskSlotsPerNode"]),
        }
        found += [f"{name}.{field}: {ours} for {theirs}" for field, (ours, theirs) in told.items() if ours != theirs]
        found += await _node_differences(world, name)
    return found


async def _node_differences(world: World, pool: str) -> list[str]:
    shown, true = await nodes(world, pool), true_nodes(world, pool)
    found = [f"{pool}: {node} is shown or exists alone" for node in true.keys() ^ shown.keys()]
    for name in true.keys() & shown.keys():
        node, theirs = shown[name], true[name]
        since = datetime.fromisoformat(stamp(theirs.changed))
        seconds = max((datetime.fromisoformat(stamp(world.emulator.clock.now)) - since).total_seconds(), 0)
        if node["state"] != theirs.state or node["runningTasks"] != len(theirs.running):
            found.append(f"{name}: {node['state']} for {theirs.state}, {node['runningTasks']} tasks")
        if abs(node["secondsInState"] - seconds) > 0.002:
            found.append(f"{name}: {node['secondsInState']} s in {theirs.state} for {seconds}")
    return found


def true_nodes(world: World, pool: str = "pool") -> dict[str, Node]:
    return dict(world.emulator.simulations["demo"].account.pools[pool].nodes)


async def assert_totals_add_up(world: World) -> None:
    """The account tells the sums of its pools, and of those alone."""
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


async def polled(world: World) -> None:
    await world.app.fire("tick")
    last = (await world.get("accounts/demo")).body["lastRound"]
    assert (last["outcome"], last["startedAt"][:19]) == ("succeeded", stamp(world.emulator.clock.now)[:19])


async def test_every_number_equals_the_truth_while_pools_live(world: World) -> None:
    world.emulator.knobs.preemptionSeconds, world.emulator.knobs.nodeLossSeconds = 60, 300
    await add_pool(world.batch, nodes=5, spot=4)
    await add_pool(world.batch, "failing", nodes=2, start="/bin/sh -c 'sleep 3; exit 7'")
    await add_pool(world.batch, "empty", nodes=0)
    await add_job(world.batch)
    await add_tasks(world.batch, 90, command="sleep 15")
    seen: Counter[str] = Counter()
    for step in range(36):
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


async def test_an_account_tells_why_its_pools_are_not_known(world: World) -> None:
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


async def test_removed_nodes_are_gone_with_the_next_poll_and_new_ones_there(world: World) -> None:
    await add_pool(world.batch, nodes=6)
    world.advance(120)
    await polled(world)
    before = sorted(await nodes(world))
    await world.batch.begin_remove_nodes("pool", models.BatchNodeRemoveOptions(node_ids=before[:2]))
    world.advance(60)
    await polled(world)
    assert sorted(await nodes(world)) == before[2:]
    assert await differences(world) == []


async def test_nodes_that_take_the_place_of_others_are_told_from_them(world: World) -> None:
    """The counts are the same before and after."""
    await add_pool(world.batch, nodes=3)
    world.advance(120)
    await polled(world)
    before = set(await nodes(world))
    for count in (0, 3):
        await world.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=count))
        world.advance(120)
    await polled(world)
    assert not before & set(await nodes(world))
    assert await differences(world) == []


async def stored(azurite: StorageAddresses) -> dict[str, str]:
    """The ETags of all rows that a round over jobs or pools may write."""
    tables = ("accounts", "pools", "nodes", "poolhistory", "jobs", "jobhistory")
    found = [(name, await rows(azurite, name, lambda _: True)) for name in tables]
    return {f"{name}/{key}": etag for name, etags in found for key, etag in etags.items()}


async def test_a_quiet_account_costs_three_requests_and_one_written_row_beside_those_of_jobs(
    world: World, azurite: StorageAddresses
) -> None:
    await add_pool(world.batch, nodes=3)
    await add_pool(world.batch, "empty", nodes=0)
    world.advance(120)
    await polled(world)
    world.advance(60)
    await polled(world)
    before = await stored(azurite)
    world.emulator.counters.clear()
    world.advance(60)
    await polled(world)
    after = await stored(azurite)
    written = {place.rpartition("/")[2] for place in before.keys() | after if before.get(place) != after.get(place)}
    assert written == {"pools", ROUND_ROW}
    asked = {route: dict(found) for route, found in world.emulator.counters.items()}
    assert asked == {
        "GET /jobs": {"requests": 1, "items": 0},
        "GET /pools": {"requests": 1, "items": 2},
        "GET /nodecounts": {"requests": 1, "items": 2},
        "GET /pools/{poolId}/nodes": {"requests": 1, "items": 0},
    }
    assert (await pools(world))["pool"]["verdict"]["source"] == "delta"


async def test_all_nodes_are_listed_while_tasks_run_and_after_a_quarter_of_an_hour(world: World) -> None:
    await add_pool(world.batch, nodes=3)
    await add_job(world.batch)
    await add_tasks(world.batch, 1, command="sleep 100000")
    world.advance(120)
    await polled(world)
    for _ in range(2):
        world.emulator.counters.clear()
        world.advance(60)
        await polled(world)
        assert world.emulator.counters["GET /pools/{poolId}/nodes"] == {"requests": 1, "items": 3}
    await world.batch.delete_task("job", "task-00000")
    items = []
    for _ in range(17):
        world.emulator.counters.clear()
        world.advance(60)
        await polled(world)
        items.append(world.emulator.counters["GET /pools/{poolId}/nodes"]["items"])
    assert items.count(3) >= 2
    assert items.count(0) >= 12
    assert await differences(world) == []


async def test_a_deleted_pool_is_forgotten_and_one_created_anew_is_another(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    world.advance(120)
    await polled(world)
    before = set(await nodes(world))
    await world.batch.begin_delete_pool("pool")
    world.advance(120)
    await polled(world)
    assert await pools(world) == {}
    gone = await world.get("accounts/demo/pools/pool")
    assert (gone.status, gone.body["error"]["code"]) == (404, "PoolNotFound")
    await add_pool(world.batch, "POOL", nodes=1)
    world.advance(120)
    await polled(world)
    assert await differences_of(world, "POOL") == []
    assert not before & set(await nodes(world, "pool"))


async def differences_of(world: World, pool: str) -> list[str]:
    shown = (await world.get(f"accounts/demo/pools/{pool}")).body
    true = world.emulator.truth()["accounts"]["demo"]["pools"][pool]
    return [] if shown["nodeCounts"] == true["nodes"] else [f"{shown['nodeCounts']} for {true['nodes']}"]


async def test_a_pool_missing_from_a_list_alone_is_not_deleted(world: World) -> None:
    await add_pool(world.batch)
    await polled(world)
    account = world.emulator.simulations["demo"].account
    world.advance(60)
    world.emulator.faults.all.append(Fault(path="/pools/pool", status=403))
    kept = account.pools.pop("pool")
    await polled(world)
    account.pools["pool"] = kept
    shown = await pools(world)
    assert shown["pool"]["verdict"]["level"] == "stale"
    assert "403" in shown["pool"]["verdict"]["reason"]


async def test_resize_errors_are_current_until_the_next_attempt(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    world.advance(120)
    await world.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=5))
    await world.batch.begin_stop_pool_resize("pool")
    world.advance(30)
    await polled(world)
    first = (await pools(world))["pool"]
    (error,) = first["resizeErrors"]
    assert (error["code"], error["current"]) == ("ResizeStopped", True)
    assert error["time"] == first["allocationStateTransitionTime"]
    world.advance(60)
    await polled(world)
    (again,) = (await pools(world))["pool"]["resizeErrors"]
    assert again == {**error, "lastSeen": again["lastSeen"]}
    assert again["lastSeen"] > error["lastSeen"]
    await world.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=4))
    world.advance(30)
    await polled(world)
    (stale,) = (await pools(world))["pool"]["resizeErrors"]
    assert stale == {**again, "current": False}
    assert (await pools(world))["pool"]["dedicated"]["target"] == 4


async def test_autoscaling_is_told_with_its_last_evaluation_and_its_error(world: World) -> None:
    await add_pool(world.batch, nodes=0)
    await world.batch.enable_pool_auto_scale(
        "pool", models.BatchPoolEnableAutoScaleOptions(auto_scale_formula="$TargetDedicatedNodes = 3;")
    )
    world.advance(60)
    await polled(world)
    pool = (await pools(world))["pool"]
    assert pool["autoScale"]["formula"] == "$TargetDedicatedNodes = 3;"
    assert pool["autoScale"]["lastEvaluation"] <= pool["verdict"]["asOf"]
    assert "$TargetDedicatedNodes=3" in pool["autoScale"]["results"]
    assert pool["autoScale"]["error"] is None
    assert pool["dedicated"]["target"] == 3


async def test_nodes_tell_why_they_are_stuck_and_since_when(world: World) -> None:
    world.emulator.knobs.preemptionSeconds = 0
    await add_pool(world.batch, "failing", nodes=1, start="/bin/sh -c 'sleep 3; exit 7'")
    await add_pool(world.batch, "slow", nodes=1, start="/bin/sh -c 'sleep 4000'")
    world.advance(120)
    await polled(world)
    (failed,) = (await nodes(world, "failing")).values()
    assert failed["state"] == "starttaskfailed"
    assert failed["cause"].startswith("The start task failed with exit code 7: FailureExitCode: ")
    assert failed["startTaskInfo"]["exitCode"] == 7
    (waiting,) = (await nodes(world, "slow")).values()
    assert waiting["cause"].startswith("The start task has been running since ")
    later = waiting["secondsInState"]
    true = next(iter(true_nodes(world, "slow").values()))
    true.state, true.errors = "unusable", [{"code": "DiskFull", "message": "No space is left, sig=abcdefgh."}]
    world.advance(10)
    await polled(world)
    (full,) = (await nodes(world, "slow")).values()
    assert full["errors"] == [{"code": "DiskFull", "message": "No space is left, sig=[redacted]"}]
    assert full["cause"] == "The node's disk is full (DiskFull: No space is left, sig=[redacted])."
    world.advance(600)
    (waiting,) = (await nodes(world, "slow")).values()
    assert waiting["secondsInState"] == later + 610
    one = await world.get(f"accounts/demo/pools/slow/nodes/{waiting['id'].upper()}")
    assert one.body["id"] == waiting["id"]


async def test_the_states_of_all_nodes_are_told_at_once_with_the_causes_that_filter_them(world: World) -> None:
    await add_pool(world.batch, nodes=30)
    world.advance(120)
    await polled(world)
    true = list(true_nodes(world).values())
    for number, node in enumerate(true[:28]):
        node.state, node.errors = "unusable", [{"code": f"E{number % 24:02}", "message": "Broken."}]
    world.advance(10)
    await polled(world)
    told = (await world.get("accounts/demo/pools/POOL/nodestates")).body
    shown = await nodes(world)
    keys = ("id", "state", "stateTransitionTime", "isDedicated", "runningTasks", "flapping")
    places = {cause["cause"]: place for place, cause in enumerate(told["causes"])}
    assert told["nodes"] == [
        {key: node[key] for key in keys} | {"cause": places.get(node["cause"], 20) if node["cause"] else None}
        for node in shown.values()
    ]
    placed = Counter(node["cause"] for node in told["nodes"])
    assert [placed[place] for place in (0, 3, 4, 19, 20, None)] == [2, 2, 1, 1, 4, 2]
    assert (told["pool"], told["otherNodes"]) == ("pool", 0)
    counted = [(cause["cause"], cause["nodes"]) for cause in told["causes"]]
    assert counted[:5] == [(f"The node is unusable: E{at:02}: Broken.", 2 if at < 4 else 1) for at in range(5)]
    assert (len(counted), told["otherCauses"]) == (20, 4)
    for part, number in (("unusable: e03", 2), ("E23: Broken.", 1), ("e24", 0)):
        assert len((await world.get(f"accounts/demo/pools/pool/nodes?cause={quote(part)}")).body["value"]) == number


async def test_the_states_of_all_nodes_are_the_same_until_a_poll_finds_something_new(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    world.advance(120)
    await polled(world)
    path = "accounts/demo/pools/pool/nodestates"
    told = await world.get(path)
    for _ in range(2):
        world.advance(60)
        before = (await pools(world))["pool"]["verdict"]["asOf"]
        await polled(world)
        assert (await pools(world))["pool"]["verdict"]["asOf"] > before
        assert (await world.get(path, if_none_match=told.headers["etag"])).status == 304
    next(iter(true_nodes(world).values())).state = "unusable"
    world.advance(1200)
    await polled(world)
    assert (await world.get(path, if_none_match=told.headers["etag"])).status == 200


async def test_a_transition_between_two_polls_is_right_to_one_interval(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    for _ in range(6):
        await polled(world)
        world.advance(60)
        now = datetime.fromisoformat(stamp(world.emulator.clock.now))
        shown, true = await nodes(world), true_nodes(world)
        for name in true.keys() & shown.keys():
            since = datetime.fromisoformat(stamp(true[name].changed))
            wrong = abs(shown[name]["secondsInState"] - (now - since).total_seconds())
            assert wrong <= 0.002 or (now - since).total_seconds() <= 60


async def test_recent_tasks_are_told_as_ids(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    await add_job(world.batch)
    await add_tasks(world.batch, 3, command="sleep 5")
    world.advance(300)
    await polled(world)
    (node,) = (await nodes(world)).values()
    told = {(task["job"], task["task"], task["state"]) for task in node["recentTasks"]}
    assert told == {("job", f"task-0000{number}", "completed") for number in range(3)}
    assert node["recentTasksAsOf"] == node["asOf"]
    assert (node["totalTasksRun"], node["lastSeen"]) == (3, node["asOf"])


async def test_secrets_of_start_tasks_are_not_kept(world: World) -> None:
    settings = [
        models.EnvironmentSetting(name="DB_PASSWORD", value="hunter2"),
        models.EnvironmentSetting(name="MODE", value="hunter2"),
    ]
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id="pool",
            vm_size="standard_d2s_v5",
            target_dedicated_nodes=0,
            start_task=models.BatchStartTask(
                command_line="/bin/sh -c 'login --password hunter2'", environment_settings=settings
            ),
        )
    )
    await polled(world)
    answer = await world.get("accounts/demo/pools/pool")
    assert answer.body["startTask"]["environment"] == {"DB_PASSWORD": "[redacted]", "MODE": "[redacted]"}
    assert "hunter2" not in str(answer.body)


async def test_values_of_variables_that_a_version_before_kept_are_not_told(
    world: World, azurite: StorageAddresses
) -> None:
    task = models.BatchStartTask(command_line="run", environment_settings=[models.EnvironmentSetting(name="MODE")])
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(id="pool", vm_size="standard_d2s_v5", target_dedicated_nodes=0, start_task=task)
    )
    await polled(world)
    async with opened(azurite, "pools") as table:
        row = dict(await table.get_entity("demo", "pool"))
        stored = json_of(row, "pool")
        stored["facts"]["start_task"]["environment"] = [["MODE", "hunter2"], ["EMPTY", ""]]
        await table.update_entity(row | json_columns("pool", stored))
    told = (await world.get("accounts/demo/pools/pool")).body["startTask"]["environment"]
    assert told == {"MODE": "[redacted]", "EMPTY": ""}


async def test_pools_and_nodes_are_filtered_paged_and_given_as_tables(world: World) -> None:
    await add_pool(world.batch, "alpha", nodes=3)
    await add_pool(world.batch, "beta", nodes=1, spot=2)
    await add_pool(world.batch, "gamma", nodes=0)
    world.advance(200)
    await polled(world)
    page = await world.get("accounts/demo/pools?maxpagesize=2")
    assert [pool["id"] for pool in page.body["value"]] == ["alpha", "beta"]
    rest = await _following(world, page)
    assert ([pool["id"] for pool in rest.body["value"]], "nextLink" in rest.body) == (["gamma"], False)
    for query, count in (("prefix=BE", 1), ("state=deleting", 0), ("allocationState=steady", 3)):
        assert len((await world.get(f"accounts/demo/pools?{query}")).body["value"]) == count
    first = await world.get("accounts/demo/pools/ALPHA/nodes?maxpagesize=2")
    assert (len(first.body["value"]), len((await _following(world, first)).body["value"])) == (2, 1)
    for query, count in (("isDedicated=false", 2), ("state=idle&isDedicated=true", 1), ("state=unusable", 0)):
        assert len((await world.get(f"accounts/demo/pools/beta/nodes?{query}")).body["value"]) == count
    table = await world.get("accounts/demo/pools?format=csv")
    assert table.body.splitlines()[0].startswith("id,account,state,allocationState,vmSize,taskSlotsPerNode,")
    assert len(table.body.splitlines()) == 4
    lines = (await world.get("accounts/demo/pools/beta/nodes?format=csv&maxpagesize=2")).body.splitlines()
    assert (len(lines), lines[0].split(",")[:3]) == (3, ["id", "pool", "account"])


async def _following(world: World, page: Answer) -> Answer:
    return await world.get(page.body["nextLink"].split("/api/", 1)[1])


async def test_metrics_tell_nodes_by_state_and_kind(world: World) -> None:
    await add_pool(world.batch, nodes=3, spot=1)
    await add_pool(world.batch, "empty", nodes=0)
    await add_job(world.batch)
    world.advance(120)
    await add_tasks(world.batch, 2, command="sleep 100000")
    for _ in range(2):
        world.advance(20)
        await polled(world)
    lines = (await world.get("metrics")).body.splitlines()
    found = dict(line.rsplit(" ", 1) for line in lines if line.startswith("azbatch_pool_"))
    true = Counter((node.state, "true" if node.dedicated else "false") for node in true_nodes(world).values())
    assert len(true) > 1
    for (state, dedicated), number in true.items():
        labels = f'account="demo",dedicated="{dedicated}",pool="pool",state="{state}"'
        assert _value(found, "nodes", labels) == number
    for name, value in (("slots", 8), ("used_slots", 2), ("cores", 8), ("busy_cores", 2), ("exact", 1)):
        assert _value(found, name, 'account="demo",pool="pool"') == value
    assert _value(found, "target_nodes", 'account="demo",dedicated="false",pool="pool"') == 1
    assert _value(found, "slots", 'account="demo",pool="empty"') == 0
    assert 'azbatch_collector_pools_up{account="demo"} 1.0' in lines
    assert 'azbatch_collector_pools_calls{account="demo"} 3.0' in lines


def _value(found: dict[str, str], name: str, labels: str) -> float:
    wanted = set(labels.split(","))
    (value,) = [
        value
        for line, value in found.items()
        if line.startswith(f"azbatch_pool_{name}{{") and set(line.split("{")[1].rstrip("}").split(",")) == wanted
    ]
    return float(value)


@pytest.mark.parametrize(
    ("path", "status", "target", "words"),
    [
        ("accounts/nobody/pools", 404, "account", "There is no account 'nobody'."),
        ("accounts/demo/pools/nope", 404, "pool", "There is no pool 'nope' in the account 'demo'."),
        ("accounts/demo/pools/nope/nodes", 404, "pool", "nope"),
        ("accounts/demo/pools/nope/nodes/x", 404, "pool", "nope"),
        ("accounts/demo/pools?state=idle", 400, "state", "one of active, deleting"),
        ("accounts/demo/pools/nope/nodes?state=asleep", 400, "state", "idle"),
        ("accounts/demo/pools/nope/nodes?isDedicated=perhaps", 400, "isDedicated", "true or false"),
        ("accounts/demo/pools?colour=red", 400, "colour", "Known are"),
    ],
)
async def test_a_bad_request_is_told_what_is_wrong(
    world: World, path: str, status: int, target: str, words: str
) -> None:
    answer = await world.get(path)
    assert (answer.status, answer.body["error"]["target"]) == (status, target)
    assert words in answer.body["error"]["message"]


async def test_an_account_that_is_off_says_so_of_its_pools(world: World) -> None:
    await add_pool(world.batch)
    await polled(world)
    await world.put("accounts/demo/monitoring", b'{"enabled": false}')
    verdict = (await pools(world))["pool"]["verdict"]
    assert verdict["level"] == "stale"
    assert "switched off" in verdict["reason"]
