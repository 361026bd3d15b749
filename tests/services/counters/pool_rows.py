"""Rows of pools as rounds over pools write and delete them, in a world without such rounds."""

from shared.domain.core.keys import key_of
from shared.domain.pools.pools import Pool
from tests.services.fakes.fake_pools import TruePool
from tests.services.worlds.world import World


def list_pool(world: World, name: str) -> None:
    """Stores a pool that Batch lists."""
    now = world.now()
    world.run(world.started().stores.pools.save_all("demo", [Pool(TruePool(name, now).facts(now), now)]))


def delete_pool(world: World, name: str) -> None:
    """Deletes the row of a pool that Batch doesn't list any more."""
    pools = world.started().stores.pools
    _, pool = world.run(pools.load("demo", name))
    assert pool is not None
    world.run(pools.delete("demo", pool))


def is_listed(world: World, name: str) -> bool:
    return ("demo", key_of(name)) in world.storage.rows["pools"]
