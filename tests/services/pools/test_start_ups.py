"""Start-ups of nodes are stored once each, wherever a process dies or another one polls beside it."""

import pytest

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import Node
from shared.domain.nodes.start_ups import StartUp, start_up_phase
from shared.stores.pools.start_ups import StartUpStore
from tests.services.fakes.fake_pools import TruePool
from tests.services.fakes.memory_tables import Connection, Fault, MemoryTables
from tests.services.worlds.pool_housekeeping import housekeeping
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import ACCOUNT

DAY = 86_400_000


def day(world: PoolWorld) -> int:
    return to_milliseconds(world.now()) // DAY


def start_ups(world: PoolWorld, pool: str = "alpha", *, days: int = 1) -> list[StartUp]:
    """Returns the start-ups of the last days."""
    store = StartUpStore(MemoryTables(Connection(world.storage)))
    found = [world.run(store.read(ACCOUNT.key, pool, day(world) - ago)) for ago in range(days)]
    return [one for each in found for one in each.start_ups.values()]


def begin(world: PoolWorld, pool: TruePool, name: str) -> None:
    at = to_milliseconds(world.now())
    node = Node(name, "creating", transition=at, allocated=at, vm_size="standard_d4s_v5")
    pool.now(world.now(), {**pool.at(world.now()), name: node})


def boot(world: PoolWorld, pool: TruePool, name: str) -> None:
    nodes = pool.at(world.now())
    pool.now(world.now(), {**nodes, name: nodes[name]._replace(booted=to_milliseconds(world.now()))})
    world.change_node(pool, name, "idle")


def waits(found: list[StartUp]) -> list[object]:
    return [start_up_phase(one, "wait") for one in found]


def test_a_node_is_followed_from_its_allocation_to_its_first_task_and_then_costs_nothing(pools: PoolWorld) -> None:
    pool = pools.create("Alpha")
    pools.poll()
    pools.wait(20)
    pool.resizing_since = pools.now()
    pools.wait(20)
    begin(pools, pool, "tvm")
    pools.wait(20)
    pools.poll()
    pool.resizing_since = None
    boot(pools, pool, "tvm")
    pools.wait(20)
    pools.poll()
    pools.change_node(pool, "tvm", "running", slots=1)
    pools.wait(20)
    pools.poll()
    (found,) = start_ups(pools)
    spans = [start_up_phase(found, phase) for phase in ("allocation", "boot", "wait", "total")]
    assert spans == [20_000, 20_000, 20_000, 60_000]
    written = pools.storage.writes.count("poolhistory")
    for slots in (2, 0, 1):
        pools.change_node(pool, "tvm", "running" if slots else "idle", slots=slots)
        pools.wait(20)
        pools.poll()
    assert start_ups(pools) == [found]
    assert pools.storage.writes.count("poolhistory") <= written + 1  # samples of its numbers


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("kills", [False, True])
def test_a_process_may_die_or_lose_an_answer_at_any_call(pools: PoolWorld, *, committed: bool, kills: bool) -> None:
    pool = pools.create("Alpha")
    pools.poll()
    pools.poll(1)
    for number in range(14):
        name = f"tvm-{number:02}"
        for step in (begin, boot, lambda world, pool, name: world.change_node(pool, name, "running", slots=1)):
            pools.wait(60)
            step(pools, pool, name)
            pools.wait(5)
            pools.poll(fault=Fault(1 + number, committed=committed, kills=kills))
            pools.wait(30)
            pools.poll(1)
        assert waits(start_ups(pools)) == [95_000] * (1 + number)


def test_two_processes_that_poll_at_once_count_each_node_once(pools: PoolWorld) -> None:
    pool = pools.create("Alpha")
    pools.poll()
    for number in range(6):
        name = f"tvm-{number}"
        for step in (begin, boot, lambda world, pool, name: world.change_node(pool, name, "running", slots=1)):
            pools.wait(60)
            step(pools, pool, name)
            pools.wait(1)
            pools.poll_both((0.3 * number, 1.0))
    pools.wait(60)
    pools.poll()
    assert len(start_ups(pools)) == 6
    assert all(isinstance(wait, int) for wait in waits(start_ups(pools)))


def test_nodes_that_are_older_than_the_first_look_have_none(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 3)
    pools.wait(3_600)
    pools.poll()
    for name in pool.at(pools.now()):
        pools.change_node(pool, name, "running", slots=1)
    pools.wait(60)
    pools.poll()
    assert start_ups(pools) == []


def test_start_ups_outlive_their_nodes_and_end_with_the_history_of_pools(pools: PoolWorld) -> None:
    pool = pools.create("Alpha")
    pools.poll()
    begin(pools, pool, "tvm")
    pools.wait(5)
    pools.poll()
    pools.remove_node(pool, "tvm")
    pools.wait(60)
    pools.poll()
    housekeeping(pools)
    assert len(start_ups(pools)) == 1
    pools.wait(DAY // 1000 * 89)
    housekeeping(pools)
    assert len(start_ups(pools, days=91)) == 1
    pools.wait(DAY // 1000 * 2)
    housekeeping(pools)
    assert start_ups(pools, days=93) == []
