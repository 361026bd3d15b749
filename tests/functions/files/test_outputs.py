"""Ends of failed tasks' outputs: kept by ticks, and read when the node is gone."""

import base64
import os
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from azure.batch.models import BatchNodeRemoveOptions, BatchTaskCreateOptions
from azure.data.tables.aio import TableClient

from bench.redaction import samples
from local.batch_emulator.core.injection import Fault
from local.batch_emulator.entities import Task
from shared.domain.outputs.failed_runs import EACH
from shared.domain.outputs.kept_outputs import TAIL
from shared.domain.packing.compression import inflated
from tests.emulator.support.staging import add_job, add_pool
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
SECRET = "Tr0ub4dor-and-3"
COMMAND = f"sh -c 'echo password={SECRET}; echo last words >&2; exit 3'"
RATE = 60  # tasks a minute
MANY, GROUPS = 2000, 10


async def _stage(world: World, job: str, commands: dict[str, str], *, nodes: int = 1) -> None:
    """Creates a pool and a job, runs tasks until they failed, and lets ticks see it, more of them on a slow machine."""
    await add_pool(world.batch, job, nodes=nodes)
    await add_job(world.batch, job, pool=job)
    for name, command in commands.items():
        await world.batch.create_task(job, BatchTaskCreateOptions(id=name, command_line=command))
    world.advance(900)
    before = -1
    while before != (before := _file_requests(world)):
        await world.app.fire("tick")
        world.advance(61)


async def _remove_nodes(world: World, pool: str) -> None:
    found = await world.get(f"accounts/demo/pools/{pool}/nodes")
    nodes = [node["id"] for node in found.body["value"]]
    await world.batch.begin_remove_nodes(pool, BatchNodeRemoveOptions(node_ids=nodes))
    world.advance(600)


async def _output(world: World, job: str, task: str) -> Any:
    found = await world.get(f"accounts/demo/jobs/{job}/tasks/{task}/output")
    assert found.status == 200
    assert found.headers["cache-control"] == "no-store"
    return found.body


async def _rows() -> list[dict[str, Any]]:
    storage, name = os.environ["TELEMETRY_STORAGE"], f"{os.environ['TABLE_PREFIX']}outputs"
    async with TableClient.from_connection_string(storage, name) as table:
        return [dict(row) async for row in table.list_entities()]


def _file_requests(world: World) -> int:
    return sum(counted["requests"] for route, counted in world.emulator.counters.items() if "/files" in route)


async def test_the_output_of_a_task_is_read_a_day_after_its_node_was_removed(world: World) -> None:
    await _stage(world, "kept", {"broken": COMMAND, "fine": "sh -c 'echo well'"})
    world.advance(60)
    await _remove_nodes(world, "kept")
    world.advance(86_400)
    await world.app.fire("tick")
    found = await _output(world, "kept", "broken")
    assert found["stderr"] == {"text": "last words\n", "size": 11, "offset": 0, "reason": None, "message": None}
    assert found["stdout"]["text"] == f"password={'*' * len(SECRET)}\n"
    assert (found["exitCode"], found["attempt"], found["poolId"]) == (3, 1, "kept")
    kept, expires = (datetime.fromisoformat(found[name]) for name in ("keptTime", "expiryTime"))
    assert timedelta(days=30) <= expires - kept < timedelta(days=31)
    file = await world.get("accounts/demo/jobs/kept/tasks/broken/files/stderr.txt?tail=6")
    assert (file.status, file.body, file.headers["batchscope-offset"]) == (200, "words\n", "5")
    assert datetime.fromisoformat(file.headers["batchscope-kept-at"]) == kept
    fine = await _output(world, "kept", "fine")
    assert fine["stderr"]["reason"] == fine["stdout"]["reason"] == "NotFailed"
    assert fine["keptTime"] is None


async def test_a_file_that_is_there_comes_from_the_node(world: World) -> None:
    await _stage(world, "live", {"broken": COMMAND})
    file = await world.get("accounts/demo/jobs/live/tasks/broken/files/stderr.txt")
    assert (file.body, "batchscope-kept-at" in file.headers) == ("last words\n", False)


