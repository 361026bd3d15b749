"""Housekeeping deletes expired rows and keeps needed ones; after a death the next run finishes the work."""

import asyncio
from datetime import datetime, timedelta

import pytest

from shared.domain.jobs.jobs import Job
from shared.domain.leaves.task_lists import TaskList
from shared.errors import CacheConflictError, NotFoundError
from shared.services.prices.price_reader import PriceReader
from shared.stores.jobs import deleted_job_counters
from tests.services.fakes.memory_tables import Fault, ProcessDiedError
from tests.services.fakes.truth import TrueJob
from tests.services.worlds.spoiling import spoil
from tests.services.worlds.telling import polled_for_a_while, verdict
from tests.services.worlds.world import SECOND, World

HOUR = 3600
NAMES = [f"task-{number:03}" for number in range(40)]


def clean_up(world: World) -> None:
    world.run(world.processes[0].housekeeping.run())


def job_of(world: World) -> Job:
    """Returns the stored job."""
    job = world.run(world.started().jobs.load("demo", "Render"))
    assert job is not None
    return job


def generations(world: World) -> set[str]:
    """Returns the generations that have rows."""
    return {partition.rpartition("~")[2] for partition, _ in world.storage.rows["tasks"]}


def read_anew(world: World) -> None:
    """Creates a job whose deleted task led to a second generation."""
    job = world.create("Render", *"abcdefgh")
    polled_for_a_while(world)
    job.delete_task("a", world.now())
    for _ in range(2):
        world.wait(61)
        world.poll()


def test_a_retired_generation_is_collected_when_nobody_can_be_reading_it_any_more(world: World) -> None:
    read_anew(world)
    served = job_of(world).snapshot
    assert served
    clean_up(world)
    assert len(generations(world)) == 2
    world.wait(HOUR)
    clean_up(world)
    assert generations(world) == {served.generation}
    assert job_of(world).retired == ()
    world.poll()
    assert verdict(world, "Render").level == "exact"
    assert sorted(world.cached("Render")) == list("bcdefgh")


def test_a_generation_that_was_never_finished_is_collected_too(world: World) -> None:
    read_anew(world)
    world.wait(61)
    job = job_of(world)
    process = world.processes[0]
    world.run(process.jobs.save("demo", job.begun("dead", world.now())))
    world.wait(HOUR + 1)
    clean_up(world)
    assert job_of(world).building is None
    world.poll()
    assert verdict(world, "Render").level == "exact"


