"""Short scenarios that show each planted bug of the delta algorithm; the real code passes them all."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import product

from shared.errors import BatchThrottledError
from tests.profiles import share_of
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import ACTIVE, COMPLETED, RUNNING
from tests.services.worlds.world import SECOND, World

NO_TIME = timedelta()


def a_change_seen_late(world: World) -> None:
    job = world.create("Render", "a", "b")
    world.wait(1)
    world.poll()
    job.change("a", RUNNING, at=world.now(), lag=10 * SECOND, skew=NO_TIME)
    for _ in range(3):
        world.wait(8)
        world.poll()


def a_change_seen_at_the_last_instant(world: World) -> None:
    job = world.create("Render", "a", "b")
    world.wait(60)
    world.poll()
    job.change("a", RUNNING, at=world.now(), lag=30 * SECOND, skew=NO_TIME)
    world.wait(30)
    world.poll()
    world.wait(1)
    world.poll()


def a_change_behind_a_slow_read(world: World) -> None:
    world.service.page_size = 1
    job = world.create("Render", "a", "b", "c")
    world.wait(1)
    world.poll()
    job.change("a", RUNNING, at=world.now() + 61 * SECOND, lag=NO_TIME, skew=NO_TIME)
    world.poll(takes=40)
    world.poll()


def a_clock_that_runs_ahead(world: World) -> None:
    job = world.create("Render", "a", "b")
    world.wait(1)
    world.poll()
    world.wait(60)
    job.change("a", RUNNING, at=world.now(), lag=NO_TIME, skew=60 * SECOND)
    world.wait(1)
    world.poll()
    job.change("a", COMPLETED, at=world.now() + SECOND, lag=NO_TIME, skew=NO_TIME)
    job.change("b", RUNNING, at=world.now() + SECOND, lag=NO_TIME, skew=NO_TIME)
    world.wait(10)
    world.poll()


def a_slower_poll_that_ends_after_a_faster_one(world: World) -> None:
    """The faster poll finds no change, as of later; the changes that the slower one finds came after that."""
    job = world.create("Render", "a", "b")
    world.wait(60)
    job.change("b", RUNNING, at=world.now(), lag=NO_TIME, skew=NO_TIME)
    world.wait(1)
    world.poll()  # too recent for its counts to be settled
    job.change("a", RUNNING, at=world.now() + 40 * SECOND, lag=NO_TIME, skew=NO_TIME)
    world.poll_both((40, 0), delay=30)
    world.wait(60)
    world.poll()


def a_death_at_every_call(world: World) -> None:
    job = world.create("Render", *"abcdefgh")
    world.wait(60)
    world.poll()
    for call in range(1, 13):
        for committed in (False, True):
            job.change("abcdefgh"[call % 8], (ACTIVE, RUNNING)[committed], at=world.now(), lag=NO_TIME, skew=NO_TIME)
            world.wait(61)
            world.poll(fault=Fault(call, committed=committed, kills=True))
            world.wait(61)
            world.poll()


def tasks_deleted_after_a_poll_that_broke_off(world: World) -> None:
    """The poll wrote leaves but no job row: no later delta shows the tasks in them."""
    ways = [*product(range(1, 13), (False, True), (False, True), (0, 1), (5, 61))]
    for call, committed, kills, who, pause in share_of(ways, 3):
        fault = Fault(call, committed=committed, kills=kills)
        _break_off_and_delete(world, partial(world.poll, fault=fault), who=who, pause=pause)


def tasks_deleted_after_a_poll_that_was_throttled(world: World) -> None:
    """Batch throttles its second list, which follows counts that lag and differ."""
    for who in (0, 1):
        _break_off_and_delete(world, partial(_throttled_poll, world), who=who, pause=61)


def _throttled_poll(world: World) -> None:
    refusals, tasks = world.service.refusals, "jobs/*/tasks"
    world.service.count_lag = 30 * SECOND
    world.loop.call_later(8, refusals.__setitem__, tasks, BatchThrottledError("the account", SECOND))
    world.poll(takes=2, full=True)
    ended = world.processes[0].rounds.ended
    assert ended
    assert ended.reason == str(refusals.pop(tasks))
    world.service.count_lag = NO_TIME


def _break_off_and_delete(world: World, poll: Callable[[], object], *, who: int, pause: float) -> None:
    """Breaks off a poll; the next poll is by a process that may have older state in memory."""
    job = world.create("Render", "a", "b")
    for number in (0, 1, 0, 1):
        world.wait(pause)
        world.poll(number)
    job.add("c", world.now())
    world.wait(1)
    poll()
    job.delete_task("c", world.now())
    for number in (who, 1 - who, who):
        world.wait(pause)
        world.poll(number)
    job.complete(world.now(), lag=NO_TIME)
    for number in (who, 1 - who, who):
        world.wait(61)
        world.poll(number)
    assert world.report("Render").job.finalized
    assert world.cached("Render").keys() == {"a", "b"}
    job.deleted = world.now()
    world.wait(1)
    world.poll(full=True)


def a_poll_after_one_that_marked_leaves_and_died(world: World) -> None:
    """The previous poll marked leaves as dirty and died before writing any; the task that it had seen is gone."""
    job = world.create("Render", "a", "b")
    for _ in range(3):
        world.wait(61)
        world.poll()
    job.add("c", world.now())
    world.wait(1)
    world.poll(fault=Fault(4, committed=True, kills=True))
    (row, _) = world.storage.rows["jobs"]["demo", "render"]
    assert row["dirty"]
    job.delete_task("c", world.now())
    for _ in range(4):
        world.wait(61)
        world.poll()
    assert world.report("Render").verdict.level == "exact"


def a_faster_poll_while_another_generation_takes_over(world: World) -> None:
    """It confirms the old generation as of later, at any moment until the job's row is written."""
    for delay in range(25, 115, 3):
        job = world.create(f"Render-{delay}", "a", "b", "c")
        for number in (0, 1, 0):
            world.wait(61)
            world.poll(number)
        job.change("a", RUNNING, at=world.now(), lag=NO_TIME, skew=NO_TIME)
        world.service.count_lag = 600 * SECOND
        world.wait(1)
        world.poll()
        world.wait(61)
        world.loop.call_later(24, setattr, world.service, "count_lag", NO_TIME)  # when the counts have differed twice
        world.poll_both((1, 0), delay=delay, storage_takes=(3, 0))
        job.deleted = world.now()
        world.wait(1)
        world.poll(full=True)


