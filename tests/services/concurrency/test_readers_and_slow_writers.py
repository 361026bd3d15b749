"""Reports of one process while another writes, and reports after a slow writer finishes."""

import asyncio

import pytest

from shared.domain.reports.reports import JobReport
from shared.services.queries.queries import Queries
from tests.services.worlds.telling import polled_for_a_while, verdict
from tests.services.worlds.world import SECOND, World


def assert_right_if_exact(world: World, report: JobReport, since_the_last_change: float) -> None:
    """Asserts that a report which is exact as of a time after the last change has the true counts."""
    snapshot, job = report.job.snapshot, world.truth.jobs["Render"][-1]
    if snapshot is None or report.verdict.level != "exact":
        return
    if (world.now() - snapshot.as_of).total_seconds() < since_the_last_change:
        assert snapshot.counts == job.counts(world.now())


@pytest.mark.parametrize("one", [True, False], ids=["one job", "the list"])
@pytest.mark.parametrize("later", [0.5, 1.5, 2.5, 3.5, 4.5, 5.5])
def test_a_reader_never_dates_old_counts_with_a_new_confirmation(world: World, later: float, *, one: bool) -> None:
    """Another process writes new counts and confirms them between two row reads of the reader."""
    job = world.create("Render", "a", "b")
    polled_for_a_while(world)
    job.add("c", world.now() + SECOND)
    world.wait(61)
    reader, writer = world.started(), world.processes[0]
    reader.connection.latency = 2

    async def read_amid_polls() -> JobReport:
        queries = reader.queries
        reading = asyncio.create_task(queries.job("demo", "Render") if one else _first(queries))
        await asyncio.sleep(later)
        await writer.poll()
        await writer.poll()
        return await reading

    assert_right_if_exact(world, world.run(read_amid_polls()), since_the_last_change=60)


async def _first(queries: Queries) -> JobReport:
    return (await queries.jobs("demo"))[0]


def test_a_slow_writers_counts_are_not_confirmed_by_a_faster_one(world: World) -> None:
    """One process lists a task and stalls, the task is deleted, and another confirms the counts without it."""
    job = world.create("Render", "a", "b")
    polled_for_a_while(world)
    world.poll(1)
    slow, fast = world.processes[1], world.processes[0]
    job.add("c", world.now() + SECOND)
    world.wait(61)

    async def overtaken() -> None:
        slow.connection.latency = 20
        asked = len(slow.batch.requests)
        writing = asyncio.create_task(slow.poll())
        for _ in range(1000):
            if "jobs/Render/counts" in slow.batch.requests[asked:]:
                break
            await asyncio.sleep(0.5)
        await asyncio.sleep(1)
        job.delete_task("c", world.now())
        await asyncio.sleep(1)
        await fast.poll()
        await fast.poll()
        await writing

    world.run(overtaken())
    slow.connection.latency = 0
    report = world.report("Render")
    deleted = job.tasks["c"].deleted
    assert deleted
    assert_right_if_exact(world, report, since_the_last_change=(world.now() - deleted).total_seconds())
    for _ in range(3):
        world.wait(61)
        world.poll()
    assert verdict(world, "Render").level == "exact"
    assert sorted(world.cached("Render")) == ["a", "b"]
