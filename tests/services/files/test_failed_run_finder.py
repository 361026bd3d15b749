"""Walks over failed tasks that end in time and go on in the next pass."""

from dataclasses import replace
from datetime import timedelta

from shared.domain.jobs.jobs import Job
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.kept_outputs import JobOutputs, OutputMark
from shared.domain.outputs.output_limits import OutputLimits
from shared.domain.tasks.tasks import COMPLETED, FAILURE
from shared.services.files.failed_run_finder import FailedRunFinder
from shared.services.tasks.leaf_reader import LeafReader
from tests.services.counters.test_scenarios import move, polled
from tests.services.fakes.truth import TrueJob, milliseconds
from tests.services.worlds.world import World

TASKS = "abcdefghijkl"
LIMITS = OutputLimits({"": timedelta(days=30)}, {"": 10**9}, {"": 60}, {"": 5})
OVER = -1.0  # a deadline that has passed, in loop time


def _fail(world: World, job: TrueJob, name: str) -> None:
    """Each task fails with an exit code of its own, so that all of them are wanted."""
    now, code = milliseconds(world.now()), 1 + TASKS.index(name)
    move(world, job, name, state=COMPLETED, result=FAILURE, start=now, end=now, exit_code=code, node=("pool", "n1"))


def _found(world: World, finder: FailedRunFinder, job: Job, stored: JobOutputs) -> tuple[list[FailedRun], bool, int]:
    """Returns what one pass finds, whether its walk reached the end, and which end the mark may move on to."""
    walk = finder.take_walk("demo", job, world.now())
    found = world.run(finder.find("demo", job, stored, walk, since=stored.mark.begins(world.now()), deadline=OVER))
    is_whole = walk.rest is None
    if not is_whole:
        finder.put_back("demo", job, walk)
    return found, is_whole, walk.since(stored.mark)


def test_a_walk_without_time_goes_on_where_the_last_one_ended(world: World) -> None:
    truth = world.create("Render", *TASKS)
    for name in TASKS:
        _fail(world, truth, name)
    newest = milliseconds(world.now())
    polled(world)
    process = world.started()
    finder = FailedRunFinder(LeafReader(process.queries, process.cache), LIMITS)
    job, stored, passes, is_whole = world.report("Render").job, JobOutputs(OutputMark(truth.created)), 0, False
    while not is_whole:
        runs, is_whole, since = _found(world, finder, job, stored)
        stored, passes = replace(stored, kept=(*stored.kept, *runs)), passes + 1
    assert sorted(run.task for run in stored.kept) == list(TASKS)
    assert (passes, since) == (len(TASKS) // 4, newest + 1)


def test_failures_in_parts_that_a_long_walk_has_passed_are_found_by_the_next_one(world: World) -> None:
    truth = world.create("Render", *TASKS)
    _fail(world, truth, "l")
    _fail(world, truth, "e")
    _fail(world, truth, "b")
    polled(world)
    process = world.started()
    finder = FailedRunFinder(LeafReader(process.queries, process.cache), LIMITS)
    job, stored = world.report("Render").job, JobOutputs(OutputMark(truth.created))
    began = milliseconds(world.now())
    first, is_whole, _ = _found(world, finder, job, stored)
    assert ([run.task for run in first], is_whole) == (["b"], False)
    world.wait(3600)
    _fail(world, truth, "a")
    _fail(world, truth, "k")
    polled(world)
    stored = replace(stored, kept=tuple(first))
    while not is_whole:
        more, is_whole, since = _found(world, finder, job, stored)
        stored = replace(stored, kept=(*stored.kept, *more))
    assert sorted(run.task for run in stored.kept) == ["b", "e", "k", "l"]
    assert since <= began
    last, _, _ = _found(world, finder, job, replace(stored, mark=replace(stored.mark, since=since)))
    assert [run.task for run in last] == ["a"]
