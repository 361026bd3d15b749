"""Ends of retried runs stay with the leaves of a job, whichever generation is served."""

from datetime import timedelta

from shared.domain.tasks.tasks import ACTIVE
from shared.services.tasks.leaf_reader import LeafReader
from tests.services.counters.test_scenarios import OVERLAP_AND_MORE, move, polled, start
from tests.services.fakes.truth import TrueJob, milliseconds
from tests.services.worlds.world import World


def _retry(world: World, job: TrueJob, name: str, late: int = 0) -> int:
    """Ends a run that Batch repeats, and returns when."""
    move(world, job, name, late, state=ACTIVE, start=0, retries=1)
    return milliseconds(world.now())


def _ends(world: World) -> dict[tuple[str, int], int]:
    async def read() -> dict[tuple[str, int], int]:
        process = world.started()
        leaves = LeafReader(process.queries, process.cache).slices("demo", "Render")
        return {run: end async for part in leaves for run, end in part.leaf.run_ends.times.items()}

    return world.run(read())


def test_a_new_generation_has_the_ends_that_polls_saw_also_of_deleted_tasks_and_those_that_they_missed(
    world: World,
) -> None:
    job = world.create("Render", *"abcdef")
    for name in "abc":
        start(world, job, name)
    polled(world)
    ends = {("a", 0): _retry(world, job, "a"), ("b", 0): _retry(world, job, "b")}
    polled(world)
    assert _ends(world) == ends
    before = world.report("Render").job.snapshot
    world.wait(30)
    start(world, job, "a")
    move(world, job, "a", state=ACTIVE, start=0)  # its node was preempted
    for name in "bf":
        job.delete_task(name, world.now())
    job.drifts = True
    ends["c", 0] = _retry(world, job, "c", late=OVERLAP_AND_MORE)
    polled(world, 6)
    after = world.report("Render").job.snapshot
    assert before
    assert after
    assert after.generation != before.generation
    assert after.as_of - before.as_of > timedelta(seconds=OVERLAP_AND_MORE)
    assert _ends(world) == ends