def a_page_received_after_a_later_one(world: World) -> None:
    job = world.create("Render", "a", "b")
    world.wait(60)
    for call in range(1, 10):
        job.change("b", (ACTIVE, RUNNING)[call % 2], at=world.now(), lag=NO_TIME, skew=NO_TIME)
        world.wait(1)
        world.poll()
        job.change("a", RUNNING, at=world.now(), lag=NO_TIME, skew=NO_TIME)
        job.change("a", COMPLETED, at=world.now() + 61 * SECOND, lag=NO_TIME, skew=NO_TIME)
        world.poll_both((40, 0), delay=63, fault=Fault(call, committed=True, kills=True))
        world.wait(60)


def a_list_that_lost_a_job(world: World) -> None:
    world.create("Render", "a")
    world.wait(1)
    world.poll()
    world.service.hidden.add("Render")
    world.wait(60)
    world.poll(full=True)


def a_job_created_anew(world: World) -> None:
    job = world.create("Render", "a", "b")
    world.wait(60)
    world.poll()
    job.deleted = world.now() + SECOND
    world.wait(2)
    world.create("Render", "c")
    world.wait(60)
    world.poll()


def a_job_created_anew_behind_the_list(world: World) -> None:
    """The job is re-created between the list of jobs and its task list: first unknown, then known by the same ids."""
    for known in (False, True):
        name = f"Render-{known}"
        job = world.create(name, "a", "b")
        world.wait(60)
        if known:
            world.poll()
            world.wait(60)
        job.deleted = world.now() + 1.5 * SECOND
        world.truth.create(name, job.deleted).add("a", job.deleted)
        world.truth.jobs[name][-1].add("b" if known else "c", job.deleted)
        world.poll(takes=2)
        world.poll()


def a_report_after_the_end_of_its_job(world: World) -> None:
    job = world.create("Render", "a", "b")
    world.wait(60)
    job.change("a", RUNNING, at=world.now(), lag=NO_TIME, skew=NO_TIME)
    world.wait(1)
    world.poll()
    job.complete(world.now(), lag=20 * SECOND)
    for _ in range(4):
        world.wait(12)
        world.poll()


def a_report_that_comes_too_late(world: World) -> None:
    job = world.create("Render", "a", "b")
    world.wait(1)
    world.poll()
    job.drifts = True
    job.change("a", RUNNING, at=world.now(), lag=90 * SECOND, skew=NO_TIME)
    for _ in range(3):
        world.wait(61)
        world.poll()


