"""Ends of failed tasks' outputs: kept by ticks, and read when the node is gone."""

import base64
import os
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from azure.batch.models import BatchTaskCreateOptions
from azure.data.tables.aio import TableClient

from bench.redaction import samples
from local.batch_emulator.entities import Task
from shared.domain.outputs.kept_outputs import TAIL
from shared.domain.packing.compression import inflated
from tests.emulator.support.staging import add_job, add_pool
from tests.functions.conftest import World
from tests.functions.support.kept_outputs import COMMAND, SECRET, file_requests, output, remove_nodes, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")
EACH = 5
RATE = 60  # tasks a minute
MANY, GROUPS = 2000, 10


async def _rows() -> list[dict[str, Any]]:
    storage, name = os.environ["TELEMETRY_STORAGE"], f"{os.environ['TABLE_PREFIX']}outputs"
    async with TableClient.from_connection_string(storage, name) as table:
        return [dict(row) async for row in table.list_entities()]


async def test_the_output_of_a_task_is_read_a_day_after_its_node_was_removed(world: World) -> None:
    await stage(world, "kept", {"broken": COMMAND, "fine": "sh -c 'echo well'"})
    world.advance(60)
    await remove_nodes(world, "kept")
    world.advance(86_400)
    await world.app.fire("tick")
    found = await output(world, "kept", "broken")
    assert found["stderr"] == {"text": "last words\n", "size": 11, "offset": 0, "reason": None, "message": None}
    assert found["stdout"]["text"] == f"password={'*' * len(SECRET)}\n"
    assert (found["exitCode"], found["attempt"], found["poolId"]) == (3, 1, "kept")
    kept, expires = (datetime.fromisoformat(found[name]) for name in ("keptTime", "expiryTime"))
    assert timedelta(days=30) <= expires - kept < timedelta(days=31)
    file = await world.get("accounts/demo/jobs/kept/tasks/broken/files/stderr.txt?tail=6")
    assert (file.status, file.body, file.headers["batchscope-offset"]) == (200, "words\n", "5")
    assert datetime.fromisoformat(file.headers["batchscope-kept-at"]) == kept
    fine = await output(world, "kept", "fine")
    assert fine["stderr"]["reason"] == fine["stdout"]["reason"] == "NotFailed"
    assert fine["keptTime"] is None


async def test_a_file_that_is_there_comes_from_the_node(world: World) -> None:
    await stage(world, "live", {"broken": COMMAND})
    file = await world.get("accounts/demo/jobs/live/tasks/broken/files/stderr.txt")
    assert (file.body, "batchscope-kept-at" in file.headers) == ("last words\n", False)


