"""Jobs that take longer than a round may: the tick leaves them to a queue, whose function continues them."""

import json
import os

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.queue.aio import QueueClient

from local.azurite import StorageAddresses
from local.batch_emulator.entities import Task
from local.functions_host.queues.queues import decode
from tests.emulator.support.staging import add_job
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
MANY = 21_000


def _fill(world: World, number: int) -> None:
    """Adds tasks directly instead of by HTTP, which would take seconds."""
    simulation = world.emulator.simulations["demo"]
    job, now = simulation.account.jobs["job"], world.emulator.clock.now
    names = [f"task-{place:06}" for place in range(number)]
    spec = {"commandLine": "sleep 5"}
    simulation.tasks.add(job, [Task(name, name, place, spec, 1, 0, now, now) for place, name in enumerate(names)])


async def _messages(connection: str) -> list[str]:
    """Receives and deletes all messages of the queue."""
    name = f"{os.environ['TABLE_PREFIX']}-batchscope-jobs"
    async with QueueClient.from_connection_string(connection, name) as queue:
        try:
            found = [message async for message in queue.receive_messages()]
            for message in found:
                await queue.delete_message(message)
        except ResourceNotFoundError:
            return []
    return [message.content for message in found]


async def test_a_job_too_long_for_a_tick_is_read_by_the_queue_function(world: World, azurite: StorageAddresses) -> None:
    await add_job(world.batch)
    _fill(world, MANY)
    await world.app.fire("tick")
    before = (await world.jobs())["job"]
    assert (before["taskCounts"], before["verdict"]["level"]) == (None, "catchingUp")
    messages = await _messages(azurite.connection_string)
    assert len(messages) == 1
    world.advance(61)
    await world.app.fire("tick")
    assert await _messages(azurite.connection_string) == [], "a second message while the first is on its way"
    for text in messages:
        await world.app.deliver("job_queued", _plain(text))
    after = (await world.jobs())["job"]
    assert (after["taskCounts"]["total"], after["verdict"]["level"]) == (MANY, "exact")
    assert after["progress"] is None


async def test_a_message_that_fails_each_time_shows_in_its_jobs_verdict_and_health(
    world: World, azurite: StorageAddresses
) -> None:
    await add_job(world.batch)
    _fill(world, MANY)
    await world.app.fire("tick")
    (text,) = await _messages(azurite.connection_string)
    await world.app.deliver("job_given_up", _plain(text))
    verdict = (await world.jobs())["job"]["verdict"]
    assert verdict["level"] == "stale"
    assert "failed several times in a row" in verdict["reason"]
    health = (await world.get("health")).body
    assert health["status"] == "degraded"
    assert "1 jobs couldn't be polled" in health["problems"][0]


async def test_a_message_of_an_account_that_is_not_watched_is_dropped(world: World) -> None:
    await world.app.deliver("job_queued", json.dumps({"account": "gone", "job": "job"}))
    await world.app.deliver("job_given_up", json.dumps({"account": "gone", "job": "job"}))


@pytest.mark.parametrize(
    "text", ["not JSON", "[1]", "{}", '{"account": 5, "job": "job"}', '{"account": "demo", "job": []}', ""]
)
async def test_malformed_poison_messages_are_accepted(world: World, text: str) -> None:
    await world.app.fire("tick")  # reads blobs, too, as health requires
    await world.poll()
    await world.app.deliver("job_given_up", text)
    assert (await world.get("health")).body["status"] == "healthy"


async def test_a_poison_message_that_only_names_its_job_degrades_health(world: World) -> None:
    await add_job(world.batch)
    await world.poll()
    text = json.dumps({"account": "demo", "job": "job", "until": "some day"})
    with pytest.raises(Exception, match="until"):
        await world.app.deliver("job_queued", text)
    await world.app.deliver("job_given_up", text)
    health = (await world.get("health")).body
    assert "1 jobs couldn't be polled" in health["problems"][0]


async def test_a_message_of_a_job_that_is_not_known_changes_nothing(world: World, azurite: StorageAddresses) -> None:
    await world.app.fire("tick")  # reads blobs, too, as health requires
    await world.poll()
    await world.app.deliver("job_queued", json.dumps({"account": "demo", "job": "never-was"}))
    assert await _messages(azurite.connection_string) == []
    assert (await world.get("health")).body["status"] == "healthy"


def _plain(text: str) -> str:
    """Returns a message as the function receives it."""
    return decode(text, base64_encoded=True) or text
