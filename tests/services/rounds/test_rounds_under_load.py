"""Rounds with more work than time: every known job is polled all the same, and every job finishes."""

from datetime import timedelta

import pytest

from tests.services.fakes.truth import COMPLETED, RUNNING
from tests.services.worlds.process import INTERVAL
from tests.services.worlds.telling import polled_for_a_while, verdict
from tests.services.worlds.world import SECOND, START, World

BUDGET = 45 * SECOND
NOW = timedelta()
TO_END = 60  # seconds


def slow_round(world: World, *, takes: float, storage_takes: float = 0) -> float:
    """Runs one process's round, where each call to Batch takes `takes` seconds; returns its duration in seconds."""
    process, began = world.processes[0], world.loop.time()
    process.batch.latency, process.connection.latency = takes, storage_takes
    world.run(process.rounds.run_if_due(INTERVAL, budget=BUDGET))
    process.batch.latency, process.connection.latency = 0, 0
    world.messages += [message for message in process.polling.take_messages() if message.job]
    return world.loop.time() - began


def test_known_jobs_are_asked_however_many_new_ones_there_are(world: World) -> None:
    """There are more first reads, of four pages each, than several rounds have time for."""
    world.service.page_size = 5
    known = [f"Known-{number}" for number in range(20)]
    for name in known:
        world.create(name, "a")
    polled_for_a_while(world)
    for number in range(60):
        world.create(f"New-{number:02}", *(f"task-{task:02}" for task in range(18)))
    process = world.processes[0]
    process.batch.latency = 1.5
    for _ in range(5):
        world.wait(61)
        world.run(process.rounds.run_if_due(INTERVAL, budget=BUDGET, from_queue=True))
        reports = world.reports()
        t0 = process.batch.list_date
        assert t0
        assert all((reports[name].verdict.checked_at or START) >= t0 for name in known)
    assert all(report.job.snapshot for report in reports.values())


def test_a_first_read_that_outlasts_its_round_by_far_goes_on_in_the_queue(world: World) -> None:
    world.service.page_size = 1
    job = world.create("Render", *(f"task-{number:02}" for number in range(30)))
    world.wait(61)
    assert slow_round(world, takes=10) <= BUDGET.total_seconds() + TO_END + 1
    assert [message.job for message in world.messages] == ["Render"]
    world.deliver_all()
    world.wait(61)
    world.poll()
    assert verdict(world, "Render").level == "exact"
    snapshot = world.report("Render").job.snapshot
    assert snapshot
    assert snapshot.counts == job.counts(world.now())


@pytest.mark.parametrize("takes", range(6, 40, 3))
@pytest.mark.parametrize("storage_takes", [0.5, 5])
def test_a_poll_may_be_broken_off_anywhere(world: World, takes: int, storage_takes: float) -> None:
    """Later polls find the truth, for any cached state of the process."""
    names = [f"task-{number:02}" for number in range(12)]
    job = world.create("Render", *names)
    polled_for_a_while(world)
    for name in names[::2]:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    job.delete_task(names[-1], world.now())
    for _ in range(3):
        world.wait(61)
        job.change(names[0], COMPLETED, at=world.now(), lag=NOW, skew=NOW)
        lasted = slow_round(world, takes=takes, storage_takes=storage_takes)
        assert lasted <= BUDGET.total_seconds() + TO_END + 4 * storage_takes + 1
        world.check(done=False, full=False, processes=[])
    for _ in range(5):
        while world.messages:
            world.deliver(who=1)
        world.wait(200)
        world.poll()
    world.deliver_all()
    assert verdict(world, "Render").level == "exact"
    snapshot = world.report("Render").job.snapshot
    assert snapshot
    assert snapshot.counts == job.counts(world.now())