async def test_a_node_that_was_gone_first_is_the_reason(world: World) -> None:
    await add_pool(world.batch, "gone", nodes=1)
    await add_job(world.batch, "gone", pool="gone")
    await world.batch.create_task("gone", BatchTaskCreateOptions(id="broken", command_line=COMMAND))
    world.advance(900)
    await world.poll()
    await remove_nodes(world, "gone")
    await world.app.fire("tick")
    found = await output(world, "gone", "broken")
    assert found["stderr"]["text"] is None
    assert found["stderr"]["message"].startswith("There was nothing to keep ")
    assert "the node is gone" in found["stderr"]["message"]
    missing = await world.get("accounts/demo/jobs/gone/tasks/broken/files/stderr.txt")
    assert (missing.status, missing.body["error"]["code"]) == (404, "FileNotFound")


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
        requests.append(file_requests(world))
        world.advance(61)
    assert max(later - first for first, later in pairwise(requests)) <= 4 * RATE
    groups = (await world.get("accounts/demo/jobs/many/failures")).body["groups"]
    assert [group["count"] for group in groups] == [MANY // GROUPS] * GROUPS
    kept = [row for row in await _rows() if row["PartitionKey"].endswith("~many") and "keptAt" in row]
    assert set(Counter(row["group"] for row in kept).values()) <= set(range(EACH, 3 * EACH + 1))
    assert len({row["group"] for row in kept}) == GROUPS
    assert len({row["node"] for row in kept}) == 2
    other = next(task.id for task in tasks if task.id not in {row["id"] for row in kept})
    assert (await output(world, "many", other))["stderr"]["reason"] == "EnoughKept"


async def test_secrets_at_the_border_of_what_is_kept_are_neither_stored_nor_served(world: World) -> None:
    chosen = [sample for sample in samples()[::40] if "\n" not in sample.text and sample.secrets][:8]
    contents = {}
    for at, sample in enumerate(chosen):
        line = f"\n{sample.text}\n".encode()
        begin = line.index(sample.secrets[0].encode()) + len(sample.secrets[0]) // 2
        contents[f"t{at}"] = b"first\n" * 9 + line + b"\n" * (TAIL - (len(line) - begin))
    texts = {name: base64.b64encode(content).decode() for name, content in contents.items()}
    commands = {name: f"sh -c 'emulate base64 {text}; exit {at}'" for at, (name, text) in enumerate(texts.items(), 1)}
    await stage(world, "border", commands, nodes=2)
    packed = [row[name] for row in await _rows() for name in ("stderr0", "stdout0") if name in row]
    stored = b"".join(map(inflated, packed)).decode(errors="replace")
    for at, sample in enumerate(chosen):
        found = await output(world, "border", f"t{at}")
        assert found["stdout"]["offset"] == len(contents[f"t{at}"]) - TAIL
        assert len(found["stdout"]["text"].encode()) == TAIL
        tail = sample.secrets[0][len(sample.secrets[0]) // 2 :]
        assert tail not in found["stdout"]["text"], sample.kind
        assert tail not in stored, sample.kind


async def test_failures_are_grouped_by_what_kept_outputs_say(world: World) -> None:
    words = {"a": "No module named x", "b": "No module named x", "c": "out of disk"}
    texts = {name: f"sh -c 'echo ModuleNotFoundError: {text} >&2; exit 1'" for name, text in words.items()}
    await stage(world, "grouped", texts, nodes=2)
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
    assert outputs[0]["failureCategory"] == "configuration"


async def test_an_operator_deletes_what_was_kept_of_a_job(world: World) -> None:
    await stage(world, "deleted", {"broken": COMMAND})
    assert (await output(world, "deleted", "broken"))["stderr"]["text"]
    assert (await world.delete("accounts/demo/jobs/deleted/outputs")).status == 204
    assert (await output(world, "deleted", "broken"))["stderr"]["reason"] == "Gone"
    await world.batch.create_task("deleted", BatchTaskCreateOptions(id="later", command_line=COMMAND))
    world.advance(120)
    await world.app.fire("tick")
    assert (await output(world, "deleted", "later"))["stderr"]["text"] == "last words\n"
    assert (await output(world, "deleted", "broken"))["stderr"]["reason"] == "Gone"
    assert (await world.delete("accounts/demo/jobs/none/outputs")).status == 404


async def test_an_output_of_a_run_before_the_latest_says_so(world: World) -> None:
    await stage(world, "rerun", {"broken": COMMAND})
    assert (await output(world, "rerun", "broken"))["latestRun"] is True
    await remove_nodes(world, "rerun")
    await world.batch.reactivate_task("rerun", "broken")
    await world.poll()
    found = await output(world, "rerun", "broken")
    assert (found["stderr"]["text"], found["latestRun"]) == ("last words\n", False)


async def test_outputs_of_an_earlier_job_of_the_same_id_are_not_those_of_a_later_one(world: World) -> None:
    await stage(world, "nightly", {"a": COMMAND, "b": COMMAND})
    assert (await output(world, "nightly", "b"))["stderr"]["text"]
    await world.batch.begin_delete_job("nightly")
    world.advance(120)
    await add_job(world.batch, "nightly", pool="nightly")
    for name, command in {"a": "sh -c 'echo well'", "b": COMMAND}.items():
        await world.batch.create_task("nightly", BatchTaskCreateOptions(id=name, command_line=command))
    world.advance(120)
    await world.poll()  # which keeps nothing
    for name, reason in {"a": "NotFailed", "b": "NotYet"}.items():
        found = await output(world, "nightly", name)
        assert (found["keptTime"], found["stderr"]["reason"], found["latestRun"]) == (None, reason, None)
    (group,) = (await world.get("accounts/demo/jobs/nightly/failures")).body["groups"]
    assert (group["count"], group["kept"], group["outputs"]) == (1, 0, [])


async def test_outputs_past_their_time_are_deleted(world: World) -> None:
    await stage(world, "past", {"broken": COMMAND})
    world.advance(86_400 * 29)
    await world.app.fire("housekeeping")
    assert (await output(world, "past", "broken"))["stderr"]["text"]
    world.advance(86_400 * 2)
    await world.app.fire("housekeeping")
    assert (await output(world, "past", "broken"))["stderr"]["reason"] == "Gone"


async def test_an_unchanged_account_asks_for_no_file_again(world: World) -> None:
    await stage(world, "still", {"broken": COMMAND})
    requests = file_requests(world)
    assert requests
    for _ in range(3):
        world.advance(61)
        await world.app.fire("tick")
    assert file_requests(world) == requests
