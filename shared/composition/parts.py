"""Opens the dependencies of services: the clock, the accounts, and a store for each kind of row.

Clients are opened once per process, inside the running loop. If one fails to open, the others are closed again.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from azure.core.credentials_async import AsyncTokenCredential

from shared.clock import Clock, SharedClock, SteppedClock
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.settings import Settings
from shared.stores.batch.batch import BatchAccount
from shared.stores.stores import Stores
from shared.stores.tables.stepped_time import SteppedTime
from shared.stores.tables.tables import Tables


@dataclass(frozen=True, slots=True)
class Parts:
    """Settings, the clock, the accounts to watch, and a store for each kind of row."""

    settings: Settings
    clock: Clock
    credential: AsyncTokenCredential | None
    tables: Tables
    sources: Sequence[BatchAccount]
    stores: Stores
    ingestion: IngestionStores


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
    sources = [
        BatchAccount.connect(
            account,
            key=settings.keys.get(account.name),
            credential=credential,
            calls_per_minute=settings.calls_per_minute,
            pool_version=settings.pool_api_version,
            labels=settings.cost_labels,
        )
        for account in settings.accounts
    ]
    return Parts(settings, clock, credential, tables, sources, Stores(tables), IngestionStores.of(tables))


def _credential(settings: Settings) -> AsyncTokenCredential | None:
    """Returns the app's identity if a resource in Azure needs it; it uses real time regardless of the clock."""
    in_reach = settings.storage.connection_string and not settings.telemetry_storage.endpoint
    if in_reach and all(account.is_local for account in settings.accounts):
        return None
    from azure.identity.aio import DefaultAzureCredential  # slow to load, and not needed on a laptop

    return DefaultAzureCredential()
