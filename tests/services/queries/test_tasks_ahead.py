"""Waiting tasks of more urgent jobs are counted only for an answer that shows an estimated end."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.domain.jobs.forecasts import forecast_of
from shared.domain.pools.machine_settings import MachineSettings, SchedulingPolicy
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import first_seen
from shared.domain.reports.reports import JobReport
from shared.services.tasks.leaf_reader import LeafReader
from shared.services.tasks.timelines import Timelines
from tests.services.fakes.truth import COMPLETED, RUNNING, TrueJob
from tests.services.worlds.process import Process
from tests.services.worlds.world import World

LATER, URGENT = "nightly:job-1", "urgent"


def change(world: World, job: TrueJob, names: list[str], state: int) -> None:
    for name in names:
        job.change(name, state, at=world.now(), lag=timedelta(), skew=timedelta())


def staged(world: World, *, completes: bool = True, older: bool = False) -> Process:
    """Creates a job of a schedule with one running and nine waiting tasks, and a more urgent job of 40 in its pool.

    With `older` the other job is of the same priority, and was created before.
    """
    names = [f"t{number:02}" for number in range(15)]
    urgent = world.create(URGENT, *(f"u{number:02}" for number in range(40)))
    world.wait(1)
    later = world.create(LATER, *names)
    later.pool_id, urgent.pool_id, urgent.priority = "Render", "render", 0 if older else 10
    change(world, later, names[:6], RUNNING)
    world.wait(61)
    if completes:
        change(world, later, names[:5], COMPLETED)
    for _ in range(2):
        world.wait(61)
        assert world.poll()
    world.storage.queries.clear()
    return world.started()


def completion(report: JobReport) -> bool:
    """Returns True if an end is estimated."""
    forecast = forecast_of(report.job, report.verdict, tasks_ahead=report.tasks_ahead)
    assert forecast
    return forecast.estimate.completion is not None


def test_an_estimated_end_is_taken_back_where_more_urgent_tasks_wait(world: World) -> None:
    process = staged(world)
    alone = world.run(process.queries.job_with_forecast("demo", LATER))
    assert (alone.tasks_ahead, completion(alone)) == (40, False)
    assert world.storage.queries.count("jobs") == 1
    listed = {report.job.facts.id: report for report in world.run(process.queries.jobs("demo"))}
    assert listed[LATER] == alone


@pytest.mark.parametrize(("order", "ahead"), [("creationtime", 40), ("none", 0), (None, 0)])
def test_an_estimated_end_is_taken_back_where_older_tasks_wait_that_the_pool_takes_first(
    world: World, order: str | None, ahead: int
) -> None:
    process = staged(world, older=True)

    async def save_pool() -> None:
        policy = SchedulingPolicy(job_default_order=order)
        facts = PoolFacts("Render", world.now(), "active", world.now(), "standard_d2s_v5")
        settings = MachineSettings(task_scheduling_policy=policy) if order else None
        await process.stores.pools.save_all("demo", [first_seen(replace(facts, settings=settings), world.now())])

    world.run(save_pool())
    alone = world.run(process.queries.job_with_forecast("demo", LATER))
    assert (alone.tasks_ahead, completion(alone)) == (ahead, not ahead)
    listed = {report.job.facts.id: report for report in world.run(process.queries.jobs("demo"))}
    assert listed[LATER] == alone
    assert listed[URGENT].tasks_ahead == 0


def test_a_job_without_an_estimated_end_is_answered_without_a_query_for_other_jobs(world: World) -> None:
    process = staged(world, completes=False)
    report = world.run(process.queries.job_with_forecast("demo", LATER))
    assert report.job.snapshot
    assert report.job.snapshot.counts.active == 9
    assert (report.tasks_ahead, completion(report)) == (None, False)
    assert "jobs" not in world.storage.queries


def test_details_of_a_job_are_answered_without_a_query_for_other_jobs(world: World) -> None:
    process = staged(world)

    async def ask() -> int:
        await process.queries.failures("demo", LATER)
        await process.queries.require_groups("demo", LATER, ())
        timelines = Timelines(process.queries, LeafReader(process.queries, process.cache))
        await timelines.timeline("demo", LATER, start=None, end=None)
        assert completion(await process.queries.job("demo", LATER))
        found = process.task_queries.named("demo", LATER, {f"t{number:02}" for number in range(15)})
        return len(await found)

    assert world.run(ask()) == 15
    assert "jobs" not in world.storage.queries


def test_jobs_of_one_schedule_have_no_number_of_tasks_ahead(world: World) -> None:
    """More urgent jobs beside them weren't read."""
    process = staged(world)
    (report,) = world.run(process.queries.jobs("demo", schedule="nightly"))
    assert (report.job.facts.id, report.tasks_ahead) == (LATER, None)
