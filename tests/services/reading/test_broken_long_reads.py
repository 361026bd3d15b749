"""Long reads amid deaths, lost messages, unreadable rows and deleted jobs: they end correctly all the same."""

import asyncio
from datetime import timedelta

import pytest

from shared.stores.jobs.read_plans import PLAN_ROW
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import COMPLETED, RUNNING
from tests.services.reading.long_read_world import (
    JOB,
    NAMES,
    NOW,
    Lists,
    assert_right,
    begun,
    is_left,
    left_to_the_queue,
    lists,
    mapping_of,
    world,
)
from tests.services.worlds.spoiling import spoil, spoil_leaves
from tests.services.worlds.telling import polled_for_a_while
from tests.services.worlds.world import SECOND, World

__all__ = ["lists", "world"]


@pytest.mark.parametrize("committed", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", range(1, 36))
def test_a_death_at_any_storage_call_loses_nothing_and_repeats_no_finished_range(
    world: World, lists: Lists, call: int, *, committed: bool
) -> None:
    job = left_to_the_queue(world)
    world.deliver(takes=1, fault=Fault(call, committed=committed, kills=True))
    plan, asked = mapping_of(world), len(lists.whole)
    job.change(NAMES[3], RUNNING, at=world.now(), lag=NOW, skew=NOW)
    job.add("task-999", world.now())
    world.deliver_all()
    if plan is not None and plan.since is None:
        again = {name for names in lists.whole[asked:] for name in names}
        assert {name for name in again if not is_left(plan, name)} == set()
    elif plan is not None:
        assert lists.whole[asked:] == []
    assert_right(world, job)


@pytest.mark.parametrize("call", range(4, 40, 4))
def test_a_death_while_pages_come_empty_loses_nothing(world: World, lists: Lists, call: int) -> None:
    lists.empty = 2
    job = left_to_the_queue(world)
    world.deliver(takes=1, fault=Fault(call, committed=True, kills=True))
    world.deliver(budget=3, takes=1)
    world.deliver_all()
    assert sorted(world.cached(JOB)) == NAMES
    assert_right(world, job)


@pytest.mark.parametrize("kills", [False, True], ids=["an answer lost", "a death"])
@pytest.mark.parametrize("call", range(2, 24, 3))
def test_deaths_one_after_another_end_all_the_same(world: World, call: int, *, kills: bool) -> None:
    job = left_to_the_queue(world)
    for number in range(6):
        world.deliver(who=number % 2, takes=1, fault=Fault(call, committed=bool(number % 2), kills=kills))
    world.deliver_all()
    assert_right(world, job)


@pytest.mark.parametrize("delay", [0, 1, 3, 5, 8])
def test_two_workers_on_one_job_never_spoil_it(world: World, delay: float) -> None:
    job = left_to_the_queue(world)
    first, second = world.processes
    for process in world.processes:
        process.batch.latency, process.connection.latency = 1, 0.2

    async def later() -> None:
        await asyncio.sleep(delay)
        await second.queued.run(JOB, budget=timedelta(days=1))

    async def both() -> None:
        await asyncio.gather(first.queued.run(JOB, budget=timedelta(days=1)), later())

    job.change(NAMES[5], COMPLETED, at=world.now() + 4 * SECOND, lag=NOW, skew=NOW)
    world.run(both())
    for process in world.processes:
        process.batch.latency = process.connection.latency = 0
    assert_right(world, job)


def test_a_message_that_comes_twice_changes_nothing(world: World) -> None:
    job = left_to_the_queue(world)
    world.deliver(keep=True)
    first = world.report(JOB).job.snapshot
    world.deliver(who=1)
    second = world.report(JOB).job.snapshot
    assert first
    assert second
    assert (second.generation, second.counts) == (first.generation, first.counts)
    assert_right(world, job)


def test_a_lost_message_is_sent_again_after_two_minutes_and_after_ten_where_that_was_lost_too(world: World) -> None:
    job = left_to_the_queue(world)
    for minutes in (2, 10):
        world.messages.clear()
        for _ in range(minutes - 1):
            world.wait(61)
            world.poll()
        assert not world.messages
        world.wait(61)
        world.poll()
    assert [message.job for message in world.messages] == [JOB]
    world.deliver_all()
    assert_right(world, job)


def test_housekeeping_leaves_a_long_read_alone_that_goes_on(world: World) -> None:
    job = left_to_the_queue(world)
    building = None
    for _ in range(3):
        world.deliver(budget=2, takes=1)
        stored = world.run(world.started().jobs.load("demo", JOB))
        assert stored
        building = building or stored.building
        assert stored.building == building
        world.wait(3000)
        world.run(world.processes[0].housekeeping.run())
    world.deliver_all()
    snapshot = world.report(JOB).job.snapshot
    assert snapshot
    assert snapshot.generation == building
    assert_right(world, job)


def test_a_job_that_is_deleted_during_its_long_read_ends_it(world: World) -> None:
    job = left_to_the_queue(world)
    begun(world)
    job.deleted = world.now()
    world.wait(61)
    world.deliver_all()
    world.wait(20 * 60)
    world.poll(full=True)
    world.deliver_all()
    assert world.report(JOB).job.deleted
    assert not world.messages


def test_a_job_that_is_created_anew_during_its_long_read_is_read_anew(world: World) -> None:
    job = left_to_the_queue(world)
    begun(world)
    job.deleted = world.now()
    anew = world.truth.create(JOB, world.now())
    for name in NAMES[:25]:
        anew.add(name, world.now())
    world.wait(61)
    world.deliver_all()
    world.poll(full=True)
    world.deliver_all()
    assert_right(world, anew)
    assert sorted(world.cached(JOB)) == NAMES[:25]


def test_many_tasks_that_cannot_be_read_are_read_anew_in_the_queue(world: World, lists: Lists) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    assert_right(world, job)
    lists.whole.clear()
    spoil_leaves(world)
    world.wait(900)
    job.change(NAMES[7], RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(1)
    world.poll(check=False)
    assert [message.job for message in world.messages] == [JOB]
    world.deliver_all()
    assert_right(world, job)
    assert set().union(*lists.whole) == set(NAMES)


def test_a_long_delta_that_meets_leaves_that_cannot_be_read_gives_way_to_a_full_read(
    world: World, lists: Lists
) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    world.wait(900)
    polled_for_a_while(world)
    for name in NAMES:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    world.poll()
    plan = mapping_of(world)
    assert plan
    assert plan.since is not None
    lists.whole.clear()
    spoil_leaves(world)
    world.deliver_all()
    assert_right(world, job)
    assert set().union(*lists.whole) == set(NAMES)


def spoil_plan(world: World) -> str:
    """Damages the plan of the generation that is being read, or is served; returns that generation."""
    job = world.run(world.started().jobs.load("demo", JOB))
    assert job
    generation = job.building or (job.snapshot.generation if job.snapshot else "")
    spoil(world, "tasks", f"demo~render~{generation}", PLAN_ROW, ranges0=b"nonsense")
    return generation


def test_a_first_read_whose_plan_cannot_be_read_begins_anew_after_a_while(world: World) -> None:
    job = left_to_the_queue(world)
    begun(world)
    spoil_plan(world)
    world.deliver(takes=1)  # fails no message: rounds report why, and handle it
    assert not world.messages
    assert "can't be read" in (world.report(JOB).verdict.reason or "")
    world.wait(61)
    world.poll()
    assert not world.messages
    world.wait(15 * 60)
    world.poll()
    assert [message.job for message in world.messages] == [JOB]
    world.deliver_all()
    assert_right(world, job)


def test_a_plan_that_cannot_be_read_hides_no_job(world: World) -> None:
    world.create("Other", "a")
    left_to_the_queue(world)
    begun(world)
    spoil_plan(world)
    assert {name: report.progress for name, report in world.reports().items()} == {JOB: None, "Other": None}


def test_a_generation_whose_plan_cannot_be_read_is_abandoned_in_time(world: World) -> None:
    left_to_the_queue(world)
    begun(world)
    spoil_plan(world)
    world.wait(3700)
    world.run(world.processes[0].housekeeping.run())
    job = world.run(world.started().jobs.load("demo", JOB))
    assert job
    assert job.building is None


def test_a_long_delta_whose_plan_cannot_be_read_is_listed_anew(world: World) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    polled_for_a_while(world)
    for name in NAMES:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    world.poll()
    assert spoil_plan(world)
    world.deliver_all()
    snapshot = world.report(JOB).job.snapshot
    assert snapshot
    assert snapshot.counts.running == len(NAMES)
    assert_right(world, job)