async def test_a_node_that_was_gone_first_is_the_reason(world: World) -> None:
    await add_pool(world.batch, "gone", nodes=1)
    await add_job(world.batch, "gone", pool="gone")
    await world.batch.create_task("gone", BatchTaskCreateOptions(id="broken", command_line=COMMAND))
    world.advance(900)
    await world.poll()
    await _remove_nodes(world, "gone")
    await world.app.fire("tick")
    found = await _output(world, "gone", "broken")
    assert found["stderr"]["text"] is None
    assert found["stderr"]["message"].startswith("There was nothing to keep ")
    assert "the node is gone" in found["stderr"]["message"]
    missing = await world.get("accounts/demo/jobs/gone/tasks/broken/files/stderr.txt")
    assert (missing.status, missing.body["error"]["code"]) == (404, "FileNotFound")


async def test_an_account_that_throttles_reads_of_output_says_so(world: World) -> None:
    await add_pool(world.batch, "throttled", nodes=1)
    await add_job(world.batch, "throttled", pool="throttled")
    await world.batch.create_task("throttled", BatchTaskCreateOptions(id="broken", command_line=COMMAND))
    world.advance(900)
    world.emulator.faults.add(Fault(path="/jobs/throttled/tasks/broken/files/*", status=429, retryAfter=600))
    await world.app.fire("tick")
    said = (await world.get("accounts/demo")).body["lastRound"]["reason"]
    assert "is throttling (429); the next try is in 600 s" in said
    assert f"demo: {said}" in (await world.get("health")).body["problems"]
    world.emulator.faults.clear()
    world.advance(700)
    await world.app.fire("tick")
    assert (await world.get("accounts/demo")).body["lastRound"]["reason"] is None


async def test_no_output_is_asked_of_an_account_whose_round_failed(world: World) -> None:
    await add_pool(world.batch, "failing", nodes=1)
    await add_job(world.batch, "failing", pool="failing")
    await world.batch.create_task("failing", BatchTaskCreateOptions(id="broken", command_line=COMMAND))
    world.advance(900)
    world.emulator.faults.add(Fault(path="/jobs/failing/tasks/broken/files/*", status=500))
    await world.app.fire("tick")  # sees the failure, and keeps nothing
    world.emulator.faults.clear()
    world.advance(61)
    world.emulator.faults.add(Fault(path="/jobs", status=500))
    before = _file_requests(world)
    for _ in range(2):
        await world.app.fire("tick")
        world.advance(61)
    assert _file_requests(world) == before
    world.emulator.faults.clear()
    world.advance(600)
    await world.app.fire("tick")
    await world.app.fire("tick")
    assert _file_requests(world) > before


