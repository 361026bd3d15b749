"""Long reads that several hosts continue in turn, of jobs too large for Get Task Counts to reveal errors."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, override

import pytest

from shared.domain.reads.read_plans import ReadPlan
from shared.services.reading import comparison
from shared.stores.batch.batch import TaskPage
from shared.stores.jobs.jobs import generation_partition
from tests.services.fakes.fake_batch import FakeBatch
from tests.services.fakes.memory_tables import ProcessDiedError
from tests.services.fakes.truth import RUNNING, TrueJob, counted
from tests.services.worlds.process import Recipe
from tests.services.worlds.telling import polled_for_a_while
from tests.services.worlds.world import SECOND, World

NOW = 0 * SECOND
NAMES = [f"task-{number:03}" for number in range(40)]
JOB = "Render"


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Pages have three tasks; a round may read ten; Get Task Counts is ignored above twenty tasks."""
    monkeypatch.setattr(comparison, "VALIDATED_TASKS", 20)
    world = World()
    world.service.page_size, world.service.short_read = 3, 10
    world.processes = [world.started(), world.started()]
    yield world
    world.close()


def left_to_the_queue(world: World) -> TrueJob:
    job = world.create(JOB, *NAMES)
    world.wait(61)
    world.poll()
    return job


def mapping_of(world: World) -> ReadPlan | None:
    process = world.started()
    job = world.run(process.jobs.load("demo", JOB))
    assert job
    generation = job.building or (job.snapshot.generation if job.snapshot else "")
    return world.run(process.plans.load(generation_partition("demo", job.key, generation)))


def assert_right(world: World, job: TrueJob) -> None:
    snapshot = world.report(JOB).job.snapshot
    assert snapshot
    assert counted(world.cached(JOB).values()) == job.counts(world.now())
    assert snapshot.counts == job.counts(world.now())


def test_a_delta_goes_on_from_the_leaves_as_another_host_left_them(world: World) -> None:
    job = left_to_the_queue(world)
    world.deliver(who=1)  # which remembers all leaves since
    polled_for_a_while(world)
    for name in (*NAMES[:12], *NAMES[30:]):
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    world.poll()  # ingests their first part
    plan = mapping_of(world)
    assert plan
    assert plan.tasks >= 10
    world.deliver(who=1)
    assert_right(world, job)


@pytest.mark.parametrize("budget", [1, 2, 3, 5])
def test_a_first_read_goes_on_from_the_leaves_as_another_host_left_them(world: World, budget: int) -> None:
    job = left_to_the_queue(world)
    for number in range(40):
        world.deliver(who=number % 2, budget=budget, takes=1)
    assert not world.messages
    assert_right(world, job)


@pytest.mark.parametrize("budget", [2, 4, 6])
def test_a_job_that_is_created_anew_is_never_served_with_tasks_of_the_one_before(world: World, budget: int) -> None:
    job = left_to_the_queue(world)
    world.deliver(budget=budget, takes=1)
    job.deleted = world.now()
    anew = world.truth.create(JOB, world.now())
    for name in NAMES[:25]:
        anew.add(name, world.now())
    world.wait(61)
    world.deliver_all()
    report = world.report(JOB)
    assert report.job.facts.creation_time == anew.created
    assert_right(world, anew)


class ReversedBatch(FakeBatch):
    """Returns pages in an unpredictable order."""

    @override
    async def fetch_task_page(self, *arguments: Any, **details: Any) -> TaskPage:
        page = await super().fetch_task_page(*arguments, **details)
        return replace(page, tasks=page.tasks[::-1])


def test_a_list_in_no_order_that_comes_slowly_is_stored_before_it_is_long(world: World) -> None:
    world.recipe = Recipe(batch=ReversedBatch)
    world.processes = [world.started(), world.started()]
    left_to_the_queue(world)
    dying = world.processes[0]
    dying.batch.latency = 5

    async def killed() -> None:
        work = asyncio.create_task(dying.queued.run(JOB, budget=timedelta(days=1)))
        await asyncio.sleep(60)
        dying.connection.dead = True
        with suppress(ProcessDiedError):
            await work

    world.run(killed())
    plan = mapping_of(world)
    assert plan
    assert plan.tasks >= 18
