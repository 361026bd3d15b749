"""A tick over several accounts when one is slow or fails."""

import asyncio
from datetime import datetime, timedelta

import pytest

from shared.domain.accounts.operations import JobMessage
from shared.domain.jobs.jobs import Job
from shared.errors import BatchUnreachableError, StorageError
from shared.services.polling.dispatch import Dispatch
from shared.services.polling.polling import PollingService
from tests.services.fakes.fake_batch import Service
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import Truth
from tests.services.worlds.process import INTERVAL, Process, local_account
from tests.services.worlds.world import SECOND, World

ENDPOINT = "http://127.0.0.1:1"
BUDGET = 45 * SECOND


def accounts(world: World, count: int) -> list[Process]:
    """Returns processes for `count` accounts on one storage, each with its own service and job."""
    found = []
    for number in range(count):
        service = Service(Truth(), world.now)
        service.truth.create("Render", world.now()).add("a", world.now())
        found.append(Process(world.recipe, service, world.storage, local_account(f"demo{number}")))
    return found


async def run(processes: list[Process], *, interval: timedelta = INTERVAL, budget: timedelta = BUDGET) -> None:
    rounds = [process.rounds for process in processes]
    await Dispatch(rounds, processes[0].clock, interval=interval, budget=budget).run()


def tick(world: World, processes: list[Process], *, interval: timedelta = INTERVAL) -> None:
    world.run(run(processes, interval=interval))


def ticks(world: World, processes: list[Process], *, seconds: float, every: float, interval: timedelta) -> None:
    """Runs ticks as a timer does: the next one begins at the next due time after the last has ended."""
    end = world.loop.time() + seconds
    while world.loop.time() < end:
        tick(world, processes, interval=interval)
        world.wait(every - world.loop.time() % every)


def oldest(world: World, watched: Process, *, while_: list[Process], every: float, interval: timedelta) -> timedelta:
    """Returns the greatest age of a job's counts within ten minutes of ticks."""
    ages: list[timedelta] = []

    async def look() -> None:
        while True:
            await asyncio.sleep(1)
            reports = await watched.queries.jobs(watched.rounds.source.account.id)
            snapshots = [report.job.snapshot for report in reports if report.job.snapshot]
            ages.extend(world.now() - snapshot.looked_at for snapshot in snapshots)

    looking = world.loop.create_task(look())
    ticks(world, while_, seconds=600, every=every, interval=interval)
    looking.cancel()
    return max(ages)


def test_an_account_that_does_not_answer_holds_up_no_other(world: World) -> None:
    healthy, hanging = processes = accounts(world, 2)
    hanging.batch.latency = 30
    age = oldest(world, healthy, while_=processes, every=2, interval=10 * SECOND)
    assert age <= 12 * SECOND


def test_an_account_that_hangs_and_fails_holds_up_no_other(world: World) -> None:
    healthy, hanging = processes = accounts(world, 2)
    hanging.batch.latency = 60
    hanging.service.refusals["jobs"] = BatchUnreachableError(ENDPOINT, "no answer")
    age = oldest(world, healthy, while_=processes, every=60, interval=60 * SECOND)
    assert age <= 2 * 60 * SECOND


def test_a_first_read_that_outlasts_the_budget_holds_up_no_other(world: World) -> None:
    healthy, slow = processes = accounts(world, 2)
    slow.batch.latency = 40
    began = world.loop.time()
    tick(world, processes)
    assert world.loop.time() - began >= 100
    assert len([request for request in healthy.batch.requests if request == "jobs"]) == 2


def test_a_tick_ends_when_nothing_is_under_way_though_accounts_come_due_soon(world: World) -> None:
    processes = accounts(world, 3)
    for process in processes:
        process.batch.latency = 1
    began = world.loop.time()
    tick(world, processes, interval=10 * SECOND)
    assert world.loop.time() - began < 10


