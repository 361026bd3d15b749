"""Short queries that tests make of a world of pools."""

from datetime import timedelta

from shared.services.queries.pool_queries import PoolQueries
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.pools.nodes import NodeStore
from shared.stores.pools.pools import PoolStore
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
    tables = MemoryTables(Connection(world.storage))
    accounts, clock = {ACCOUNT.id: ACCOUNT}, LoopClock(world.now)
    return PoolQueries(
        accounts,
        PoolStore(tables),
        NodeStore(tables),
        MonitoringStore(tables),
        clock=clock,
        interval=timedelta(hours=1),
    )


def level_of_nodes(world: PoolWorld, pool: str = "Alpha") -> str:
    """Returns the confidence level of a pool's nodes, by a process with empty memory."""
    report, _ = world.run(queries(world).pool_with_nodes(ACCOUNT.id, pool))
    return report.verdict.level
