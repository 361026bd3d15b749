"""Rounds over pools that hang while another process continues: their late writes undo nothing for long."""

import asyncio
from typing import Any

import pytest

from shared.errors import BatchUnreachableError
from shared.services.pools.pools_round_state import PoolsRoundState
from shared.stores.pools.pools import PoolStore
from tests.services.fakes.memory_tables import ProcessDiedError, die
from tests.services.worlds.pool_world import PoolWorld


def begin(world: PoolWorld, *, takes: float) -> asyncio.Task[Any]:
    """Begins a round of the first process, in which each call to Batch takes `takes` seconds."""
    process = world.processes[0]
    process.batch.latency = takes
    return world.loop.create_task(process.rounds.run(lambda: True))


def written_history(world: PoolWorld) -> dict[Any, Any]:
    return {place: row for place, (row, _) in world.storage.rows["poolhistory"].items()}


def a_round_hangs_until_its_pool_is_deleted(world: PoolWorld, polls: int = 4) -> None:
    pool = world.create("Alpha", 2)
    world.wait(30)
    world.poll(0)
    world.wait(5)
    slow = begin(world, takes=100)  # the list at 50 s, the counts at 150 s, the nodes at 250 s
    for number in range(polls):
        world.wait(15)
        world.change_node(pool, "tvm-001", "running", slots=1 + number % 3)
        world.poll(1)
    pool.deleted = world.now()
    world.wait(15)
    world.poll(1)
    assert world.known().resources == {}
    before = written_history(world)
    world.run(asyncio.wait_for(slow, 3600))
    assert written_history(world) == before


@pytest.mark.parametrize("polls", range(1, 13))
def test_a_round_that_hung_until_its_pool_was_deleted_writes_nothing_over_later_samples(
    pools: PoolWorld, polls: int
) -> None:
    a_round_hangs_until_its_pool_is_deleted(pools, polls)


async def always(*_: object) -> bool:
    return True


def test_a_last_sample_written_without_a_check_is_noticed(pools: PoolWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PoolStore, "is_stored", always)
    with pytest.raises(AssertionError):
        a_round_hangs_until_its_pool_is_deleted(pools)


def a_first_poll_hangs_until_its_pool_is_deleted(
    world: PoolWorld, *, at: float, storage: float = 0, dies: bool = False
) -> None:
    """Lists pools 10 s after its begin and nodes at 50 s; one pool is deleted, which is seen `at` a given second.

    Each call to storage takes `storage` seconds each way: with 5 it checks for a later list at 75 s and writes from 85
    s on.
    """
    pool = world.create("Alpha", 2)
    world.create("Beta", 1)
    world.wait(60)
    slow = begin(world, takes=20)
    world.wait(15)
    world.processes[0].connection.latency = storage
    world.wait(at - 15)
    pool.deleted = world.now()
    world.wait(1)
    world.poll(1)
    assert world.known().resources.keys() == {"beta"}
    (end,) = world.run(ends(slow))
    assert isinstance(end, ProcessDiedError) == dies


def nodes_are_of(world: PoolWorld) -> set[str]:
    rows = world.storage.rows["nodes"].items()
    return {key.partition("~")[0] for (_, key), (row, _) in rows if "nodes0" in row}


def a_deleted_pool_stays_away(world: PoolWorld) -> None:
    a_first_poll_hangs_until_its_pool_is_deleted(world, at=55)
    assert world.known().resources.keys() == nodes_are_of(world) == {"beta"}


def test_a_slow_first_poll_writes_no_pool_missing_from_a_later_list(pools: PoolWorld) -> None:
    a_deleted_pool_stays_away(pools)


def never(*_: object) -> bool:
    return False


def test_a_first_poll_that_gives_way_to_no_later_list_is_noticed(
    pools: PoolWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PoolsRoundState, "is_older", never)
    with pytest.raises(AssertionError):
        a_deleted_pool_stays_away(pools)


def test_a_round_that_gave_way_to_a_later_list_knows_all_pools_the_next_time(pools: PoolWorld) -> None:
    pools.create("Alpha", 2)
    pools.create("Beta", 1)
    slow = begin(pools, takes=20)
    pools.wait(15)
    pools.poll(1)
    pools.run(ends(slow))
    for who in (0, 1):
        pools.wait(60)
        pools.poll(who)
        assert pools.known().resources.keys() == nodes_are_of(pools) == {"alpha", "beta"}


@pytest.mark.parametrize("dies", [False, True], ids=["it goes on", "it dies before its last word"])
def test_a_pool_that_is_deleted_while_its_row_is_written_goes_with_the_next_round_or_full_list(
    pools: PoolWorld, monkeypatch: pytest.MonkeyPatch, *, dies: bool
) -> None:
    if dies:
        monkeypatch.setattr(pools.processes[0].pools, "save_round", die)
    a_first_poll_hangs_until_its_pool_is_deleted(pools, at=78, storage=5, dies=dies)
    assert pools.known().resources.keys() == {"alpha", "beta"}
    for _ in range(16 if dies else 1):
        pools.wait(60)
        pools.run(pools.processes[1].rounds.run(lambda: True))
    assert pools.known().resources.keys() == nodes_are_of(pools) == {"beta"}


def test_a_slow_round_gives_way_to_a_confirmation_that_a_failed_list_came_after(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    pools.change_node(pool, "tvm-001", "running", slots=1)
    for _ in range(2):
        pools.poll(0)
        pools.wait(60)
    pools.later(20, lambda: pools.change_node(pool, "tvm-001", "running", slots=2))
    pools.later(27, lambda: pools.change_node(pool, "tvm-001", "running", slots=1))
    slow = begin(pools, takes=10)
    pools.wait(28)
    pools.run(pools.processes[1].rounds.run(lambda: True))
    pools.service.refusals["pools"] = BatchUnreachableError("http://127.0.0.1:1", "no answer")
    pools.wait(0.5)
    pools.run(pools.processes[1].rounds.run(lambda: True))
    pools.service.refusals.clear()
    pools.run(ends(slow))
    known = pools.known().resources["alpha"]
    assert known.snapshot
    assert known.snapshot.summary.used == 1
    assert not known.is_overtaken


async def ends(*work: Any) -> list[Any]:
    return list(await asyncio.gather(*work, return_exceptions=True))
