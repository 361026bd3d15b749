"""Opens the dependencies of services: the clock, the accounts, and a store for each kind of row.

Clients are opened once per process, inside the running loop. If one fails to open, the others are closed again.
"""

from contextlib import AsyncExitStack

from azure.core.credentials_async import AsyncTokenCredential

from shared.clock import Clock, SharedClock, SteppedClock
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.settings import Settings
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.accounts.operations import OperationStore
from shared.stores.accounts.rounds import RoundStore
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_pools import NodeListCache
from shared.stores.history import JOB_HISTORY, POOL_HISTORY, HistoryStore
from shared.stores.jobs.jobs import JobStore
from shared.stores.jobs.read_plans import ReadPlanStore
from shared.stores.jobs.task_cache import TaskCache
from shared.stores.pools.nodes import NodeStore
from shared.stores.pools.pools import PoolStore
from shared.stores.schedules import ScheduleStore
from shared.stores.tables.stepped_time import SteppedTime
from shared.stores.tables.tables import Tables


class Parts:
    """Settings, the clock, the accounts to watch, and a store for each kind of row."""

    def __init__(
        self, settings: Settings, clock: Clock, tables: Tables, credential: AsyncTokenCredential | None
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.tables = tables
        self.credential = credential
        self.sources = [
            BatchAccount.connect(
                account,
                key=settings.keys.get(account.name),
                credential=credential,
                calls_per_minute=settings.calls_per_minute,
            )
            for account in settings.accounts
        ]
        self.node_lists = NodeListCache()
        self.cache = TaskCache(tables)
        self.jobs = JobStore(tables)
        self.rounds = RoundStore(tables)
        self.history = HistoryStore(tables, JOB_HISTORY)
        self.plans = ReadPlanStore(tables)
        self.monitoring = MonitoringStore(tables)
        self.operations = OperationStore(tables)
        self.pools = PoolStore(tables)
        self.pool_history = HistoryStore(tables, POOL_HISTORY)
        self.nodes = NodeStore(tables)
        self.schedules = ScheduleStore(tables)
        self.ingestion = IngestionStores.of(tables)


async def open_parts(settings: Settings) -> Parts:
    """Opens clients and stores. Raises StorageError, with nothing left open."""
    shared_clock = SharedClock()
    clock = SteppedClock(SteppedTime(settings.clock_url).fetch) if settings.clock_url else shared_clock
    async with AsyncExitStack() as opened:  # closes everything unless all of it opens; the next caller tries again
        credential = _credential(settings)
        if credential:
            opened.push_async_callback(credential.close)
        tables = Tables.connect(
            connection_string=settings.storage.connection_string,
            endpoint=settings.storage.endpoint,
            credential=credential,
            prefix=settings.table_prefix,
            asking=shared_clock.asking,
        )
        opened.push_async_callback(tables.close)
        await tables.create()  # also sets the clock
        opened.pop_all()
    return Parts(settings, clock, tables, credential)


def _credential(settings: Settings) -> AsyncTokenCredential | None:
    """Returns the app's identity if a resource in Azure needs it; it uses real time regardless of the clock."""
    in_reach = settings.storage.connection_string and not settings.telemetry_storage.endpoint
    if in_reach and all(account.is_local for account in settings.accounts):
        return None
    from azure.identity.aio import DefaultAzureCredential  # slow to load, and not needed on a laptop

    return DefaultAzureCredential()
