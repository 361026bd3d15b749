"""Three processes look at the same job, pool or schedule at once, as slow as chance has it: `asOf` never goes back.

Worlds are made from their numbers, so that a planted bug shows in the same ones each time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from random import Random
from typing import Any

import pytest

from shared.domain.pictures import Picture
from shared.domain.pools import Pool, PoolConfirmation
from shared.domain.schedule_rounds import ScheduleRound
from shared.domain.schedules import Schedule
from tests.services.mutants import confirmed_in_its_own_version
from tests.services.pool_world import PoolWorld
from tests.services.schedule_world import ScheduleWorld
from tests.services.truth import ACTIVE, RUNNING
from tests.services.world import SECOND, World

WATCHED = 150  # seconds
NO_TIME = 0 * SECOND

type AnyWorld = World | PoolWorld | ScheduleWorld


def overlap(
    world: AnyWorld, chance: Random, look: Callable[[Any], Awaitable[object]], change: Callable[[], None]
) -> None:
    """Three looks begin within 40 s, each of whose calls take up to 16 s; what they look at changes a few times."""

    async def slow(process: Any) -> None:
        process.batch.latency, process.connection.latency = chance.choice((1, 2, 6, 16)), chance.choice((0, 0, 2, 5))
        await asyncio.sleep(chance.uniform(0, 40))
        world.loop.call_later(chance.uniform(0, 30), setattr, process.connection, "latency", chance.choice((0, 5, 12)))
        await look(process)

    for _ in range(chance.choice((2, 3, 4))):
        world.loop.call_later(chance.uniform(0, 60), change)
    looks = [slow(process) for process in (*world.processes, world.started())]

    async def run() -> None:
        await asyncio.gather(*looks, world.watch(WATCHED))

    world.run(run())


def over_a_job(world: World, chance: Random) -> None:
    job = world.create("Render", "a", "b")
    for _ in range(chance.choice((1, 2, 3))):
        world.poll()
        world.wait(60)

    def change() -> None:
        state = chance.choice((ACTIVE, RUNNING))
        job.change(chance.choice("ab"), state, at=world.now(), lag=chance.choice((0, 5)) * SECOND, skew=NO_TIME)

    overlap(world, chance, lambda process: process.poll(), change)


def over_a_pool(world: PoolWorld, chance: Random) -> None:
    pool = world.create("Alpha", 2)
    world.change_node(pool, "tvm-001", "running", slots=1)
    for who in (0, 1, 0):
        world.poll(who)
        world.wait(60)

    def change() -> None:
        world.change_node(pool, "tvm-001", "running", slots=chance.choice((1, 2)))

    overlap(world, chance, lambda process: process.rounds.run(lambda: True), change)


def over_a_schedule(world: ScheduleWorld, chance: Random) -> None:
    world.create("Alpha")
    world.look()
    world.wait(60)

    def change() -> None:
        is_on = world.service.there["alpha"].state == "active"
        world.change(
            "Alpha",
            **({"state": "disabled" if is_on else "active"} if chance.random() < 0.7 else {"display_name": "x"}),
        )

    overlap(world, chance, lambda process: process.rounds.run(world.heard_of, lambda: True), change)


def pool_in_its_own_version(pool: Pool, confirmation: PoolConfirmation | None) -> Pool:
    return REAL_POOL(pool, confirmation if confirmation and confirmation.version == pool.version else None)


def schedule_in_its_own_version(last: ScheduleRound, schedule: Schedule) -> Any:
    written = schedule.written_as_of or schedule.seen_at
    held, held_at = last.holding().get(schedule.key, ("", written))
    return max(held_at, written) if held == schedule.version else written


REAL_POOL = Pool.confirmed
KINDS = [
    pytest.param(World, over_a_job, (Picture, "confirmed", confirmed_in_its_own_version), id="job"),
    pytest.param(PoolWorld, over_a_pool, (Pool, "confirmed", pool_in_its_own_version), id="pool"),
    pytest.param(
        ScheduleWorld, over_a_schedule, (ScheduleRound, "as_of_schedule", schedule_in_its_own_version), id="schedule"
    ),
]
WORLDS = range(80)


def make_worlds(kind: type[AnyWorld], overlapping: Callable[[Any, Random], None]) -> None:
    for number in WORLDS:
        with closing(kind()) as world:
            overlapping(world, Random(number))  # noqa: S311  # the same each time


@pytest.mark.parametrize(("world", "overlapping"), [pytest.param(*kind.values[:2], id=kind.id) for kind in KINDS])
def test_as_of_never_goes_back(world: type[AnyWorld], overlapping: Callable[[Any, Random], None]) -> None:
    make_worlds(world, overlapping)


@pytest.mark.parametrize(("world", "overlapping", "bug"), KINDS)
def test_confirmations_that_count_for_their_own_version_alone_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
    world: type[AnyWorld],
    overlapping: Callable[[Any, Random], None],
    bug: tuple[type, str, object],
) -> None:
    monkeypatch.setattr(*bug)
    with pytest.raises(AssertionError, match="is said to be as of"):
        make_worlds(world, overlapping)
