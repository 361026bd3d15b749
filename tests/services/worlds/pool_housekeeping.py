"""Housekeeping in a world of pools."""

from datetime import timedelta

from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.housekeeping import HousekeepingService, Retention
from shared.services.jobs.job_records import JobRecords
from shared.stores.stores import Stores
from tests.services.fakes.memory_tables import Connection, MemoryTables
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import ACCOUNT, HISTORY, LoopClock

_DAY = timedelta(days=1)


def housekeeping(world: PoolWorld) -> None:
    tables = MemoryTables(Connection(world.storage))
    stores = Stores(tables)
    keeper = HousekeepingService(
        [ACCOUNT],
        JobRecords(stores.jobs, stores.rounds, stores.history, HISTORY),
        stores,
        IngestionStores.of(tables),
        LoopClock(world.now),
        Retention(_DAY, _DAY, HISTORY, _DAY, _DAY, _DAY),
    )
    world.run(keeper.run())