async def test_many_failures_in_one_poll_spend_no_more_than_the_limits(world: World) -> None:
    await add_pool(world.batch, "many", nodes=2)
    await add_job(world.batch, "many", pool="many")
    simulation, now = world.emulator.simulations["demo"], world.emulator.clock.now
    specs = [{"commandLine": f"sh -c 'exit {code}'"} for code in range(1, GROUPS + 1)]
    tasks = [Task(f"t{at:04}", f"t{at:04}", at, specs[at % len(specs)], 1, 0, now, now) for at in range(MANY)]
    simulation.tasks.add(simulation.account.jobs["many"], tasks)
    world.advance(3600)
    requests, before = [0], -1
    while requests[-1] != before:
        before = requests[-1]
        await world.app.fire("tick")
        requests.append(_file_requests(world))
        world.advance(61)
    assert max(later - first for first, later in pairwise(requests)) <= 4 * RATE
    groups = (await world.get("accounts/demo/jobs/many/failures")).body["groups"]
    assert [group["count"] for group in groups] == [MANY // GROUPS] * GROUPS
    kept = [row for row in await _rows() if row["PartitionKey"].endswith("~many") and "keptAt" in row]
    assert set(Counter(row["group"] for row in kept).values()) <= set(range(EACH, 3 * EACH + 1))
    assert len({row["group"] for row in kept}) == GROUPS
    assert len({row["node"] for row in kept}) == 2
    other = next(task.id for task in tasks if task.id not in {row["id"] for row in kept})
    assert (await _output(world, "many", other))["stderr"]["reason"] == "EnoughKept"


async def test_secrets_at_the_border_of_what_is_kept_are_neither_stored_nor_served(world: World) -> None:
    chosen = [sample for sample in samples()[::40] if "\n" not in sample.text and sample.secrets][:8]
    contents = {}
    for at, sample in enumerate(chosen):
        line = f"\n{sample.text}\n".encode()
        begin = line.index(sample.secrets[0].encode()) + len(sample.secrets[0]) // 2
        contents[f"t{at}"] = b"first\n" * 9 + line + b"\n" * (TAIL - (len(line) - begin))
    texts = {name: base64.b64encode(content).decode() for name, content in contents.items()}
    commands = {name: f"sh -c 'emulate base64 {text}; exit {at}'" for at, (name, text) in enumerate(texts.items(), 1)}
    await _stage(world, "border", commands, nodes=2)
    packed = [row[name] for row in await _rows() for name in ("stderr0", "stdout0") if name in row]
    stored = b"".join(map(inflated, packed)).decode(errors="replace")
    for at, sample in enumerate(chosen):
        found = await _output(world, "border", f"t{at}")
        assert found["stdout"]["offset"] == len(contents[f"t{at}"]) - TAIL
        assert len(found["stdout"]["text"].encode()) == TAIL
        tail = sample.secrets[0][len(sample.secrets[0]) // 2 :]
        assert tail not in found["stdout"]["text"], sample.kind
        assert tail not in stored, sample.kind


async def test_failures_are_grouped_by_what_kept_outputs_say(world: World) -> None:
    words = {"a": "No module named x", "b": "No module named x", "c": "out of disk"}
    texts = {name: f"sh -c 'echo ModuleNotFoundError: {text} >&2; exit 1'" for name, text in words.items()}
    await _stage(world, "grouped", texts, nodes=2)
    (group,) = (await world.get("accounts/demo/jobs/grouped/failures")).body["groups"]
    assert (group["count"], group["kept"]) == (3, 3)
    outputs = group["outputs"]
    assert [output["count"] for output in outputs] == [2, 1]
    assert outputs[0]["title"] == "ModuleNotFoundError: No module named x"
    assert outputs[0]["lines"] == ["ModuleNotFoundError: No module named x"]
    assert {outputs[0]["first"]["taskId"], outputs[0]["newest"]["taskId"]} == {"a", "b"} == set(outputs[0]["tasks"])
    assert sum(node["count"] for node in outputs[0]["nodes"]) == 2
    assert {node["poolId"] for node in outputs[0]["nodes"]} == {"grouped"}
    assert (outputs[0]["otherNodes"], outputs[1]["tasks"]) == (0, ["c"])


async def test_an_operator_deletes_what_was_kept_of_a_job(world: World) -> None:
    await _stage(world, "deleted", {"broken": COMMAND})
    assert (await _output(world, "deleted", "broken"))["stderr"]["text"]
    assert (await world.delete("accounts/demo/jobs/deleted/outputs")).status == 204
    assert (await _output(world, "deleted", "broken"))["stderr"]["reason"] == "Gone"
    await world.batch.create_task("deleted", BatchTaskCreateOptions(id="later", command_line=COMMAND))
    world.advance(120)
    await world.app.fire("tick")
    assert (await _output(world, "deleted", "later"))["stderr"]["text"] == "last words\n"
    assert (await _output(world, "deleted", "broken"))["stderr"]["reason"] == "Gone"
    assert (await world.delete("accounts/demo/jobs/none/outputs")).status == 404


async def test_an_output_of_a_run_before_the_latest_says_so(world: World) -> None:
    await _stage(world, "rerun", {"broken": COMMAND})
    assert (await _output(world, "rerun", "broken"))["latestRun"] is True
    await _remove_nodes(world, "rerun")
    await world.batch.reactivate_task("rerun", "broken")
    await world.poll()
    found = await _output(world, "rerun", "broken")
    assert (found["stderr"]["text"], found["latestRun"]) == ("last words\n", False)


async def test_outputs_of_an_earlier_job_of_the_same_id_are_not_those_of_a_later_one(world: World) -> None:
    await _stage(world, "nightly", {"a": COMMAND, "b": COMMAND})
    assert (await _output(world, "nightly", "b"))["stderr"]["text"]
    await world.batch.begin_delete_job("nightly")
    world.advance(120)
    await add_job(world.batch, "nightly", pool="nightly")
    for name, command in {"a": "sh -c 'echo well'", "b": COMMAND}.items():
        await world.batch.create_task("nightly", BatchTaskCreateOptions(id=name, command_line=command))
    world.advance(120)
    await world.poll()  # which keeps nothing
    for name, reason in {"a": "NotFailed", "b": "NotYet"}.items():
        found = await _output(world, "nightly", name)
        assert (found["keptTime"], found["stderr"]["reason"], found["latestRun"]) == (None, reason, None)
    (group,) = (await world.get("accounts/demo/jobs/nightly/failures")).body["groups"]
    assert (group["count"], group["kept"], group["outputs"]) == (1, 0, [])


async def test_outputs_past_their_time_are_deleted(world: World) -> None:
    await _stage(world, "past", {"broken": COMMAND})
    world.advance(86_400 * 29)
    await world.app.fire("housekeeping")
    assert (await _output(world, "past", "broken"))["stderr"]["text"]
    world.advance(86_400 * 2)
    await world.app.fire("housekeeping")
    assert (await _output(world, "past", "broken"))["stderr"]["reason"] == "Gone"


async def test_a_failure_of_batch_is_tried_again_and_never_fails_the_tick(world: World) -> None:
    world.emulator.faults.add(Fault(path="/jobs/again/tasks/broken/files/*", status=500))
    await _stage(world, "again", {"broken": COMMAND})
    assert (await _output(world, "again", "broken"))["stderr"]["reason"] == "NotYet"
    world.emulator.faults.clear()
    world.advance(61)
    await world.app.fire("tick")
    assert (await _output(world, "again", "broken"))["stderr"]["text"] == "last words\n"


async def test_a_task_that_runs_again_and_fails_again_has_its_new_output_kept(world: World) -> None:
    """It fails before a poll has seen it run, so the number of failed tasks is the same at each poll."""
    await _stage(world, "rerun", {"broken": COMMAND})
    first = await _output(world, "rerun", "broken")
    await world.batch.reactivate_task("rerun", "broken")
    world.advance(300)
    await world.app.fire("tick")
    latest = await _output(world, "rerun", "broken")
    assert latest["endTime"] > first["endTime"]
    assert latest["stderr"]["text"] == "last words\n"


async def test_a_task_that_fails_again_after_a_poll_saw_it_run_has_its_new_output_kept(world: World) -> None:
    await _stage(world, "seen", {"broken": "sh -c 'sleep 120; echo last words >&2; exit 3'"})
    first = await _output(world, "seen", "broken")
    await world.batch.reactivate_task("seen", "broken")
    world.advance(70)
    await world.app.fire("tick")
    assert (await world.get("accounts/demo/jobs/seen")).body["taskCounts"]["failed"] == 0
    world.advance(300)
    await world.app.fire("tick")
    assert (await _output(world, "seen", "broken"))["endTime"] > first["endTime"]


async def test_the_output_of_a_rerun_is_kept_though_enough_of_its_failure_are(world: World) -> None:
    await _stage(world, "enough", {f"t{at}": COMMAND for at in range(EACH + 2)})
    first = await _output(world, "enough", "t0")
    assert first["stderr"]["text"]
    await world.batch.reactivate_task("enough", "t0")
    world.advance(300)
    await world.app.fire("tick")
    assert (await _output(world, "enough", "t0"))["endTime"] > first["endTime"]


async def test_where_no_turn_will_come_the_reason_is_another(world: World) -> None:
    await add_pool(world.batch, "unread", nodes=1)
    await add_job(world.batch, "unread", pool="unread")
    await world.batch.create_task("unread", BatchTaskCreateOptions(id="broken", command_line=COMMAND))
    world.advance(900)
    await world.poll()  # which keeps nothing

    async def reason() -> str:
        return str((await _output(world, "unread", "broken"))["stderr"]["reason"])

    assert await reason() == "NotYet"
    await world.put("accounts/demo/monitoring", b'{"enabled": false}')
    assert await reason() == "MonitoringOff"
    await world.put("accounts/demo/monitoring", b'{"enabled": true}')
    world.emulator.faults.add(Fault(path="/jobs", status=500))
    world.advance(61)
    await world.app.fire("tick")
    assert await reason() == "PollFailed"
    world.advance(86_400)
    assert await reason() == "Gone"


async def test_an_unchanged_account_asks_for_no_file_again(world: World) -> None:
    await _stage(world, "still", {"broken": COMMAND})
    requests = _file_requests(world)
    assert requests
    for _ in range(3):
        world.advance(61)
        await world.app.fire("tick")
    assert _file_requests(world) == requests
