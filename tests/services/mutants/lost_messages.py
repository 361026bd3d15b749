"""A job too long for a round, and a lost message about it."""

from tests.services.worlds.telling import verdict
from tests.services.worlds.world import World

JOB = "Render"


def a_job_for_the_queue(world: World) -> None:
    """Creates a job that no round has seen."""
    world.service.page_size, world.service.short_read = 3, 10
    world.set_clocks(*(process.clock.ahead for process in world.processes))
    world.create(JOB, *(f"task-{number:03}" for number in range(40)))
    world.wait(61)


def a_lost_message(world: World) -> None:
    a_job_for_the_queue(world)
    world.poll()
    world.messages.clear()
    for _ in range(2):
        world.wait(61)
        world.poll(1)
    assert len(world.messages) == 1, "a message was lost, and nobody is told of the job"
    world.deliver_all()
    assert verdict(world, JOB).level != "catchingUp"
