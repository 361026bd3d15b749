"""Rounds of an account while workers handle messages about its jobs: neither reverts the other's writes."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from shared.domain.polling.rounds import Round
from shared.domain.reads.read_plans import ReadPlan
from shared.errors import CacheConflictError
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import COMPLETED
from tests.services.worlds.telling import last_round, polled_for_a_while, verdict
from tests.services.worlds.world import SECOND, World

JOB = "Render"
NAMES = [f"task-{number:03}" for number in range(40)]
ALL_DAY = timedelta(days=1)


@pytest.fixture
def world() -> Iterator[World]:
    """Yields a world with pages of three tasks; a round may read ten."""
    world = World()
    world.service.page_size, world.service.short_read = 3, 10
    world.processes = [world.started(), world.started()]
    yield world
    world.close()


def read_anew_by_the_queue(world: World) -> None:
    """Creates a job whose full read has begun in the queue."""
    job = world.create(JOB, *NAMES)
    world.wait(61)
    world.poll()
    world.deliver_all()
    polled_for_a_while(world)
    job.delete_task(NAMES[0], world.now())
    while not world.messages:
        world.wait(61)
        world.poll()
    world.deliver(who=1, budget=1, takes=1)


def test_a_round_that_saves_twice_keeps_changes_made_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = world.create(JOB, *NAMES[:8])
    polled_for_a_while(world)
    job.delete_task(NAMES[0], world.now())
    world.wait(61)
    world.poll()
    world.wait(61)
    first, second = world.processes
    real, notes = first.round_store.save, list[Round]()

    async def save(account_key: str, latest: Round) -> Round:
        if not notes:
            until = world.now() + 600 * SECOND
            await second.queued._note(partial(Round.with_outcome, key="other", failure=None, backoff_until=until))
        notes.append(latest)
        return await real(account_key, latest)

    monkeypatch.setattr(first.round_store, "save", save)
    world.poll(check=False)
    assert len(notes) == 2
    assert last_round(world).backoff_until == world.now() + 600 * SECOND


def test_a_job_whose_full_read_ends_during_a_round_is_polled_by_the_next(world: World) -> None:
    read_anew_by_the_queue(world)
    world.wait(61)
    first, second = world.processes
    (message,) = world.messages
    first.batch.latency, second.batch.latency = 2, 0

    async def both() -> None:
        poll = asyncio.create_task(first.poll())
        await asyncio.sleep(1)
        assert not await second.queued.run(JOB, message.until, budget=ALL_DAY)
        await poll

    world.run(both())
    assert not last_round(world).queued
    assert verdict(world, JOB).level == "exact"


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_a_job_stays_marked_while_one_of_two_workers_goes_on_with_it(world: World, delay: float) -> None:
    world.create(JOB, *(f"task-{number:03}" for number in range(300)))
    world.wait(61)
    world.poll()
    for process in world.processes:
        process.batch.latency, process.connection.latency = 1, 0.05
    first, second = world.processes

    async def later() -> bool:
        await asyncio.sleep(delay)
        return await second.queued.run(JOB, budget=ALL_DAY)

    async def both() -> None:
        work = [asyncio.create_task(first.queued.run(JOB, budget=ALL_DAY)), asyncio.create_task(later())]
        await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        job, last = await first.jobs.load("demo", JOB), await first.round_store.load("demo")
        assert job
        assert last
        assert job.snapshot or last.is_queued(job.key, world.now())
        await asyncio.gather(*work)

    world.run(both())
    assert not last_round(world).queued


def test_of_two_workers_that_overtook_each_other_until_both_gave_way_one_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.create(JOB, *NAMES)
    world.wait(61)
    world.poll()
    (message,) = world.messages
    world.deliver(budget=2, takes=1)

    async def overtaken(*_: object) -> ReadPlan:
        raise CacheConflictError("Another process goes on with it.")

    ends = []

    async def both() -> None:
        work = []
        for process in world.processes:
            process.batch.latency = 1
            work.append(asyncio.create_task(process.queued.run(JOB, message.until, budget=ALL_DAY)))
            await asyncio.sleep(0.1)
        ends.extend(await asyncio.gather(*work))

    with monkeypatch.context() as patch:
        for process in world.processes:
            patch.setattr(process.plans, "save", overtaken)
        world.run(both())
    assert ends == [False, True]
    world.deliver_all()
    assert verdict(world, JOB).level != "catchingUp"


def test_the_mark_of_a_message_that_waited_lasts_while_it_is_worked_on(world: World) -> None:
    world.create(JOB, *NAMES)
    world.wait(61)
    world.poll()
    world.wait(9 * 60)
    first, second = world.processes
    second.batch.latency = 10

    async def both() -> None:
        work = asyncio.create_task(second.queued.run(JOB, budget=240 * SECOND))
        await asyncio.sleep(90)
        assert not work.done()
        await first.poll()
        await work

    world.run(both())
    assert first.polling.take_messages() == []


def test_a_repair_of_more_tasks_than_a_round_may_read_is_left_to_the_queue(world: World) -> None:
    job = world.create(JOB, *(f"task-{number:03}" for number in range(100)))
    for number in range(60):
        job.change(f"task-{number:03}", COMPLETED, at=world.now(), lag=0 * SECOND, skew=0 * SECOND)
    world.wait(61)
    world.poll()
    world.deliver_all()
    polled_for_a_while(world)
    world.deliver_all()
    polled_for_a_while(world)
    assert verdict(world, JOB).level == "exact"
    job.drifts = True
    job.change("task-070", COMPLETED, at=world.now(), lag=400 * SECOND, skew=0 * SECOND)
    while not world.messages:
        world.wait(61)
        world.poll()
        assert verdict(world, JOB).source == "delta"
    world.deliver_all()
    report = world.report(JOB)
    assert report.job.snapshot
    assert report.job.snapshot.counts == job.counts(world.now())
    assert report.verdict.level == "exact"


def undelivered_for_an_hour(world: World) -> int:
    """Returns the number of messages about a job that pile up while none is delivered."""
    world.create(JOB, *NAMES)
    for _ in range(60):
        world.wait(61)
        world.poll()
    assert len(world.messages) >= 6
    return len(world.messages)


def asked_by(world: World, work: Callable[[], object]) -> int:
    """Returns the number of both processes' requests to Batch during the work."""
    before = sum(process.batch.calls for process in world.processes)
    work()
    return sum(process.batch.calls for process in world.processes) - before


