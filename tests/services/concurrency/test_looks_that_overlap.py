"""Three processes poll the same job, pool or schedule at random speeds: `asOf` never goes back.

All claims hold afterwards, and two rounds later every count is exact. Each world is generated from its number, so that
a planted bug shows in the same worlds each time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from random import Random
from typing import Any

import pytest

from shared.domain.core.keys import key_of
from shared.domain.jobs.snapshots import Agreement, JobSnapshot
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.pools.pools import Pool, PoolConfirmation
from shared.domain.schedules.schedules import Schedule
from tests.services.fakes.truth import ACTIVE, RUNNING
from tests.services.mutants.mutants import confirmed_in_its_own_version
from tests.services.worlds.pool_telling import level_of_nodes
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import BUDGET
from tests.services.worlds.schedule_world import ScheduleWorld
from tests.services.worlds.world import SECOND, World

WATCHED = 200  # seconds
NO_TIME = 0 * SECOND

type AnyWorld = World | PoolWorld | ScheduleWorld


def overlap(
    world: AnyWorld, chance: Random, look: Callable[[Any], Awaitable[object]], change: Callable[[], None]
) -> None:
    """Runs up to three polls per process, with calls of up to 16 s, and a few changes to the polled object."""

    async def looks(process: Any) -> None:
        for _ in range(chance.choice((1, 2, 3))):
            process.batch.latency = chance.choice((0, 1, 2, 6, 16))
            process.connection.latency = chance.choice((0, 0, 2, 5))
            await asyncio.sleep(chance.uniform(0, 40))
            await look(process)

    for _ in range(chance.choice((1, 2, 4))):
        world.loop.call_later(chance.uniform(0, 90), change)
    looking = [looks(process) for process in (*world.processes, world.started())]

    async def run() -> None:
        await asyncio.gather(*looking, world.watch(WATCHED))

    world.run(run())
    for process in world.processes:
        process.batch.latency = process.connection.latency = 0


def over_a_job(world: World, chance: Random) -> None:
    job = world.create("Render", "a", "b", "c")
    for _ in range(chance.choice((1, 2, 3, 5))):
        world.poll()
        world.wait(61)

    def change() -> None:
        if chance.random() < 0.2 and "b" in job.tasks:
            job.delete_task("b", world.now())
        elif chance.random() < 0.2 and not job.completed:
            job.complete(world.now(), lag=NO_TIME)
        elif not job.completed:
            state = chance.choice((ACTIVE, RUNNING))
            job.change(chance.choice("ac"), state, at=world.now(), lag=chance.choice((0, 5)) * SECOND, skew=NO_TIME)

    async def look(process: Any) -> None:
        asked_for = chance.random()
        if asked_for < 0.4:
            await process.rounds.run_now(None if asked_for < 0.2 else [key_of("Render")], budget=BUDGET)
        else:
            await process.poll()

    overlap(world, chance, look, change)
    world.check(done=False, full=False, processes=[])
    for _ in range(3):
        world.wait(61)
        world.poll()
    assert world.report("Render").verdict.level == "exact"


def over_a_pool(world: PoolWorld, chance: Random) -> None:
    pool = world.create("Alpha", 2)
    world.change_node(pool, "tvm-001", "running", slots=1)
    for who in (0, 1, 0):
        world.poll(who)
        world.wait(60)

    def change() -> None:
        world.change_node(pool, "tvm-001", "running", slots=chance.choice((1, 2)))

    overlap(world, chance, lambda process: process.poll(), change)
    world.check(fresh=[])
    for who in (0, 1):
        world.wait(60)
        world.poll(who)
    assert level_of_nodes(world) == "exact"


def over_a_schedule(world: ScheduleWorld, chance: Random) -> None:
    world.create("Alpha")
    world.look()
    world.wait(60)

    def change() -> None:
        there = world.service.there.get("alpha")
        if there is None:
            world.create("Alpha")
        elif chance.random() < 0.1:
            world.delete("Alpha")
        elif chance.random() < 0.7:
            world.change("Alpha", state="disabled" if there.state == "active" else "active")
        else:
            world.change("Alpha", display_name=chance.choice("xy"))

    overlap(world, chance, lambda process: process.rounds.run(world.heard_of, lambda: True), change)
    world.check()
    for who in (0, 1):
        world.wait(60)
        world.look((who, 0.0))
    known = world.known()
    assert not any(known.last and known.last.is_overtaken(one) for one in known.resources.values() if not one.deleted)


def make_worlds(kind: type[AnyWorld], overlapping: Callable[[Any, Random], None], numbers: Iterable[int]) -> None:
    for number in numbers:
        with closing(kind()) as world:
            overlapping(world, Random(number))  # noqa: S311  # the same each time


@pytest.mark.parametrize(
    ("kind", "overlapping"),
    [
        pytest.param(World, over_a_job, id="job"),
        pytest.param(PoolWorld, over_a_pool, id="pool"),
        pytest.param(ScheduleWorld, over_a_schedule, id="schedule"),
    ],
)
def test_as_of_never_goes_back(kind: type[AnyWorld], overlapping: Callable[[Any, Random], None]) -> None:
    make_worlds(kind, overlapping, range(50))


def its_own_agreement(later: Agreement, _earlier: Agreement, _as_of: object, *, same: bool) -> Agreement:
    assert same in {True, False}
    return later


def pool_in_its_own_version(pool: Pool, confirmation: PoolConfirmation | None) -> Pool:
    return REAL_POOL(pool, confirmation if confirmation and confirmation.version == pool.version else None)


def schedule_in_its_own_version(last: ScheduleRound, schedule: Schedule) -> Any:
    written = schedule.written_as_of or schedule.seen_at
    held, held_at = last.holding().get(schedule.key, ("", written))
    return max(held_at, written) if held == schedule.version else written


REAL_POOL = Pool.confirmed


@pytest.mark.parametrize(
    ("kind", "overlapping", "bug", "numbers"),
    [
        pytest.param(
            World,
            over_a_job,
            (JobSnapshot, "confirmed", confirmed_in_its_own_version),
            (50, 93, 111, 217),
            id="confirmations of a job count for their own version alone",
        ),
        pytest.param(
            World, over_a_job, (Agreement, "beside", its_own_agreement), (15, 17, 35), id="the later poll's agreement"
        ),
        pytest.param(
            PoolWorld,
            over_a_pool,
            (Pool, "confirmed", pool_in_its_own_version),
            (65, 66),
            id="confirmations of a pool count for their own version alone",
        ),
        pytest.param(
            ScheduleWorld,
            over_a_schedule,
            (ScheduleRound, "as_of_schedule", schedule_in_its_own_version),
            (6, 30, 116),
            id="confirmations of a schedule count for their own version alone",
        ),
    ],
)
def test_a_planted_bug_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
    kind: type[AnyWorld],
    overlapping: Callable[[Any, Random], None],
    bug: tuple[type, str, object],
    numbers: tuple[int, ...],
) -> None:
    """Detects a planted bug in the given worlds.

    If requests changed, other `numbers` show it: search the first few hundred.
    """
    monkeypatch.setattr(*bug)
    with pytest.raises(AssertionError, match="is said to be as of"):
        make_worlds(kind, overlapping, numbers)
