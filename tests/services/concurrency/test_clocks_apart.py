"""Hosts with clocks hours apart: no host skips its turn, repeats work, deletes early or reports another time."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from shared.errors import BatchAnswerError
from shared.services.telemetry.hour_rollups import HourRollups
from tests.services.mutants.clocks_apart import STORIES, OwnClock, a_round_in_the_future
from tests.services.worlds.pool_world import PoolProcess, PoolWorld
from tests.services.worlds.process import LoopClock, Recipe
from tests.services.worlds.schedule_world import IDLE, ScheduleProcess, ScheduleWorld
from tests.services.worlds.world import SECOND, World

MINUTE = timedelta(minutes=1)
APART = [-60 * MINUTE, -10 * MINUTE, 10 * MINUTE, 60 * MINUTE]


def play_story(story: Callable[[World], None], recipe: Recipe, ahead: timedelta) -> None:
    world = World(recipe)
    world.set_clocks(timedelta(), ahead)
    try:
        story(world)
    finally:
        world.close()


@pytest.mark.parametrize("ahead", APART, ids=str)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_nobody_notices_a_host_whose_clock_is_wrong(story: Callable[[World], None], ahead: timedelta) -> None:
    play_story(story, Recipe(), ahead)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_host_that_goes_by_its_own_clock_shows(story: Callable[[World], None]) -> None:
    for ahead in APART:
        try:
            play_story(story, Recipe(clock=OwnClock), ahead)
        except AssertionError:
            return
    pytest.fail("it does no harm")


def failure_beside_a_success(ahead: timedelta, clock: type[LoopClock]) -> str | None:
    """Returns the reported failure of a pool that one host listed while a host that began equally early failed to."""
    pools = PoolWorld()
    try:
        pools.processes[1] = PoolProcess(pools.service, pools.storage, clock=clock, ahead=ahead)
        pools.create("Alpha", 2)
        pools.wait(60)
        pools.service.refusals["pools"] = BatchAnswerError("It broke.")
        pools.later(1.5, pools.service.refusals.clear)
        pools.poll_both((4, 1))
        known = pools.known()
        assert known.last
        return known.last.failure_of("alpha", known.resources["alpha"].nodes_as_of)
    finally:
        pools.close()


@pytest.mark.parametrize("ahead", APART, ids=str)
def test_a_failure_of_a_host_whose_clock_is_wrong_does_not_win_over_later_pools(ahead: timedelta) -> None:
    assert failure_beside_a_success(ahead, LoopClock) is None


def test_a_failure_of_a_host_that_goes_by_its_own_clock_wins_over_later_pools() -> None:
    assert failure_beside_a_success(10 * MINUTE, OwnClock) == "It broke."


def looks_after_an_idle_one(ahead: timedelta, clock: type[LoopClock]) -> list[bool]:
    """Returns whether a host polls unchanged schedules a minute after another host did, and when it is due."""
    schedules = ScheduleWorld()
    try:
        schedules.processes[1] = ScheduleProcess(schedules.service, schedules.storage, clock=clock, ahead=ahead)
        schedules.look((1, 0.0))
        looks = []
        for wait in (60.0, IDLE.total_seconds() - 59):
            schedules.wait(wait)
            looks.append(bool(schedules.look((0, 0.0))))
        return looks
    finally:
        schedules.close()


@pytest.mark.parametrize("ahead", APART, ids=str)
def test_schedules_are_looked_at_on_time_regardless_of_the_last_hosts_clock(ahead: timedelta) -> None:
    assert looks_after_an_idle_one(ahead, LoopClock) == [False, True]


def test_a_host_that_goes_by_its_own_clock_makes_others_look_at_schedules_at_the_wrong_time() -> None:
    assert all(looks_after_an_idle_one(ahead, OwnClock) != [False, True] for ahead in (-60 * MINUTE, 60 * MINUTE))


@pytest.mark.parametrize("clock", [LoopClock, OwnClock])
@pytest.mark.parametrize("ahead", APART, ids=str)
def test_minutes_become_hours_by_the_time_that_all_hosts_go_by(
    ahead: timedelta, clock: type[LoopClock], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, moments = World(Recipe(clock=clock)), list[datetime]()

    async def run(_self: HourRollups, _account: str, moment: datetime, _goes_on: object) -> int:
        moments.append(moment)
        return 0

    monkeypatch.setattr(HourRollups, "run", run)
    world.set_clocks(timedelta(), ahead)
    world.run(world.processes[1].housekeeping.run())
    (moment,) = moments
    assert (abs(moment + 7 * 24 * 60 * MINUTE - world.now()) <= SECOND) is (clock is LoopClock)
    world.close()


@pytest.mark.parametrize("ahead", [10 * MINUTE, 60 * MINUTE], ids=str)
def test_a_stored_round_of_the_future_delays_nobody(world: World, ahead: timedelta) -> None:
    a_round_in_the_future(world, ahead)