@pytest.mark.parametrize("committed", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", range(1, 7))
def test_a_death_at_any_call_leaves_nothing_that_the_next_run_does_not_collect(
    world: World, call: int, *, committed: bool
) -> None:
    read_anew(world)
    world.wait(HOUR)
    process = world.processes[0]
    process.connection.arm(Fault(call, committed=committed, kills=True))
    try:
        clean_up(world)
    except ProcessDiedError:
        world.processes[0] = world.started()
    process.connection.arm(None)
    clean_up(world)
    served = job_of(world).snapshot
    assert served
    assert generations(world) == {served.generation}
    assert job_of(world).retired == ()


def test_a_deleted_job_is_forgotten_with_its_tasks_when_its_time_is_over(world: World) -> None:
    world.create("Other", "a")
    read_anew(world)
    world.truth.jobs["Render"][-1].deleted = world.now() + SECOND
    world.wait(61)
    world.poll()
    world.wait(29 * 24 * HOUR)
    clean_up(world)
    assert verdict(world, "Render").level == "unverified"
    world.wait(2 * 24 * HOUR)
    clean_up(world)
    with pytest.raises(NotFoundError):
        world.run(world.started().queries.job("demo", "Render"))
    assert {partition.split("~")[1] for partition, _ in world.storage.rows["tasks"]} == {"other"}


def test_a_deleted_job_that_is_created_anew_while_it_is_forgotten_keeps_its_new_tasks(world: World) -> None:
    job = world.create("Render", "a")
    world.wait(60)
    world.poll()
    job.deleted = world.now()
    world.wait(60)
    world.poll(full=True)
    world.wait(31 * 86_400)
    world.processes[0].connection.latency = 5
    keeper = world.loop.create_task(world.processes[0].housekeeping.run())
    world.wait(12)  # the jobs are loaded by then
    world.create("Render", "b", "c")
    world.wait(1)
    world.poll(1, full=True)
    world.run(asyncio.wait_for(keeper, 3600))
    assert world.cached("Render").keys() == {"b", "c"}


def test_a_job_whose_name_begins_like_that_of_a_forgotten_one_stays(world: World) -> None:
    first, _ = world.create("Render", "a"), world.create("Render-2", "a")
    polled_for_a_while(world)
    first.deleted = world.now() + SECOND
    world.wait(61)
    world.poll()
    world.wait(31 * 24 * HOUR)
    clean_up(world)
    assert list(world.cached("Render-2")) == ["a"]


def test_a_conflict_over_an_account_keeps_prices_from_being_read_no_more_than_other_failures(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[datetime]()

    async def refresh(_: PriceReader, now: datetime) -> None:
        read.append(now)

    monkeypatch.setattr(PriceReader, "refresh", refresh)
    monkeypatch.setattr(deleted_job_counters, "_TRIES", 0)  # others are always faster
    with pytest.raises(CacheConflictError):
        clean_up(world)
    assert len(read) == 1


def test_finished_polls_on_demand_are_kept_for_a_week(world: World) -> None:
    polling = world.processes[0].polling
    operation = world.run(polling.request("demo", None))
    world.wait(6 * 24 * HOUR)
    clean_up(world)
    assert world.run(polling.operation("demo", operation.id)).id == operation.id
    world.wait(2 * 24 * HOUR)
    clean_up(world)
    with pytest.raises(NotFoundError):
        world.run(polling.operation("demo", operation.id))


def test_tasks_are_listed_to_the_end_though_their_generation_is_collected_meanwhile(world: World) -> None:
    read_anew(world)
    process = world.processes[0]

    async def listed() -> list[str]:
        names: list[str] = []
        async for batch in process.task_queries.tasks("demo", "Render", TaskList(limit=100)):
            is_first = not names
            names += [task.id for task in batch]
            if is_first:
                job = await process.jobs.load("demo", "Render")
                assert job
                assert job.snapshot
                fresh = await process.task_poll.generations.read_anew(job, world.now())
                assert fresh.snapshot
                await process.cache.delete_generation(f"demo~render~{job.snapshot.generation}")
        return names

    assert world.run(listed()) == list("bcdefgh")


def test_a_poll_that_remembers_collected_rows_does_not_need_them(world: World) -> None:
    read_anew(world)
    world.wait(HOUR)
    world.run(world.processes[1].housekeeping.run())
    world.wait(timedelta(seconds=61).total_seconds())
    world.poll(0)
    assert verdict(world, "Render").level == "exact"


def long_job(world: World) -> TrueJob:
    """Leaves a job to the queue: pages have three tasks, and a round may read ten."""
    world.service.page_size, world.service.short_read = 3, 10
    world.processes = [world.started(), world.started()]
    job = world.create("Render", *NAMES)
    world.wait(61)
    world.poll()
    return job


def test_the_generation_served_before_a_read_of_hours_is_not_collected_as_soon_as_that_ends(world: World) -> None:
    job = long_job(world)
    world.deliver_all()
    polled_for_a_while(world)
    job.delete_task(NAMES[0], world.now())
    while not world.messages:
        world.wait(61)
        world.poll()
    for _ in range(3):
        world.deliver(who=1, budget=1, takes=1)
        world.wait(1500)
        world.poll()
    before = job_of(world).snapshot
    world.deliver_all()
    after = job_of(world).snapshot
    assert before
    assert after
    clean_up(world)
    assert generations(world) == {before.generation, after.generation}
    world.wait(HOUR)
    clean_up(world)
    assert generations(world) == {after.generation}


@pytest.mark.parametrize("delay", [0, 25, 50, 60])
def test_a_read_that_stood_still_and_ends_while_it_is_collected_is_served_whole(world: World, delay: float) -> None:
    long_job(world)
    for _ in range(2):
        world.deliver(budget=5, takes=1)
    assert world.messages
    world.messages.clear()
    world.wait(HOUR + 60)
    keeper, worker = world.processes[0], world.started()
    keeper.connection.latency = 10  # lists jobs from 10 s on, checks for the plan at 30, deletes at 70, notes it at 90

    async def both() -> None:
        clean = asyncio.create_task(keeper.housekeeping.run())
        await asyncio.sleep(delay)
        worker.batch.latency = 2
        await worker.queued.run("Render", budget=timedelta(days=1))
        await clean

    world.run(both())
    keeper.connection.latency = 0
    served = job_of(world).snapshot
    assert served is None or sorted(world.cached("Render")) == NAMES
    world.wait(11 * 60)
    world.poll()
    world.deliver_all()
    assert sorted(world.cached("Render")) == NAMES


def test_a_job_that_nobody_could_read_for_as_long_as_deleted_ones_are_kept_is_forgotten(world: World) -> None:
    world.create("Other", "a")
    gone = world.create("Render", "a")
    polled_for_a_while(world)
    spoil(world, "jobs", "demo", "render", source="unheard-of")
    gone.deleted = world.now() + SECOND
    world.wait(29 * 24 * HOUR)
    world.poll(full=True)
    clean_up(world)
    assert set(world.storage.rows["jobs"]) == {("demo", "other"), ("demo", "render")}
    world.wait(2 * 24 * HOUR)
    clean_up(world)
    assert set(world.storage.rows["jobs"]) == {("demo", "other")}
    assert {partition.split("~")[1] for partition, _ in world.storage.rows["tasks"]} == {"other"}


def test_a_job_that_is_read_anew_meanwhile_is_not_forgotten(world: World) -> None:
    world.create("Render", "a")
    polled_for_a_while(world)
    world.wait(31 * 24 * HOUR)
    spoil(world, "jobs", "demo", "render", source="unheard-of")
    process = world.processes[0]

    async def both() -> None:
        process.connection.latency = 1
        await asyncio.gather(process.housekeeping.run(), world.processes[1].poll(full=True))

    world.run(both())
    world.wait(61)
    world.poll()
    assert verdict(world, "Render").level == "exact"
    assert list(world.cached("Render")) == ["a"]