def a_change_behind_a_slow_full_read(world: World) -> None:
    world.service.page_size = 1
    job = world.create("Render", "a", "b", "c")
    world.wait(1)
    job.change("a", RUNNING, at=world.now() + 90 * SECOND, lag=NO_TIME, skew=NO_TIME)
    world.service.count_lag = 3600 * SECOND
    world.poll(takes=40)
    world.poll()


def a_task_added_during_a_full_read(world: World) -> None:
    world.service.page_size = 2
    job = world.create("Render", *"bcdefg")
    for _ in range(3):
        world.wait(61)
        world.poll()
    job.delete_task("g", world.now())
    world.wait(61)
    world.poll()
    world.wait(61)
    job.add("a", world.now() + 440 * SECOND)
    world.poll_both((40, 1), delay=450)
    for _ in range(3):
        world.wait(61)
        world.poll()
    assert sorted(world.cached("Render")) == list("abcdef")


def a_death_at_every_call_of_a_long_read(world: World) -> None:
    world.service.page_size, world.service.short_read = 3, 5
    world.processes = [world.started(), world.started()]
    for call in range(3, 18):
        world.create(f"Render-{call}", *"abcdefghijklmnop")
        world.wait(61)
        world.poll()
        world.deliver(takes=1, fault=Fault(call, committed=True, kills=True))
        world.deliver_all()


def a_death_while_pages_come_beside_slow_writes(world: World) -> None:
    world.service.page_size, world.service.short_read = 1, 5
    world.processes = [world.started(), world.started()]
    for call in range(3, 18, 2):
        world.create(f"Render-{call}", *(f"{first}{second}" for first in "ab" for second in range(30)))
        world.wait(61)
        world.poll()
        world.processes[0].connection.latency = 2
        world.deliver(takes=1, fault=Fault(call, committed=True, kills=True))
        world.processes[0].connection.latency = 0
        world.deliver_all()


def a_long_read_that_two_processes_carry_on_in_turn(world: World) -> None:
    world.service.page_size, world.service.short_read = 3, 5
    world.processes = [world.started(), world.started()]
    job = world.create("Render", *(f"task-{number:03}" for number in range(40)))
    world.wait(61)
    world.poll()
    for number in range(40):
        world.deliver(who=number % 2, budget=2, takes=1)
    snapshot = world.report("Render").job.snapshot
    assert snapshot
    assert snapshot.counts == job.counts(world.now())


def a_change_behind_a_slow_long_read(world: World) -> None:
    world.service.page_size, world.service.short_read = 1, 5
    world.processes = [world.started(), world.started()]
    job = world.create("Render", *"abcdefghijklmnop")
    world.wait(61)
    world.poll()
    job.change("a", RUNNING, at=world.now() + 100 * SECOND, lag=NO_TIME, skew=NO_TIME)
    world.deliver(takes=20)


def a_change_that_shows_late_during_a_long_read(world: World) -> None:
    """Its stamp is older than the read, and it is visible after its task was listed."""
    world.service.page_size, world.service.short_read = 1, 5
    world.processes = [world.started(), world.started()]
    job = world.create("Render", *"abcdefghijklmnop")
    world.wait(61)
    world.poll()
    job.change("a", RUNNING, at=world.now(), lag=30 * SECOND, skew=NO_TIME)
    world.deliver(takes=16)


def a_job_that_is_listed_late(world: World) -> None:
    world.create("Render", "a")
    world.wait(60)
    world.poll()
    world.truth.listed_late = 29 * SECOND
    world.create("Other", "a")
    for _ in range(3):
        world.wait(20)
        world.poll()
    assert "Other" in world.reports()


def a_death_at_every_call_where_no_count_moves(world: World) -> None:
    """Tasks fail again with another exit code, which only the summaries show."""
    names = [f"Task-{number:02}" for number in range(13)]
    job = world.create("Render", *names)
    for name in names:
        job.change(name, COMPLETED, at=world.now(), lag=NO_TIME, skew=NO_TIME, code=1)
    world.wait(61)
    world.poll()
    for call, name in enumerate(names, start=1):
        world.wait(61)
        job.change(name, COMPLETED, at=world.now(), lag=NO_TIME, skew=NO_TIME, code=1 + call)
        world.wait(1)
        world.poll(fault=Fault(call=call, committed=True, kills=True))
        world.wait(1)
        assert world.poll(1)
