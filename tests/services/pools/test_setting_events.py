"""A change of a pool's settings is an event, once, wherever a process dies or another one polls beside it."""

from datetime import timedelta

import pytest

from shared.domain.events.batch_events import BatchEvent
from shared.stores.events import EventStore
from tests.services.fakes.fake_pools import SIZE
from tests.services.fakes.memory_tables import Connection, Fault, MemoryTables
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import ACCOUNT

ALWAYS = 0xFFFFFFFE


def events(world: PoolWorld) -> list[BatchEvent]:
    async def found() -> list[BatchEvent]:
        store = EventStore(MemoryTables(Connection(world.storage)))
        return [event async for _, some in store.minutes(ACCOUNT.key, 0, ALWAYS) for event in some]

    return world.run(found())


def changes(world: PoolWorld) -> list[tuple[str, str | None, str | None]]:
    pool = world.known().resources["alpha"]
    return [(change.name, change.before, change.after) for change in pool.changes]


def test_a_change_is_an_event_of_its_time_with_both_values(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    pools.poll()
    assert events(pools) == []
    pools.wait(60)
    pool.vm_sizes.append((pools.now(), "d8"))
    pools.wait(5)
    pools.poll()
    (event,) = events(pools)
    assert (event.at, event.pool) == (pools.now() - timedelta(seconds=5), "Alpha")
    assert event.properties == {"changes": [{"name": "vmSize", "before": SIZE, "after": "d8"}]}
    assert changes(pools) == [("vmSize", SIZE, "d8")]
    written = pools.storage.writes.count("events")
    pools.wait(60)
    pools.change_node(pool, min(pool.at(pools.now())), "running", slots=1)
    pools.poll()
    assert (len(events(pools)), pools.storage.writes.count("events")) == (1, written)


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("kills", [False, True])
def test_a_process_may_die_or_lose_an_answer_at_any_call(pools: PoolWorld, *, committed: bool, kills: bool) -> None:
    pool = pools.create("Alpha", 2)
    pools.poll()
    pools.poll(1)
    for number in range(20):
        pools.wait(60)
        pool.vm_sizes.append((pools.now(), f"d{number}"))
        pools.wait(5)
        pools.poll(fault=Fault(1 + number, committed=committed, kills=kills))
        pools.wait(30)
        pools.poll(1)
        assert len(events(pools)) == 1 + number, number
    assert changes(pools) == [("vmSize", f"d{n - 1}" if n else SIZE, f"d{n}") for n in range(19, -1, -1)]


def test_two_processes_that_poll_at_once_write_it_once(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    pools.poll()
    for number in range(6):
        pools.wait(60)
        pool.vm_sizes.append((pools.now(), f"d{number}"))
        pools.wait(1)
        pools.poll_both((0.3 * number, 1.0))
    pools.wait(60)
    pools.poll()
    assert len(events(pools)) == 6
