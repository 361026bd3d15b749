"""The API's answers about pools and nodes: causes, states, tables and metrics, no secrets, and refused requests."""

from collections import Counter
from urllib.parse import quote

import pytest
import pytest_asyncio
from azure.batch import models

from local.azurite import StorageAddresses
from shared.stores.tables.rows import json_columns, json_of
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import Answer, World, begin_anew
from tests.functions.pools.shown_pools import nodes, polled, pools, true_nodes
from tests.functions.storage.test_unreadable_rows import opened

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty account that each tick polls."""
    await begin_anew(_running, poll_seconds=1)
    return _running


async def test_a_pool_has_the_settings_of_its_machines_and_a_change_of_them_alone_is_seen(world: World) -> None:
    image = models.BatchVmImageReference(publisher="canonical", offer="ubuntu", sku="24_04", version="latest")
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id="pool",
            vm_size="standard_d2s_v5",
            virtual_machine_configuration=models.VirtualMachineConfiguration(
                image_reference=image, node_agent_sku_id="batch.node.ubuntu 24.04"
            ),
            task_scheduling_policy=models.BatchTaskSchedulingPolicy(node_fill_type="pack"),
        )
    )
    world.advance(60)
    await polled(world)
    shown = (await pools(world))["pool"]["settings"]
    assert shown["virtualMachineConfiguration"]["nodeAgentSKUId"] == "batch.node.ubuntu 24.04"
    assert shown["virtualMachineConfiguration"]["imageReference"]["sku"] == "24_04"
    assert shown["taskSchedulingPolicy"] == {"nodeFillType": "pack"}
    policy = models.BatchTaskSchedulingPolicy(node_fill_type="spread")
    await world.batch.update_pool("pool", models.BatchPoolUpdateOptions(task_scheduling_policy=policy))
    world.advance(60)
    await polled(world)
    assert (await pools(world))["pool"]["settings"]["taskSchedulingPolicy"] == {"nodeFillType": "spread"}


async def test_nodes_show_why_they_are_stuck_and_since_when(world: World) -> None:
    world.emulator.settings.preemptionSeconds = 0
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


async def test_the_states_of_all_nodes_are_listed_with_the_causes_to_filter_by(world: World) -> None:
    await add_pool(world.batch, nodes=30)
    world.advance(120)
    await polled(world)
    true = list(true_nodes(world).values())
    for number, node in enumerate(true[:28]):
        node.state, node.errors = "unusable", [{"code": f"E{number % 24:02}", "message": "Broken."}]
    world.advance(10)
    await polled(world)
    answer = (await world.get("accounts/demo/pools/POOL/nodestates")).body
    shown = await nodes(world)
    keys = ("id", "state", "stateTransitionTime", "isDedicated", "runningTasks", "flapping")
    places = {cause["cause"]: place for place, cause in enumerate(answer["causes"])}
    assert answer["nodes"] == [
        {key: node[key] for key in keys}
        | {"cause": places.get(node["cause"], 20) if node["cause"] else None, "vmSize": 0}
        for node in shown.values()
    ]
    assert answer["vmSizes"] == ["standard_d2s_v5"]
    placed = Counter(node["cause"] for node in answer["nodes"])
    assert [placed[place] for place in (0, 3, 4, 19, 20, None)] == [2, 2, 1, 1, 4, 2]
    assert (answer["pool"], answer["otherNodes"]) == ("pool", 0)
    counted = [(cause["cause"], cause["nodes"]) for cause in answer["causes"]]
    assert counted[:5] == [(f"The node is unusable: E{at:02}: Broken.", 2 if at < 4 else 1) for at in range(5)]
    assert (len(counted), answer["otherCauses"]) == (20, 4)
    for part, number in (("unusable: e03", 2), ("E23: Broken.", 1), ("e24", 0)):
        assert len((await world.get(f"accounts/demo/pools/pool/nodes?cause={quote(part)}")).body["value"]) == number


async def test_the_states_of_all_nodes_are_the_same_until_a_poll_finds_something_new(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    world.advance(120)
    await polled(world)
    path = "accounts/demo/pools/pool/nodestates"
    answer = await world.get(path)
    for _ in range(2):
        world.advance(60)
        before = (await pools(world))["pool"]["verdict"]["asOf"]
        await polled(world)
        assert (await pools(world))["pool"]["verdict"]["asOf"] > before
        assert (await world.get(path, if_none_match=answer.headers["etag"])).status == 304
    next(iter(true_nodes(world).values())).state = "unusable"
    world.advance(1200)
    await polled(world)
    assert (await world.get(path, if_none_match=answer.headers["etag"])).status == 200


async def test_recent_tasks_are_shown_as_ids(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    await add_job(world.batch)
    await add_tasks(world.batch, 3, command="sleep 5")
    world.advance(300)
    await polled(world)
    (node,) = (await nodes(world)).values()
    recent = {(task["job"], task["task"], task["state"]) for task in node["recentTasks"]}
    assert recent == {("job", f"task-0000{number}", "completed") for number in range(3)}
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


async def test_environment_values_stored_by_an_older_version_are_redacted(
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
    environment = (await world.get("accounts/demo/pools/pool")).body["startTask"]["environment"]
    assert environment == {"MODE": "[redacted]", "EMPTY": ""}


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


async def test_metrics_show_nodes_by_state_and_kind(world: World) -> None:
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
async def test_a_bad_request_gets_a_specific_error(
    world: World, path: str, status: int, target: str, words: str
) -> None:
    answer = await world.get(path)
    assert (answer.status, answer.body["error"]["target"]) == (status, target)
    assert words in answer.body["error"]["message"]
