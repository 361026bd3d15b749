"""Short queries that tests make of a world."""

from collections.abc import Callable

from shared.domain.jobs.verdicts import Verdict
from shared.domain.polling.rounds import Round
from tests.services.worlds.world import World


def requests_of(world: World, work: Callable[[], object]) -> list[str]:
    """Returns the requests to Batch during the work."""
    before = len(world.processes[0].batch.requests)
    work()
    return world.processes[0].batch.requests[before:]


def last_round(world: World) -> Round:
    last = world.run(world.started().round_store.load("demo"))
    assert last is not None
    return last


def verdict(world: World, name: str) -> Verdict:
    return world.report(name).verdict


def polled_for_a_while(world: World) -> None:
    for _ in range(3):
        world.wait(61)
        world.poll()
