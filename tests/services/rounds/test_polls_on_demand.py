import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from shared.domain.accounts.operations import Reason
from shared.domain.jobs.jobs import Job
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import BatchThrottledError, NotFoundError
from shared.services.round.round_state import RoundState
from tests.profiles import PROFILE
from tests.services.fakes.truth import ACTIVE, RUNNING
from tests.services.rounds.crowd import Crowd
from tests.services.worlds.process import BUDGET, Process, Recipe
from tests.services.worlds.telling import polled_for_a_while, requests_of
from tests.services.worlds.world import SECOND, World

ENDPOINT = "http://127.0.0.1:1"
LONG = timedelta(minutes=15)
MANY = 1_000_000


def test_a_poll_on_demand_leaves_a_throttled_account_alone_too(world: World) -> None:
    world.create("Render", "a")
    polled_for_a_while(world)
    world.service.refusals["jobs"] = BatchThrottledError(ENDPOINT, 300 * SECOND)
    world.wait(61)
    world.poll()
    world.wait(100)
    rounds = world.processes[0].rounds
    before = len(world.processes[0].batch.requests)
    succeeded, reasons = world.run(rounds.run_now(["Render"], budget=BUDGET))
    assert len(world.processes[0].batch.requests) == before
    assert (succeeded, [reason.job for reason in reasons]) == (0, [None])
    assert "the next try is in 200 s" in reasons[0].message


def test_a_poll_on_demand_polls_requested_jobs_and_names_unknown_ones(world: World) -> None:
    world.create("Render", "a")
    world.create("Encode", "a")
    polled_for_a_while(world)
    polling = world.processes[0].polling
    operation = world.run(polling.request("DEMO", ("render", "Missing", "no/such:job")))
    assert operation.status == "queued"
    world.wait(61)
    calls = requests_of(world, lambda: world.run(polling.run("demo", operation.id)))
    assert calls == ["jobs", "jobs/Render/tasks", "jobs/Render/counts"]
    ended = world.run(polling.operation("demo", operation.id))
    assert (ended.status, ended.succeeded, ended.failed) == ("failed", 1, 2)
    assert ended.reasons == (
        Reason("Missing", "There is no job 'Missing'."),
        Reason("no/such:job", "There is no job 'no/such:job'."),
    )
    assert ended.finished_at == world.now()


def test_a_poll_on_demand_that_was_delivered_twice_is_carried_out_once(world: World) -> None:
    world.create("Render", "a")
    world.wait(1)
    polling = world.processes[0].polling
    operation = world.run(polling.request("demo", None))
    ended = world.run(polling.run("demo", operation.id))
    assert ended.status == "succeeded"
    assert requests_of(world, lambda: world.run(polling.run("demo", operation.id))) == []


def test_a_poll_on_demand_says_which_jobs_it_did_not_get_to(world: World) -> None:
    for number in range(20):
        world.create(f"job-{number:02}", "a")
    world.wait(1)
    process = world.processes[0]
    process.batch.latency = 10
    succeeded, reasons = world.run(process.rounds.run_now(None, budget=30 * SECOND))
    assert 0 < succeeded < 20
    assert succeeded + len(reasons) == 20
    assert all("over before its turn" in reason.message for reason in reasons)


def test_unknown_names_are_not_found(world: World) -> None:
    polling = world.processes[0].polling
    with pytest.raises(NotFoundError, match="no account 'other'"):
        world.run(polling.request("other", None))
    with pytest.raises(NotFoundError, match="no poll '7'"):
        world.run(polling.operation("demo", "7"))


async def _ticks(world: World, process: Process) -> None:
    while True:
        await process.polling.tick()
        world.messages += process.polling.take_messages()
        await asyncio.sleep(15)


async def _works(world: World, process: Process) -> None:
    """Works through the queue like the platform's workers, which handle one message each."""
    while True:
        await asyncio.sleep(1)
        if world.messages:
            message = world.messages.pop(0)
            more = await process.polling.run_queued(message)
            world.messages += [*([message] if more else []), *process.polling.take_messages()]