def test_messages_that_piled_up_are_dropped_once_one_was_worked_on(world: World) -> None:
    number = undelivered_for_an_hour(world)
    world.deliver(who=1)
    assert verdict(world, JOB).level != "catchingUp"
    assert len(world.messages) == number - 1
    assert asked_by(world, world.deliver_all) == 0
    polled_for_a_while(world)
    assert verdict(world, JOB).level == "exact"


def test_messages_that_piled_up_are_dropped_while_one_goes_on(world: World) -> None:
    number = undelivered_for_an_hour(world)
    world.deliver(who=1, budget=2, takes=1)
    assert len(world.messages) == number
    for _ in range(number - 1):
        assert asked_by(world, world.deliver) == 0
    assert len(world.messages) == 1
    assert asked_by(world, world.deliver_all) > 0
    assert not last_round(world).queued
    assert verdict(world, JOB).level != "catchingUp"


def test_the_oldest_of_messages_that_piled_up_is_worked_on_however_long_the_queue_is(world: World) -> None:
    """If a newer message replaced the oldest, each would be dropped before its turn."""
    world.create(JOB, *NAMES)
    world.wait(61)
    world.poll()
    (oldest,) = world.messages
    undelivered_for_an_hour(world)
    assert world.messages[0] == oldest
    assert asked_by(world, lambda: world.deliver(who=1)) > 0


def test_a_message_whose_worker_died_goes_on_when_it_comes_again(world: World) -> None:
    world.create(JOB, *NAMES)
    world.wait(61)
    world.poll()
    world.deliver(takes=1, fault=Fault(12, committed=True, kills=True))
    assert last_round(world).queued
    assert asked_by(world, world.deliver_all) > 0
    assert not last_round(world).queued
    assert verdict(world, JOB).level != "catchingUp"


def test_a_job_whose_worker_and_message_were_lost_is_read_because_of_another(world: World) -> None:
    world.create(JOB, *NAMES)
    world.wait(61)
    world.poll()
    world.deliver(takes=1, fault=Fault(12, committed=True, kills=True))
    world.messages.clear()
    for _ in range(11):
        world.wait(61)
        world.poll()
    assert len(world.messages) == 1
    world.deliver_all()
    assert verdict(world, JOB).level != "catchingUp"


@pytest.mark.parametrize("ahead", [-3600, 3600])
def test_a_worker_whose_clock_is_wrong_leaves_no_job_unread(world: World, ahead: int) -> None:
    world.create(JOB, *NAMES)
    world.processes[1].clock.ahead = ahead * SECOND
    for _ in range(90):
        world.wait(61)
        world.poll()
        world.deliver(who=1, budget=1, takes=1)
    assert verdict(world, JOB).level == "exact"
    world.deliver_all()
    assert not world.messages


def test_a_message_of_the_version_before_is_worked_on(world: World) -> None:
    world.create(JOB, *NAMES)
    world.wait(61)
    world.poll()
    (message,) = world.messages
    world.messages = [replace(message, until=None)]
    assert asked_by(world, world.deliver_all) > 0
    assert verdict(world, JOB).level != "catchingUp"
