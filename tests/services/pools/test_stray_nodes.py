"""Nodes written before a pool row that never came: they are deleted, but not while they are being read."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from shared.services import housekeeping as housekeeping_service
from shared.stores.pools.pools import PoolStore
from tests.services.fakes.memory_tables import Fault, die
from tests.services.worlds.pool_housekeeping import housekeeping
from tests.services.worlds.pool_world import PoolWorld

type Story = Callable[[PoolWorld], None]
MINUTE, HOUR, DAY = 60, 3600, 86_400


def pools_with_rows(world: PoolWorld) -> set[str]:
    return {row.partition("~")[0] for _, row in world.storage.rows["nodes"]}


def pools_with_nodes(world: PoolWorld) -> set[str]:
    """Returns the pools with rows other than those of a usage ledger alone."""
    rows = world.storage.rows["nodes"].items()
    return {key.partition("~")[0] for (_, key), (row, _) in rows if "nodes0" in row or not key.endswith("~!")}


def begun(world: PoolWorld, *, nodes: int = 2) -> None:
    """Kills a round after it has written the nodes of a new pool."""
    world.create("Beta", 1)
    world.poll()
    world.wait(MINUTE)
    world.create("Alpha", nodes)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(PoolStore, "save_all", die)
        world.poll()
    assert pools_with_nodes(world) == {"alpha", "beta"}
    assert world.known().resources.keys() == {"beta"}


@pytest.mark.parametrize("committed", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", range(1, 9))
def test_a_death_at_any_call_leaves_no_nodes_of_a_pool_that_is_deleted_then(
    pools: PoolWorld, call: int, *, committed: bool
) -> None:
    pools.create("Beta", 1)
    pools.poll()
    pools.wait(MINUTE)
    pools.create("Alpha", 2)
    pools.poll(fault=Fault(call, committed=committed, kills=True))
    pools.service.pools[-1].deleted = pools.now()
    for who in (1, 0):
        pools.wait(HOUR)
        pools.poll(who)
    pools.wait(1)
    housekeeping(pools)
    assert pools_with_nodes(pools) == {"beta"}
    assert pools.known().resources.keys() == {"beta"}
    pools.wait(5 * DAY)
    housekeeping(pools)
    assert pools_with_rows(pools) == {"beta"}


def test_nodes_of_a_large_pool_without_a_head_are_collected_too(pools: PoolWorld) -> None:
    begun(pools, nodes=600)
    head = next(place for place in pools.storage.rows["nodes"] if place[1] == "alpha~!")
    del pools.storage.rows["nodes"][head]
    pools.service.pools[-1].deleted = pools.now()
    pools.wait(HOUR + 1)
    housekeeping(pools)
    assert pools_with_nodes(pools) == {"beta"}


def test_nodes_that_were_just_written_stay(pools: PoolWorld) -> None:
    begun(pools)
    before = dict(pools.storage.rows["nodes"])
    pools.wait(HOUR - MINUTE)
    housekeeping(pools)
    assert pools.storage.rows["nodes"] == before
    pools.poll()
    pools.wait(HOUR)
    housekeeping(pools)
    assert len(pools.stored("Alpha")) == 2


async def collect_nothing(*_: object, **__: object) -> int:
    return 0


@pytest.mark.parametrize(
    ("patch", "story"),
    [
        (
            (housekeeping_service, "collect_stray_nodes", collect_nothing),
            test_nodes_of_a_large_pool_without_a_head_are_collected_too,
        ),
        ((housekeeping_service, "_GRACE", timedelta()), test_nodes_that_were_just_written_stay),
    ],
    ids=["nobody collects them", "however young they are"],
)
def test_housekeeping_with_a_bug_is_noticed(
    pools: PoolWorld, monkeypatch: pytest.MonkeyPatch, patch: tuple[object, str, object], story: Story
) -> None:
    monkeypatch.setattr(*patch)
    with pytest.raises(AssertionError):
        story(pools)
