"""What a replay reads of a job's cached tasks, in leaves of four tasks."""

from datetime import timedelta

from shared.services.efficiency.replay_evidence import ended_tasks
from shared.services.queries.queries import Queries
from shared.services.tasks.leaf_reader import LeafReader
from tests.services.fakes.truth import COMPLETED
from tests.services.worlds.telling import polled_for_a_while
from tests.services.worlds.world import World

NAMES = [f"task-{number:02}" for number in range(60)]


def test_all_ended_tasks_of_a_small_job_are_read_and_a_part_of_a_large_one(world: World) -> None:
    job = world.create("Render", *NAMES)
    polled_for_a_while(world)
    for name in NAMES[:50]:
        job.change(name, COMPLETED, at=world.now(), lag=timedelta(), skew=timedelta())
    polled_for_a_while(world)
    process = world.started()
    leaves = LeafReader(Queries(process.registry, process.stores), process.cache)

    def read(most: int) -> list[str]:
        return [task.id for task in world.run(ended_tasks(leaves, world.report("Render"), most))]

    assert read(60) == NAMES[:50]
    some = read(20)
    assert 0 < len(some) <= 24
    assert some[0] == NAMES[0]
    assert max(some) > NAMES[40]
