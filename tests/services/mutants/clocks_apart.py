"""Scenarios of two hosts, the second with a clock far ahead or behind, which must have no effect.

Each scenario fails if a host uses its own clock (`OwnClock`).
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import override

from functions.api.health import health_of
from shared.domain.polling.rounds import WHOLE, Mark, Round
from shared.errors import BatchThrottledError
from tests.services.fakes.memory_tables import Fault
from tests.services.worlds.process import BUDGET, INTERVAL, LoopClock
from tests.services.worlds.telling import last_round
from tests.services.worlds.world import SECOND, World

HOUR, WEEK = timedelta(hours=1), timedelta(days=7)
LONG_JOB = [f"task-{number:03}" for number in range(40)]


class OwnClock(LoopClock):
    """A clock that ignores storage's dates."""

    @override
    def asking(self) -> Callable[[datetime], None]:
        return lambda _: None


def tick(world: World, who: int) -> int:
    """Runs a tick of this host; returns the number of job lists that it requested."""
    requests = world.processes[who].batch.requests
    requests.clear()
    world.run(world.processes[who].rounds.run_if_due(INTERVAL, budget=BUDGET))
    world.messages += world.processes[who].polling.take_messages()
    return requests.count("jobs")


def ticks(world: World) -> None:
    world.create("Render", "a")
    for who in (1, 0, 1, 0, 0, 1):
        world.wait(61)
        assert tick(world, who) == 1, "a host took no turn when it was its turn"
        assert tick(world, 1 - who) == 0, "a host took another's turn"


def back_off(world: World) -> None:
    world.create("Render", "a")
    world.service.refusals["jobs"] = BatchThrottledError("http://127.0.0.1:1", 120 * SECOND)
    world.wait(61)
    tick(world, 1)
    world.service.refusals.clear()
    world.wait(61)
    assert tick(world, 0) == 0, "the account wasn't left alone"
    world.wait(61)
    assert tick(world, 0) == 1, "the account was left alone for longer than the service asked"


def marks(world: World) -> None:
    """A lost message is sent again, and no other one before that."""
    left_to_the_queue(world, who=1)
    world.messages.clear()
    world.wait(61)
    tick(world, 0)
    assert world.messages == []
    for _ in range(10):
        world.wait(61)
        tick(world, 0)
    assert world.messages, "nobody is told of the job"


def leases(world: World) -> None:
    """A worker keeps its job until it is presumed dead."""
    left_to_the_queue(world, who=0)
    world.deliver(who=1, takes=1, fault=Fault(12, committed=True, kills=True))
    world.messages.clear()
    for _ in range(8):
        world.wait(61)
        tick(world, 0)
    assert world.messages == [], "two workers have the job"
    for _ in range(3):
        world.wait(61)
        tick(world, 0)
    assert world.messages, "the job waits for a worker that is no more"


def left_to_the_queue(world: World, who: int) -> None:
    world.service.page_size, world.service.short_read = 3, 10
    world.set_clocks(*(process.clock.ahead for process in world.processes))
    world.create("Render", *LONG_JOB)
    world.wait(61)
    tick(world, who)
    assert len(world.messages) == 1


def polls_on_demand(world: World) -> None:
    """Operations show when they were requested, and are kept for their retention from then on."""
    world.create("Render", "a")
    first, second = (process.polling for process in world.processes)
    asked = world.run(second.request("demo", None))
    assert abs(asked.created_at - world.now()) <= SECOND
    ended = world.run(second.run("demo", asked.id))
    assert ended.finished_at
    assert abs(ended.finished_at - world.now()) <= SECOND
    world.wait((WEEK - 300 * SECOND).total_seconds())
    world.run(world.processes[1].housekeeping.run())
    assert world.run(first.operation("demo", asked.id)), "deleted early"


def generations(world: World) -> None:
    """A generation that may still have readers stays, and is deleted once none can remain."""
    job = world.create("Render", *"abcdefgh")
    for _ in range(3):
        world.wait(61)
        world.poll()
    job.delete_task("a", world.now())
    for _ in range(2):
        world.wait(61)
        world.poll()
    world.wait((HOUR - 300 * SECOND).total_seconds())
    world.run(world.processes[1].housekeeping.run())
    assert len({partition for partition, _ in world.storage.rows["tasks"]}) == 2, "deleted early"
    world.wait(301)
    world.run(world.processes[1].housekeeping.run())
    assert len({partition for partition, _ in world.storage.rows["tasks"]}) == 1, "kept for too long"


def retention(world: World) -> None:
    """Deletions, rollups and expiry happen at the time that all hosts share."""
    job = world.create("Render", "a")
    world.wait(61)
    world.poll()
    job.deleted = world.now() + SECOND
    world.wait(61)
    world.poll(full=True)
    world.wait((30 * 24 * HOUR - 300 * SECOND).total_seconds())
    world.run(world.processes[1].housekeeping.run())
    assert world.run(world.started().jobs.load("demo", "Render")), "deleted early"
    world.wait(301)
    world.run(world.processes[1].housekeeping.run())
    assert world.run(world.started().jobs.load("demo", "Render")) is None, "kept for too long"


def history(world: World) -> None:
    """All hosts report the same minutes."""
    job = world.create("Render", "a")
    for number in range(5):
        world.wait(61)
        world.poll(number % 2)
        job.add(f"b{number}", world.now())
    one, other = (world.run(process.histories.read("demo", "Render")) for process in world.processes)
    assert list(one.points) == list(other.points)


def health(world: World) -> None:
    """Health reports the age of the last poll, on any host."""
    world.create("Render", "a")
    for who in (0, 1):
        world.wait(61)
        world.poll(who)
    for process in world.processes:
        reports = world.run(process.queries.accounts(["demo"]))
        answer = health_of(reports, {}, world.run(process.clock.now()))
        assert answer.last_poll_age_seconds is not None
        assert answer.last_poll_age_seconds <= 1
        assert answer.status == "healthy"


STORIES = (ticks, back_off, marks, leases, polls_on_demand, generations, retention, history, health)


def hosts_an_hour_apart(world: World) -> None:
    world.set_clocks(timedelta(), HOUR)
    ticks(world)


def a_round_in_the_future(world: World, ahead: timedelta = HOUR) -> None:
    """Times in the future, stored by an older version on a host ahead, are ignored: marks, back-off and lists."""
    now, minute = world.now(), timedelta(minutes=1)
    future = now + ahead
    world.create("Render", *LONG_JOB)
    world.service.page_size, world.service.short_read = 3, 10
    world.set_clocks(timedelta(), timedelta())
    left = Round(
        future,
        finished_at=future,
        whole_round_at=future,
        as_of=now,
        jobs_as_of=now,
        full_list_at=future,
        backoff_until=future + 15 * minute,
        queued={WHOLE: Mark(future + 2 * minute), "render": Mark(future + 10 * minute)},
    )
    world.run(world.processes[0].round_store.save("demo", left))
    world.wait(61)
    assert tick(world, 0) == 1
    assert [message.job for message in world.messages] == ["Render"]
    assert last_round(world).full_list_at == world.now()
