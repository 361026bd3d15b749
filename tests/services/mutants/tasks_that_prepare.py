"""A job with a preparing task, which only a list of many pages distinguishes from a running one."""

from datetime import timedelta

from shared.services.reading.read_state import SHORT_LIST
from tests.services.fakes.truth import PREPARING, RUNNING
from tests.services.worlds.telling import polled_for_a_while, verdict
from tests.services.worlds.world import World

JOB = "Render"
NAMES = [f"task-{number:03}" for number in range(3 * SHORT_LIST)]


def more_pages_of_preparing_tasks_than_a_round_reads(world: World) -> None:
    """The job is exact for hours without a full read, as Get Task Counts sums running and preparing tasks."""
    now = timedelta()
    world.service.page_size = len(NAMES)
    job = world.create(JOB, *NAMES)
    job.change(NAMES[0], PREPARING, at=world.now(), lag=now, skew=now)
    polled_for_a_while(world)
    world.service.page_size = 1
    job.change(NAMES[1], RUNNING, at=world.now(), lag=now, skew=now)
    for _ in range(60):
        world.wait(61)
        world.poll()
        world.deliver_all()
    assert verdict(world, JOB).level == "exact"
    assert verdict(world, JOB).source == "delta"