def test_a_tick_does_not_go_on_for_ever_while_accounts_take_turns(world: World) -> None:
    processes = accounts(world, 4)
    for number, process in enumerate(processes):
        process.batch.latency = 3 + number
    began = world.loop.time()
    tick(world, processes, interval=5 * SECOND)
    assert world.loop.time() - began < BUDGET.total_seconds() + 60


def test_a_round_that_begins_late_has_the_rest_of_the_budget(world: World) -> None:
    busy, slow = processes = accounts(world, 2)
    slow.batch.latency = 14

    def grow() -> None:
        for number in range(200):
            busy.service.truth.create(f"Job-{number}", world.now()).add("a", world.now())
        busy.batch.latency = 3

    world.loop.call_later(35, grow)
    began = world.now()
    tick(world, processes, interval=10 * SECOND)
    last = world.run(busy.round_store.load("demo0"))
    assert last
    assert last.started_at > began + 35 * SECOND
    assert last.finished_at < began + BUDGET + 20 * SECOND
    assert last.is_queued("", last.finished_at)


def test_a_failing_account_is_asked_once_a_tick_and_more_and_more_rarely(world: World) -> None:
    slow, failing = processes = accounts(world, 2)
    slow.batch.latency = 60
    failing.service.refusals["jobs"] = BatchUnreachableError(ENDPOINT, "closed")
    tick(world, processes, interval=5 * SECOND)
    assert failing.batch.requests == ["jobs"]
    slow.batch.latency = 0
    ticks(world, processes, seconds=600, every=5, interval=5 * SECOND)
    rarely = len(failing.batch.requests)
    assert rarely < 20
    failing.service.refusals.clear()
    ticks(world, processes, seconds=45, every=5, interval=5 * SECOND)
    assert len(failing.batch.requests) >= rarely + 5


def test_storage_that_fails_for_one_account_stops_no_other_and_is_raised(world: World) -> None:
    healthy, unlucky = processes = accounts(world, 2)
    unlucky.connection.arm(Fault(1, committed=False, kills=False))
    with pytest.raises(StorageError):
        tick(world, processes)
    assert "jobs" in healthy.batch.requests


def test_accounts_take_turns_so_that_no_result_waits_for_all(world: World) -> None:
    processes = accounts(world, 40)
    for process in processes:
        process.batch.latency = 0.3
    tick(world, processes)
    ends = [world.run(process.round_store.load(process.rounds.source.account.key)) for process in processes]
    lasted = [end.finished_at - end.started_at for end in ends if end]
    assert len(lasted) == 40
    assert max(lasted) <= 2 * SECOND
    assert len({end.started_at for end in ends if end}) >= 5


def test_accounts_that_hang_keep_a_turn_for_two_seconds_only(world: World) -> None:
    processes = accounts(world, 30)
    for process in processes[:20]:
        process.batch.latency = 30
    reached: list[bool] = []
    world.loop.call_later(6, lambda: reached.extend(bool(process.batch.requests) for process in processes))
    tick(world, processes)
    assert len(reached) == 30
    assert all(reached)


def test_accounts_missed_by_a_tick_are_first_in_the_next(world: World) -> None:
    processes = accounts(world, 60)
    for process in processes:
        process.batch.latency = 1
    world.wait(1)
    world.run(run(processes, budget=2 * SECOND))
    left = [process for process in processes if not process.batch.requests]
    assert 30 < len(left) < 60
    asked = sum(len(process.batch.requests) for process in processes)
    world.wait(60)
    world.run(run(processes, budget=2 * SECOND))
    assert sum(bool(process.batch.requests) for process in left) == 60 - len(left)
    assert sum(len(process.batch.requests) for process in processes) == 2 * asked


def polling_of(processes: list[Process], *, budget: timedelta) -> PollingService:
    first = processes[0]
    rounds = {process.rounds.source.account.id: process.rounds for process in processes}
    return PollingService(rounds, {}, first.stores, first.clock, INTERVAL, budget)


