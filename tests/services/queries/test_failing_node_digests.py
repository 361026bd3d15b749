"""When a job's leaves are read for nodes on which its tasks fail, in leaves of four tasks, and what is stored."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any, override

import pytest

from shared.domain.jobs.jobs import Job
from shared.services.queries.queries import Queries
from shared.services.tasks import failing_node_digests
from shared.services.tasks.failing_node_digests import FailingNodeDigests
from shared.services.tasks.leaf_reader import LeafReader
from tests.services.fakes.truth import COMPLETED, TrueJob, milliseconds
from tests.services.worlds.process import Process
from tests.services.worlds.telling import polled_for_a_while
from tests.services.worlds.world import World

NAMES = [f"task-{number:03}" for number in range(340)]
BAD, SOUND, BESIDE = 3, 15 * 7, 5


class InlineExecutor(ThreadPoolExecutor):
    """Runs work at once, as virtual time doesn't wait for threads."""

    @override
    def submit[**P, T](self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done = Future[T]()
        done.set_result(fn(*args, **kwargs))
        return done


class CountingReader(LeafReader):
    """Counts walks."""

    walks = 0

    @override
    async def _plan(self, *args: Any) -> Any:
        self.walks += 1
        return await super()._plan(*args)


def end(world: World, job: TrueJob, name: str, node: int, *, code: int = 0) -> None:
    """Ends a task on a node by its number below seven, which follows from the stamp."""
    skew = timedelta(milliseconds=(node - milliseconds(world.now())) % 7)
    job.change(name, COMPLETED, at=world.now(), lag=timedelta(), skew=skew, code=code)


def digests_of(process: Process) -> tuple[FailingNodeDigests, CountingReader]:
    walk = CountingReader(Queries(process.registry, process.stores), process.cache)
    return FailingNodeDigests(process.registry, walk, process.jobs, process.records), walk


def looked(world: World, digests: FailingNodeDigests) -> Job:
    """Looks at the job as polled; returns it as stored afterwards."""
    world.run(digests.refresh({"demo": [world.report("Render").job]}))
    return world.report("Render").job


def staged(world: World, failed: int) -> TrueJob:
    """Runs 15 sound tasks on each node, and failing ones on one."""
    world.loop.set_default_executor(InlineExecutor())
    job = world.create("Render", *NAMES)
    polled_for_a_while(world)
    for number, name in enumerate(NAMES[:SOUND]):
        end(world, job, name, number % 7)
    fail(world, job, 0, failed)
    return job


def fail(world: World, job: TrueJob, first: int, number: int, node: int = BAD) -> None:
    """Ends so many failing tasks on a node, after each five sound ones on other nodes at the same time."""
    for at in range(first, first + number):
        name, *beside = NAMES[SOUND + at * (1 + BESIDE) :][: 1 + BESIDE]
        end(world, job, name, node, code=3)
        for other, sound in enumerate(beside, node + 1):
            end(world, job, sound, other % 7)
    polled_for_a_while(world)


def fail_alone(world: World, job: TrueJob) -> None:
    """Ends the next eight tasks, which fail, on one node; the others run none at that time."""
    for name in NAMES[SOUND : SOUND + 8]:
        end(world, job, name, BAD, code=3)
    polled_for_a_while(world)


def test_three_failed_tasks_cost_nothing_and_more_name_their_node(world: World) -> None:
    job, (digests, walk) = staged(world, 3), digests_of(world.started())
    assert looked(world, digests).failing_nodes is None
    assert walk.walks == 0
    fail(world, job, 3, 5)
    found = looked(world, digests).failing_nodes
    assert found is not None
    assert [(one.place[1], one.failed, one.ended) for one in found.nodes] == [(f"node-{BAD}", 8, 23)]
    assert (found.failed, found.is_part, walk.walks) == (8, False, 1)


def test_a_job_is_read_again_where_more_failed_and_three_minutes_have_passed(world: World) -> None:
    job, (digests, walk) = staged(world, 8), digests_of(world.started())
    looked(world, digests)
    world.wait(600)
    looked(world, digests)
    assert walk.walks == 1  # nothing failed since
    fail(world, job, 8, 2)
    looked(world, digests)
    assert walk.walks == 2
    job.change(NAMES[-1], COMPLETED, at=world.now(), lag=timedelta(), skew=timedelta(), code=3)
    world.wait(61)
    world.poll()
    looked(world, digests)
    assert walk.walks == 2  # too early
    world.wait(180)
    world.run(digests.refresh({}))
    assert walk.walks == 3
    found = world.report("Render").job.failing_nodes
    assert found is not None
    assert found.failed == 11


def test_a_restarted_host_reads_nothing_where_the_stored_nodes_are_those_of_all_failures(world: World) -> None:
    staged(world, 8)
    looked(world, digests_of(world.started())[0])
    digests, walk = digests_of(world.started())
    looked(world, digests)
    assert walk.walks == 0


def test_nodes_are_forgotten_once_tasks_fail_on_all_alike(world: World) -> None:
    job, (digests, _) = staged(world, 5), digests_of(world.started())
    assert looked(world, digests).failing_nodes is not None
    for number, name in enumerate(NAMES[SOUND + 5 * (1 + BESIDE) :]):
        end(world, job, name, number % 7, code=3)
    polled_for_a_while(world)
    assert looked(world, digests).failing_nodes is None


def test_a_sample_of_a_large_job_is_read_and_named_as_that(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    staged(world, 30)
    monkeypatch.setattr(failing_node_digests, "_MAX_TASKS", 100)
    found = looked(world, digests_of(world.started())[0]).failing_nodes
    assert found is not None
    assert found.is_part
    assert 4 <= found.nodes[0].failed < 30


def test_a_job_created_anew_has_none_of_the_nodes_before(world: World) -> None:
    job = staged(world, 8)
    assert looked(world, digests_of(world.started())[0]).failing_nodes is not None
    job.deleted = world.now()
    world.create("Render", *NAMES)
    world.wait(61)
    world.poll(full=True)
    assert world.report("Render").job.failing_nodes is None


def test_a_node_that_alone_ran_tasks_when_they_failed_is_not_named(world: World) -> None:
    fail_alone(world, staged(world, 0))
    digests, _ = digests_of(world.started())
    assert looked(world, digests).failing_nodes is None
