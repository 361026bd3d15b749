"""Outputs whose reads fail, or wait, and those of tasks that fail again."""

import pytest
from azure.batch.models import BatchTaskCreateOptions

from local.batch_emulator.core.injection import Fault
from shared.domain.outputs.output_limits import MAX_TRIES
from tests.emulator.support.staging import add_job, add_pool
from tests.functions.conftest import World
from tests.functions.support.kept_outputs import COMMAND, file_requests, output, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")
EACH = 5


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
    before = file_requests(world)
    for _ in range(2):
        await world.app.fire("tick")
        world.advance(61)
    assert file_requests(world) == before
    world.emulator.faults.clear()
    world.advance(600)
    await world.app.fire("tick")
    await world.app.fire("tick")
    assert file_requests(world) > before


async def test_a_failure_of_batch_is_tried_again_and_never_fails_the_tick(world: World) -> None:
    world.emulator.faults.add(Fault(path="/jobs/again/tasks/broken/files/*", status=500))
    await stage(world, "again", {"broken": COMMAND})
    assert (await output(world, "again", "broken"))["stderr"]["reason"] == "NotYet"
    world.emulator.faults.clear()
    world.advance(61)
    await world.app.fire("tick")
    assert (await output(world, "again", "broken"))["stderr"]["text"] == "last words\n"


async def test_one_read_that_keeps_failing_holds_up_no_other(world: World) -> None:
    world.emulator.faults.add(Fault(path="/jobs/one-fails/tasks/t00/files/*", status=500))
    await add_pool(world.batch, "one-fails", nodes=2)
    await add_job(world.batch, "one-fails", pool="one-fails")
    names = [f"t{at:02}" for at in range(12)]
    for at, name in enumerate(names, 1):
        command = f"sh -c 'echo last words >&2; exit {at}'"
        await world.batch.create_task("one-fails", BatchTaskCreateOptions(id=name, command_line=command))
    world.advance(900)
    await world.app.fire("tick")
    found = {name: (await output(world, "one-fails", name))["stderr"] for name in names}
    assert [name for name, stream in found.items() if stream["text"] != "last words\n"] == ["t00"]
    for _ in range(MAX_TRIES):
        world.advance(2400)
        await world.app.fire("tick")
    said = (await output(world, "one-fails", "t00"))["stderr"]
    assert (said["reason"], said["message"][:24]) == ("ReadFailed", "Each of 6 reads failed: ")
    requests = file_requests(world)
    world.advance(2400)
    await world.app.fire("tick")
    assert file_requests(world) == requests


async def test_where_no_turn_will_come_the_reason_is_another(world: World) -> None:
    await add_pool(world.batch, "unread", nodes=1)
    await add_job(world.batch, "unread", pool="unread")
    await world.batch.create_task("unread", BatchTaskCreateOptions(id="broken", command_line=COMMAND))
    world.advance(900)
    await world.poll()  # which keeps nothing

    async def reason() -> str:
        return str((await output(world, "unread", "broken"))["stderr"]["reason"])

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


async def test_a_task_that_runs_again_and_fails_again_has_its_new_output_kept(world: World) -> None:
    """It fails before a poll has seen it run, so the number of failed tasks is the same at each poll."""
    await stage(world, "rerun", {"broken": COMMAND})
    first = await output(world, "rerun", "broken")
    await world.batch.reactivate_task("rerun", "broken")
    world.advance(300)
    await world.app.fire("tick")
    latest = await output(world, "rerun", "broken")
    assert latest["endTime"] > first["endTime"]
    assert latest["stderr"]["text"] == "last words\n"


async def test_a_task_that_fails_again_after_a_poll_saw_it_run_has_its_new_output_kept(world: World) -> None:
    await stage(world, "seen", {"broken": "sh -c 'sleep 120; echo last words >&2; exit 3'"})
    first = await output(world, "seen", "broken")
    await world.batch.reactivate_task("seen", "broken")
    world.advance(70)
    await world.app.fire("tick")
    assert (await world.get("accounts/demo/jobs/seen")).body["taskCounts"]["failed"] == 0
    world.advance(300)
    await world.app.fire("tick")
    assert (await output(world, "seen", "broken"))["endTime"] > first["endTime"]


async def test_the_output_of_a_rerun_is_kept_though_enough_of_its_failure_are(world: World) -> None:
    await stage(world, "enough", {f"t{at}": COMMAND for at in range(EACH + 2)})
    first = await output(world, "enough", "t0")
    assert first["stderr"]["text"]
    await world.batch.reactivate_task("enough", "t0")
    world.advance(300)
    await world.app.fire("tick")
    assert (await output(world, "enough", "t0"))["endTime"] > first["endTime"]


async def test_outputs_are_kept_within_an_hour_after_the_right_to_read_them_was_granted(world: World) -> None:
    world.emulator.faults.add(Fault(path="/jobs/refused/tasks/broken/files/*", status=403))
    await stage(world, "refused", {"broken": COMMAND})
    requests = file_requests(world)
    world.emulator.faults.clear()
    await world.app.fire("tick")
    assert file_requests(world) == requests
    world.advance(3600)
    await world.app.fire("tick")
    assert (await output(world, "refused", "broken"))["stderr"]["text"] == "last words\n"