async def _demands(world: World, process: Process, first: float) -> None:
    """Requests a poll of all jobs every 20 s, like a script."""
    await asyncio.sleep(first)
    while True:
        operation = await process.polling.request("demo", None)
        await process.polling.run("demo", operation.id)
        world.messages += process.polling.take_messages()
        await asyncio.sleep(20)


def seconds_until_read(clients: int) -> tuple[float, float]:
    """Returns the seconds of the first read of a job of many tasks, and of a delta in which all tasks changed."""
    world = World()
    try:
        world.service.page_size, world.service.short_read = 3, 10
        job = world.create("Render", *(f"task-{number:04}" for number in range(1_500)))

        def change() -> None:
            for name in job.tasks:
                job.change(name, RUNNING, at=world.now(), lag=timedelta(), skew=timedelta())

        return lived_through(world, clients, change, lambda: job.counts(world.now()))
    finally:
        world.close()


def lived_through(
    world: World, clients: int, change: Callable[[], None], counts: Callable[[], TaskCounts]
) -> tuple[float, float]:
    """Returns the same for the world's job `Render`; `change` changes all of its tasks, `counts` are the true ones."""
    hosts = [world.started() for _ in range(3)]
    for host in hosts:
        host.batch.latency = 0.2
    world.create("Beside", "a")
    took = []

    async def lived() -> None:
        tasks = [asyncio.create_task(_ticks(world, hosts[0])), asyncio.create_task(_works(world, hosts[1]))]
        tasks += [asyncio.create_task(_demands(world, hosts[2], 7 * client)) for client in range(clients)]
        for state in (ACTIVE, RUNNING):
            began = world.now()
            if state == RUNNING:
                change()
            await asyncio.sleep(1)
            true = counts()
            for _ in range(int(LONG.total_seconds()) - 1):
                if await _counts(hosts[2]) == true:
                    break
                await asyncio.sleep(1)
            took.append((world.now() - began).total_seconds())
        for task in tasks:
            assert not task.done()
            task.cancel()

    world.run(lived())
    return took[0], took[1]


async def _counts(host: Process) -> TaskCounts | None:
    report = await host.queries.job("demo", "Render")
    return report.job.snapshot.counts if report.job.snapshot else None


def test_polls_on_demand_hold_up_no_long_read() -> None:
    alone, beside = seconds_until_read(0), seconds_until_read(3)
    assert beside[0] <= 1.2 * alone[0]
    assert beside[1] <= 1.2 * alone[1]


def seconds_until_very_many_are_read(clients: int) -> tuple[float, float]:
    """Returns the same for a job of `MANY` tasks, with pages and leaves as large as in Azure."""
    crowd = Crowd(MANY)
    world = World(Recipe(batch=crowd.batch()))
    try:
        world.service.page_size, world.service.calls_per_minute = 1000, 3000
        crowd.job = world.create("Render")
        return lived_through(world, clients, lambda: crowd.change(world.now()), crowd.counts)
    finally:
        world.close()


@pytest.mark.skipif(
    PROFILE != "long",
    reason="minutes of work, and a smaller job shows the same: HYPOTHESIS_PROFILE=long also reads a million tasks",
)
def test_polls_on_demand_hold_up_no_read_of_very_many_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # leaves, pages and passes have their real sizes again
    alone, beside = seconds_until_very_many_are_read(0), seconds_until_very_many_are_read(3)
    assert beside[0] <= 1.2 * alone[0]
    assert beside[1] <= 1.2 * alone[1]


def test_rounds_that_leave_messages_to_ticks_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = RoundState.queue

    def queue(this: RoundState, job: Job, now: datetime) -> None:
        if not this.thorough:
            real(this, job, now)

    monkeypatch.setattr(RoundState, "queue", queue)
    assert seconds_until_read(3)[1] >= LONG.total_seconds()
