"""The dependencies of waiting tasks that ticks read for the queue of a pool."""

from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from shared.domain.dependencies.dependencies import WaitingTask
from shared.domain.dependencies.stored_dependencies import StoredDependencies
from shared.errors import StorageError
from shared.stores.batch.batch_evidence import BatchEvidence
from shared.stores.jobs.dependencies import DependencyStore
from tests.emulator.support.staging import add_pool
from tests.functions.conftest import World
from tests.functions.explanation.waiting_jobs import add_job, emptied

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    return await emptied(_running)


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns the jobs whose dependencies are stored, in order."""
    jobs, save = list[str](), DependencyStore.save

    async def recorded(self: DependencyStore, partition: str, found: StoredDependencies) -> None:
        jobs.append(partition.split("~")[1])
        await save(self, partition, found)

    monkeypatch.setattr(DependencyStore, "save", recorded)
    return jobs


@pytest.fixture
def requested(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns the jobs whose dependencies were requested from Batch, in order."""
    jobs, fetch = list[str](), BatchEvidence.fetch_waiting

    async def recorded(self: BatchEvidence, job_id: str) -> tuple[list[WaitingTask], bool]:
        jobs.append(job_id)
        return await fetch(self, job_id)

    monkeypatch.setattr(BatchEvidence, "fetch_waiting", recorded)
    return jobs


async def add_held(world: World, job: str = "job", *, root: str = "sleep 3000", held: int = 3) -> None:
    """Adds a job of a task and others that depend on it."""
    await add_job(world, job, uses_task_dependencies=True)
    depends = models.BatchTaskDependencies(task_ids=["root"])
    tasks = [models.BatchTaskCreateOptions(id="root", command_line=root)]
    tasks += [
        models.BatchTaskCreateOptions(id=f"held-{number}", command_line="sleep 3000", depends_on=depends)
        for number in range(held)
    ]
    await world.batch.create_task_collection(job, models.BatchTaskGroup(task_values=tasks))


async def queue(world: World) -> list[dict[str, Any]]:
    found = await world.get("accounts/demo/pools/pool/queue")
    assert found.status == 200, found.body
    jobs: list[dict[str, Any]] = found.body["value"]
    return jobs


async def test_tasks_that_wait_for_a_running_one_are_held(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    world.advance(200)
    await add_held(world)
    world.advance(20)
    await world.app.fire("tick")
    (job,) = await queue(world)
    assert (job["rank"], job["readyTasks"], job["heldTasks"], job["runningTasks"]) == (None, 0, 3, 1)
    assert (job["cause"], job["title"]) == (
        "dependenciesUnsatisfied",
        "Its waiting tasks depend on others that are not done",
    )
    found = (await world.get("accounts/demo/jobs/job/explanation")).body["findings"][0]
    assert (found["code"], found["title"]) == (job["cause"], job["title"])


async def test_jobs_are_read_again_only_after_their_tasks_moved(world: World, stored: list[str]) -> None:
    await add_pool(world.batch, nodes=1)
    world.advance(200)
    await add_held(world, root="sleep 100")
    world.advance(20)
    for _ in range(3):
        await world.app.fire("tick")
        world.advance(5)
    assert stored == ["job"]
    world.advance(100)
    await world.app.fire("tick")
    assert stored == ["job", "job"]
    (job,) = await queue(world)
    assert (job["readyTasks"], job["heldTasks"], job["runningTasks"]) == (1, 0, 2)


async def test_three_jobs_are_read_after_a_tick_and_others_after_the_next(world: World, stored: list[str]) -> None:
    await add_pool(world.batch, nodes=0)
    await world.app.fire("tick")  # for some minutes no job is explained, which would read more
    world.advance(5)
    names = [f"job-{number}" for number in range(5)]
    for name in names:
        await add_held(world, name)
    await world.app.fire("tick")
    assert len(stored) == 3
    assert sorted(job["readyTasks"] is None for job in await queue(world)) == [False] * 3 + [True] * 2
    world.advance(5)
    await world.app.fire("tick")
    assert sorted(stored) == names
    assert [(job["readyTasks"], job["heldTasks"]) for job in await queue(world)] == [(1, 3)] * 5


async def test_a_tick_reads_dependencies_once_for_the_queue_and_for_the_causes_of_all_jobs(
    world: World, stored: list[str], requested: list[str]
) -> None:
    await add_pool(world.batch, nodes=0)
    names = [f"job-{number}" for number in range(5)]
    for name in names:
        await add_held(world, name)
    world.advance(20)
    await world.app.fire("tick")
    assert sorted(requested) == sorted(stored) == names
    jobs = await world.jobs()
    assert {jobs[name]["waiting"]["asOf"] is not None for name in names} == {True}
    assert [(job["readyTasks"], job["heldTasks"]) for job in await queue(world)] == [(1, 3)] * 5
    for _ in range(2):
        world.advance(5)
        await world.app.fire("tick")
    assert sorted(requested) == names


async def test_an_explanation_on_request_reads_dependencies_anew(world: World, requested: list[str]) -> None:
    await add_pool(world.batch, nodes=0)
    await add_held(world)
    world.advance(20)
    await world.app.fire("tick")
    await world.get("accounts/demo/jobs/job/explanation")
    assert requested == ["job", "job"]


async def test_jobs_without_dependencies_or_waiting_tasks_are_left_out(world: World, stored: list[str]) -> None:
    await add_pool(world.batch, nodes=2)
    await add_held(world, held=0)
    await add_job(world, "plain")
    tasks = [models.BatchTaskCreateOptions(id=f"t{number}", command_line="sleep 3000") for number in range(9)]
    await world.batch.create_task_collection("plain", models.BatchTaskGroup(task_values=tasks))
    world.advance(200)
    await world.app.fire("tick")
    assert stored == []


async def test_storage_that_refuses_dependencies_leaves_them_unknown_and_the_tick_whole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_pool(world.batch, nodes=0)
    await add_held(world)

    async def fails(*_: object) -> None:
        raise StorageError("Storage failed.")

    with monkeypatch.context() as patch:
        patch.setattr(DependencyStore, "save", fails)
        await world.app.fire("tick")
    (job,) = await queue(world)
    assert (job["readyTasks"], job["heldTasks"]) == (None, None)
    world.advance(5)
    await world.app.fire("tick")
    (job,) = await queue(world)
    assert (job["readyTasks"], job["heldTasks"]) == (1, 3)
