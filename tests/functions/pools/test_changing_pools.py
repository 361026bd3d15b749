"""Pools and nodes that are created, changed and deleted: the next poll finds it with few requests."""

from datetime import datetime

import pytest
import pytest_asyncio
from azure.batch import models

from local.azurite import StorageAddresses
from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import stamp
from shared.stores.accounts.rounds import ROUND_ROW
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World, begin_anew
from tests.functions.pools.shown_pools import differences, nodes, polled, pools, true_nodes
from tests.functions.storage.test_unreadable_rows import rows

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty account that each tick polls."""
    await begin_anew(_running, poll_seconds=1)
    return _running


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


async def test_replacement_nodes_are_distinguished_from_the_old_ones(world: World) -> None:
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
    """Returns the ETags of all rows that a round over jobs or pools may write."""
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


async def test_an_error_that_batch_keeps_is_history_once_the_pool_wants_the_nodes_it_has(world: World) -> None:
    await add_pool(world.batch, "scaled", nodes=2)
    world.advance(120)
    await world.batch.begin_resize_pool("scaled", models.BatchPoolResizeOptions(target_dedicated_nodes=5))
    await world.batch.begin_stop_pool_resize("scaled")
    world.advance(30)
    await polled(world)
    assert (await pools(world))["scaled"]["resizeErrors"][0]["current"] is True
    formula = models.BatchPoolEnableAutoScaleOptions(auto_scale_formula="$TargetDedicatedNodes = 2;")
    await world.batch.enable_pool_auto_scale("scaled", formula)
    world.advance(3600)
    await polled(world)
    kept = await world.batch.get_pool("scaled")
    assert [error.code for error in kept.resize_errors or ()] == ["ResizeStopped"]
    (error,) = (await pools(world))["scaled"]["resizeErrors"]
    assert (error["code"], error["current"]) == ("ResizeStopped", False)
    world.emulator.simulations["demo"].account.pools["scaled"].nodes.popitem()
    for _ in range(2):
        world.advance(60)
        await polled(world)
        shown = (await pools(world))["scaled"]
        assert (shown["dedicated"], shown["resizeErrors"]) == ({"current": 1, "target": 2}, [error])


async def test_nodes_of_a_pool_are_counted_by_the_version_of_batchs_agent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_pool(world.batch, nodes=2)
    await polled(world)
    assert (await pools(world))["pool"]["nodeAgentVersions"] == {}
    world.advance(120)
    await polled(world)
    assert (await pools(world))["pool"]["nodeAgentVersions"] == {"1.12.3": 2}
    monkeypatch.setattr(world.emulator.settings, "nodeAgentVersion", "1.13.0")
    await world.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=3))
    world.advance(120)
    await polled(world)
    assert list((await pools(world))["pool"]["nodeAgentVersions"].items()) == [("1.12.3", 2), ("1.13.0", 1)]
    shown = {name: node["nodeAgentVersion"] for name, node in (await nodes(world)).items()}
    assert shown == {name: node.agent_version for name, node in true_nodes(world).items()}


async def test_autoscaling_is_shown_with_its_last_evaluation_and_its_error(world: World) -> None:
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


async def test_a_changed_setting_is_in_the_feed_and_with_the_pool(world: World) -> None:
    await add_pool(world.batch, "set-anew", nodes=1)
    await polled(world)
    world.advance(5)
    task = models.BatchStartTask(command_line="/bin/true", wait_for_success=True)
    tag = models.BatchMetadataItem(name="team", value="render")
    await world.batch.update_pool("set-anew", models.BatchPoolUpdateOptions(start_task=task, metadata=[tag]))
    world.advance(60)
    await polled(world)
    found = (await pools(world))["set-anew"]["settingChanges"]
    listed = await world.get("accounts/demo/events?kind=pool.settings_change&pool=set-anew")
    (event,) = listed.body["value"]
    assert {change["name"]: (change["before"], change["after"]) for change in found} == {
        "metadata": (None, '[{"name":"team","value":"render"}]'),
        "startTask.commandLine": (None, "/bin/true"),
        "startTask.maxTaskRetryCount": (None, "0"),
        "startTask.waitForSuccess": (None, "true"),
    }
    assert {change["time"] for change in found} == {event["time"]}
    assert event["summary"].startswith("Settings of the pool 'set-anew' changed: metadata none -> [")
    assert [one["name"] for one in event["properties"]["changes"]] == sorted(change["name"] for change in found)


async def test_a_changed_value_of_a_variable_another_file_and_another_package_are_events_without_secrets(
    world: World,
) -> None:
    def task(value: str, file: str) -> models.BatchStartTask:
        return models.BatchStartTask(
            command_line="/bin/true",
            environment_settings=[models.EnvironmentSetting(name="API_KEY", value=value)],
            resource_files=[models.ResourceFile(http_url=f"https://store/in/{file}?sig={value}", file_path=file)],
        )

    def update(value: str, file: str, version: str) -> models.BatchPoolUpdateOptions:
        package = models.BatchApplicationPackageReference(application_id="blender", version=version)
        return models.BatchPoolUpdateOptions(start_task=task(value, file), application_package_references=[package])

    await add_pool(world.batch, "secretive", nodes=1)
    await world.batch.update_pool("secretive", update("hunter2-first", "a.zip", "4.1"))
    await polled(world)
    world.advance(5)
    await world.batch.update_pool("secretive", update("hunter2-second", "b.zip", "4.2"))
    world.advance(60)
    await polled(world)
    listed = await world.get("accounts/demo/events?kind=pool.settings_change&pool=secretive")
    (event,) = listed.body["value"]
    assert event["properties"]["changes"] == [
        {
            "name": "applicationPackageReferences",
            "before": '[{"applicationId":"blender","version":"4.1"}]',
            "after": '[{"applicationId":"blender","version":"4.2"}]',
        },
        {"name": "startTask.environmentSettings.API_KEY", "before": "[redacted]", "after": "[redacted]"},
        {
            "name": "startTask.resourceFiles",
            "before": '[{"filePath":"a.zip","httpUrl":"https://store/in/a.zip?[redacted]"}]',
            "after": '[{"filePath":"b.zip","httpUrl":"https://store/in/b.zip?[redacted]"}]',
        },
    ]
    shown = (await pools(world))["secretive"]
    assert [change["name"] for change in shown["settingChanges"]] == [
        change["name"] for change in event["properties"]["changes"]
    ]
    assert shown["settingChangesLeftOut"] == 0
