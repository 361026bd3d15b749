"""Tasks that give way to those of a higher priority: the explanation names the job that took their slots."""

import os
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.azurite import StorageAddresses
from local.batch_emulator.exports.log_writer import LogWriter
from shared.errors import StorageError
from shared.stores.events import EventStore
from tests.emulator.support.staging import add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.explanation.waiting_jobs import add_job, emptied, explained

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    return await emptied(_running)


@pytest_asyncio.fixture(loop_scope="session")
async def writer(world: World, azurite: StorageAddresses) -> AsyncIterator[LogWriter]:
    """Yields a writer that writes the emulator's log on request."""
    async with LogWriter(world.emulator, azurite.connection_string, os.environ["RESOURCE_LOG_CONTAINER"]) as opened:
        yield opened


async def preempted(world: World, *, allows: bool = True) -> None:
    """Stages a job of two running tasks, and then one of a higher priority that wants one of their slots."""
    await add_pool(world.batch, nodes=1)
    await add_job(world, allow_task_preemption=allows)
    await add_tasks(world.batch, 2, command="sleep 3000")
    world.advance(200)
    await add_job(world, "urgent", priority=100)
    await add_tasks(world.batch, 1, job="urgent", command="sleep 3000")
    world.advance(30)


async def test_the_job_that_took_the_slot_of_a_running_task_is_named(world: World, writer: LogWriter) -> None:
    await preempted(world)
    await writer.flush()
    answer = await explained(world)
    assert [finding["code"] for finding in answer["findings"]] == ["slotsBusy", "tasksPreempted"]
    hint = answer["findings"][-1]
    assert hint["evidence"]["preemptingJobs"] == ["urgent: 1"]
    assert (hint["evidence"]["requeuedTasks"], hint["evidence"]["requeuesWithoutJob"]) == (1, 0)
    assert (hint["severity"], answer["running"], answer["unknown"]) == ("info", True, [])


async def test_the_job_in_line_reads_which_running_tasks_give_way(world: World) -> None:
    await preempted(world, allows=False)
    await world.batch.update_job("job", models.BatchJobUpdateOptions(allow_task_preemption=True))
    first = (await explained(world, job="urgent"))["findings"][0]
    assert first["code"] == "slotsBusy"
    assert "Batch may requeue running tasks of 'job' for it, as that job allows preemption." in first["detail"]


async def test_a_requeue_that_a_user_asked_for_is_no_preemption(world: World, writer: LogWriter) -> None:
    await add_pool(world.batch, nodes=1)
    await add_job(world, allow_task_preemption=True)
    await add_tasks(world.batch, 2, command="sleep 3000")
    world.advance(200)
    await add_job(world, "urgent", priority=100)
    await world.batch.begin_disable_job("job", models.BatchJobDisableOptions(disable_tasks="requeue"))
    await add_tasks(world.batch, 2, job="urgent", command="sleep 3000")
    world.advance(30)
    await world.batch.begin_enable_job("job")
    world.advance(30)
    await writer.flush()
    assert [finding["code"] for finding in (await explained(world))["findings"]] == ["slotsBusy"]


async def test_requeues_that_cannot_be_read_are_named_as_unknown(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await preempted(world)
    await explained(world)

    def fails(*_: Any) -> Any:
        raise StorageError("Storage failed.")

    monkeypatch.setattr(EventStore, "stretches", fails)
    answer = await explained(world, poll=False)
    assert "For which jobs its running tasks were requeued isn't known: Storage failed." in answer["unknown"]
