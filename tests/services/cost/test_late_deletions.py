"""Days of usage after an event dated the end of a deleted pool's nodes, however late it came."""

from datetime import datetime

import pytest

from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.usage_days import DAY, UsageDay
from shared.domain.events.batch_events import IDENTITY_BYTES, BatchEvent
from shared.services.cost.usage_rollups import UsageRollups
from shared.stores.stores import Stores
from shared.stores.usage_days import Part
from tests.services.fakes.memory_tables import Connection, MemoryTables
from tests.services.worlds.pool_housekeeping import housekeeping
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import ACCOUNT

HOUR = 3_600
HOURS: tuple[Part, ...] = ("hours",)
DATED = {"idle": 610, "leaving": 10}


def days(world: PoolWorld) -> dict[int, UsageDay]:
    store = Stores(MemoryTables(Connection(world.storage))).usage_days
    last = to_milliseconds(world.now()) // DAY
    return world.run(store.load(ACCOUNT.key, range(last - 1, last + 1), HOURS))


def rolled_up(world: PoolWorld) -> dict[str, float]:
    """Returns the seconds of the pool's nodes by class, as days have them in total and by the hour."""
    found, by_hour = dict[str, float](), dict[str, float]()
    for day in days(world).values():
        if pool := day.pools.get("alpha"):
            for sums, kinds in ((found, [pool.units]), (by_hour, day.hours["alpha"].values())):
                for name, units in ((name, n) for one in kinds for some in one.values() for name, n in some.items()):
                    sums[name] = sums.get(name, 0) + units / pool.slots_per_node / 1_000
    assert found == by_hour
    return found


def deleted_unseen(world: PoolWorld) -> datetime:
    """Deletes a pool of one node that polls saw for ten minutes, twenty seconds after the last of them."""
    pool = world.create("Alpha", 1)
    world.poll()
    world.wait(600)
    world.poll()
    world.wait(20)
    pool.deleted = world.now()
    world.wait(1_200)
    world.poll()
    return pool.deleted


def logged(world: PoolWorld, at: datetime) -> None:
    event = BatchEvent(at, "PoolDeleteCompleteEvent", None, None, "Alpha", None, {}, bytes(IDENTITY_BYTES))
    world.run(world.started().events.save_once(ACCOUNT.key, [event]))


def polled_for(world: PoolWorld, hours: int) -> None:
    for _ in range(hours):
        world.wait(HOUR)
        world.poll()
        housekeeping(world)


def test_an_hour_in_which_the_ledger_began_has_no_more_than_the_event_says(pools: PoolWorld) -> None:
    at = deleted_unseen(pools)
    housekeeping(pools)
    assert rolled_up(pools) == {"idle": 600, "unwatched": 1_220}
    logged(pools, at)
    housekeeping(pools)
    assert rolled_up(pools) == DATED
    housekeeping(pools)
    assert rolled_up(pools) == DATED


@pytest.mark.parametrize(("start", "late", "settled"), [(0, 3, 10), (15, 3, 24), (15, 5, 24)])
def test_an_event_that_comes_after_its_hour_was_settled_dates_the_end_nevertheless(
    pools: PoolWorld, start: int, late: int, settled: int
) -> None:
    pools.wait(start * HOUR + 2_000)
    pools.poll()
    at = deleted_unseen(pools)
    polled_for(pools, late)
    before = days(pools)[to_milliseconds(at) // DAY]
    assert (before.is_final, before.settled) == (settled == 24, settled)
    assert rolled_up(pools) == {"idle": 600, "unwatched": 1_220}
    logged(pools, at)
    housekeeping(pools)
    assert rolled_up(pools) == DATED
    after = days(pools)[before.day]
    assert (after.is_final, after.settled) == (before.is_final, before.settled)


def test_a_run_that_dies_before_it_stores_the_end_is_made_up_for_by_the_next(
    pools: PoolWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = deleted_unseen(pools)
    polled_for(pools, 3)
    logged(pools, at)

    async def dies(*_: object) -> None:
        raise TimeoutError

    with monkeypatch.context() as broken:
        broken.setattr(UsageRollups, "_store_dated", dies)
        with pytest.raises(TimeoutError):
            housekeeping(pools)
    housekeeping(pools)
    assert rolled_up(pools) == DATED