def whole_round_at(world: World, process: Process) -> datetime:
    last = world.run(process.round_store.load(process.rounds.source.account.key))
    assert last
    assert last.whole_round_at
    return last.whole_round_at


def test_accounts_that_do_not_fit_into_a_tick_are_left_to_the_queue_and_polled_from_there(world: World) -> None:
    here, there = accounts(world, 60), accounts(world, 60)
    tick(world, here)
    world.wait(61)
    for process in here:
        process.batch.latency = 1
    began, polling, other = world.now(), polling_of(here, budget=5 * SECOND), polling_of(there, budget=BUDGET)
    world.run(polling.tick())
    messages = polling.take_messages()
    late = {process.rounds.source.account.id for process in here if whole_round_at(world, process) < began}
    assert late
    assert {(message.account, message.job) for message in messages} == {(name, None) for name in late}
    world.run(other.tick())  # the message's receiver polls the account
    assert other.take_messages() == []
    assert any(whole_round_at(world, process) < began for process in here)
    for message in messages:
        assert not world.run(other.run_queued(message))
    assert all(whole_round_at(world, process) >= began for process in here)


def test_an_account_whose_message_was_lost_is_polled_by_a_tick_again(world: World) -> None:
    process = accounts(world, 1)[0]
    tick(world, [process])
    world.wait(61)
    began = world.now()
    for _ in range(5):
        world.run(process.rounds.leave_to_queue(INTERVAL))
    assert process.rounds.take_messages() == [JobMessage("demo0", None)]
    tick(world, [process])
    assert whole_round_at(world, process) < began
    world.wait(121)
    tick(world, [process])
    assert whole_round_at(world, process) > began


def test_an_account_that_was_never_polled_is_left_to_the_queue_once(world: World) -> None:
    here, there = accounts(world, 1)[0], accounts(world, 1)[0]
    for process in (here, there, here):
        world.run(process.rounds.leave_to_queue(INTERVAL))
    assert here.rounds.take_messages() == [JobMessage("demo0", None)]
    assert there.rounds.take_messages() == []
    report = world.run(there.queries.account("demo0"))
    assert report.last_round is None
    tick(world, [there])  # the message's receiver polls the account
    assert there.batch.requests == []
    world.run(polling_of([here], budget=BUDGET).run_queued(JobMessage("demo0", None)))
    assert whole_round_at(world, here) == world.now()
    report = world.run(there.queries.account("demo0"))
    assert report.last_round
    assert report.last_round.jobs_polled == 1


def test_an_account_that_was_never_polled_and_whose_message_was_lost_is_polled_by_a_tick(world: World) -> None:
    process = accounts(world, 1)[0]
    world.run(process.rounds.leave_to_queue(INTERVAL))
    world.wait(121)
    tick(world, [process])
    assert whole_round_at(world, process) == world.now()
    last = world.run(process.round_store.load("demo0"))
    assert last
    assert not last.queued


def test_jobs_that_a_round_has_no_time_for_are_left_to_one_message_for_all_of_them(world: World) -> None:
    here = accounts(world, 1)
    for number in range(40):
        here[0].service.truth.create(f"Job-{number}", world.now()).add("a", world.now())
    here[0].batch.latency = 1
    polling = polling_of(here, budget=3 * SECOND)
    world.run(polling.tick())
    messages = polling.take_messages()
    assert [(message.account, message.job) for message in messages] == [("demo0", None)]
    assert any(job.snapshot is None for job in jobs_of(world, here[0]))
    world.wait(61)
    world.run(polling.tick())  # the message's receiver polls the account
    assert polling.take_messages() == []
    for _ in range(10):
        if messages:
            world.run(polling.run_queued(messages.pop()))
            messages += polling.take_messages()
    assert all(job.snapshot for job in jobs_of(world, here[0]))


def jobs_of(world: World, process: Process) -> list[Job]:
    return list(world.run(process.jobs.load_all(process.rounds.source.account.key)).values())
