"""A difference between a finalized job's counts and the service's is kept, for any poll and time that finds it."""

import asyncio
from collections.abc import Callable

import pytest

from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import Job
from shared.domain.jobs.snapshots import JobSnapshot
from shared.services.reading.task_poll import PollResult, TaskPoll
from tests.services.fakes.truth import TrueJob
from tests.services.worlds.process import BUDGET
from tests.services.worlds.world import SECOND, World

NO_TIME = 0 * SECOND


def completed(world: World) -> TrueJob:
    job = world.create("Render", "a", "b", "c")
    for _ in range(3):
        world.poll()
        world.wait(61)
    job.complete(world.now(), lag=NO_TIME)
    return job


def check_that_the_deletion_counts(world: World) -> None:
    for process in world.processes:
        process.batch.latency = process.connection.latency = 0
    for _ in range(3):
        world.wait(61)
        world.poll()
    report = world.report("Render")
    assert report.job.snapshot
    assert (report.verdict.level, report.job.snapshot.counts.total, report.job.finalized) == ("exact", 2, True)


def found_by_a_poll_on_demand(world: World) -> None:
    job = completed(world)
    for _ in range(2):
        world.wait(61)
        world.poll()
    assert world.report("Render").job.finalized
    job.delete_task("b", world.now())
    world.wait(61)
    world.run(world.processes[0].rounds.run_now([key_of("Render")], budget=BUDGET))
    assert world.report("Render").verdict.level != "exact"


def found_while_another_poll_seals(world: World) -> None:
    """The slower poll finds differing counts as of later than the finalization."""
    job = completed(world)
    world.wait(35)
    sealing, differing = world.processes
    sealing.batch.latency, sealing.connection.latency, differing.batch.latency = 6, 1, 1

    async def later() -> None:
        await asyncio.sleep(1)
        await differing.poll()

    async def deleted() -> None:
        await asyncio.sleep(5)
        job.delete_task("b", world.now())

    async def run() -> None:
        await asyncio.gather(sealing.poll(), later(), deleted(), world.watch(60))

    world.run(run())


def found_as_of_the_second_of_the_seal(world: World) -> None:
    job = completed(world)
    world.wait(60)
    sealing, differing = world.processes

    async def slow() -> None:
        differing.batch.latency = 0.9
        task = asyncio.create_task(differing.poll())
        await asyncio.sleep(0.95)
        differing.batch.latency = 12
        await task

    async def deleted() -> None:
        await asyncio.sleep(4)
        job.delete_task("b", world.now())

    async def run() -> None:
        sealing.batch.latency = 0.5
        await asyncio.gather(sealing.poll(), slow(), deleted())

    world.run(run())


WAYS = [found_by_a_poll_on_demand, found_while_another_poll_seals, found_as_of_the_second_of_the_seal]


@pytest.mark.parametrize("found", WAYS)
def test_a_difference_of_a_sealed_job_is_kept(world: World, found: Callable[[World], None]) -> None:
    found(world)
    check_that_the_deletion_counts(world)


async def only_confirmed(self: TaskPoll, job: Job, snapshot: JobSnapshot) -> PollResult:
    settled = self._sealed(job.with_snapshot(snapshot))
    if settled.finalized or job.dirty or snapshot.is_news(job.snapshot):
        return PollResult(await self._records.save(self._source.account.key, settled))
    return PollResult(settled, snapshot.confirmation)


@pytest.mark.parametrize("found", [found_by_a_poll_on_demand, found_as_of_the_second_of_the_seal])
def test_a_difference_that_is_only_confirmed_is_noticed(
    monkeypatch: pytest.MonkeyPatch, world: World, found: Callable[[World], None]
) -> None:
    monkeypatch.setattr(TaskPoll, "_settled", only_confirmed)
    with pytest.raises(AssertionError):
        test_a_difference_of_a_sealed_job_is_kept(world, found)
