"""Short queries that tests make of a world of pools."""

from datetime import timedelta

from shared.services.accounts.registry import Registry
from shared.services.queries.pool_queries import PoolQueries
from shared.stores.stores import Stores
from tests.services.fakes.memory_tables import Connection, MemoryTables
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import ACCOUNT, LoopClock


def asked(world: PoolWorld, who: int = 0) -> list[str]:
    """Returns the requests to Batch in a process's next round."""
    world.wait(60)
    world.processes[who].batch.requests.clear()
    world.poll(who)
    return world.processes[who].batch.requests


def queries(world: PoolWorld) -> PoolQueries:
    """Returns the queries of a process with empty memory."""
    stores = Stores(MemoryTables(Connection(world.storage)))
    clock = LoopClock(world.now)
    return PoolQueries(Registry({ACCOUNT.id: ACCOUNT}, stores.monitoring, clock, timedelta(hours=1)), stores)


def level_of_nodes(world: PoolWorld, pool: str = "Alpha") -> str:
    """Returns the confidence level of a pool's nodes, by a process with empty memory."""
    report, _ = world.run(queries(world).pool_with_nodes(ACCOUNT.id, pool))
    return report.verdict.level
