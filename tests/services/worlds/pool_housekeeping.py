"""Housekeeping in a world of pools."""

from datetime import timedelta

from shared.services.accounts.registry import Registry
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.cost.usage_rollups import UsageRollups
from shared.services.housekeeping import HousekeepingService
from shared.services.jobs.job_records import JobRecords
from shared.services.prices.price_reader import PriceReader
from shared.services.queries.queries import Queries
from shared.services.quotas.quota_reader import QuotaReader
from shared.services.tasks.leaf_reader import LeafReader
from shared.settings import read_settings
from shared.stores.accounts.resource_manager import ResourceManager
from shared.stores.prices.retail_prices import RetailPrices
from shared.stores.stores import Stores
from tests.services.fakes.memory_tables import Connection, MemoryTables
from tests.services.worlds.efficiency_digests import digests_of
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import ACCOUNT, HISTORY, NO_PRICES, NO_QUOTAS, LoopClock

_KEPT = ("DELETED_JOB_DAYS", "POLL_STATUS_DAYS", "EVENT_DAYS", "TELEMETRY_MINUTE_DAYS", "TELEMETRY_HOUR_DAYS")
_A_DAY = dict.fromkeys(_KEPT, "1")


def housekeeping(world: PoolWorld) -> None:
    tables = MemoryTables(Connection(world.storage))
    stores = Stores(tables)
    clock = LoopClock(world.now)
    registry = Registry({ACCOUNT.id: ACCOUNT}, stores.monitoring, clock, timedelta(minutes=1))
    records, ingestion = JobRecords(stores.jobs, stores.rounds, stores.history, HISTORY), IngestionStores.of(tables)
    keeper = HousekeepingService(
        [ACCOUNT],
        records,
        stores,
        ingestion,
        PriceReader([ACCOUNT], stores, RetailPrices(NO_PRICES.url), NO_PRICES),
        QuotaReader([ACCOUNT], stores, ResourceManager(NO_QUOTAS, None), NO_QUOTAS),
        UsageRollups(stores, LeafReader(Queries(registry, stores), stores.cache), NO_PRICES, stores.events),
        digests_of(registry, stores, ingestion, records, NO_PRICES),
        clock,
        read_settings(_A_DAY),
    )
    world.run(keeper.run())
