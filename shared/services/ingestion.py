"""Ingestion of blobs: sweeps over containers of all kinds, and announced blobs.

It never fails a tick: failures are logged and shown by the API, and the next sweep tries again.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from shared.clock import Clock
from shared.domain.accounts.accounts import Account
from shared.domain.telemetry.records.labels import PathPattern
from shared.errors import BatchscopeError
from shared.log import logger
from shared.services.blobs.blob_reader import BlobReader
from shared.services.blobs.blob_sweep import BlobSweep
from shared.services.blobs.ingestion_stores import UNREAD_TELEMETRY, IngestionStores
from shared.services.events.event_intake import EventIntake
from shared.services.telemetry.telemetry_intake import TelemetryIntake

if TYPE_CHECKING:  # its library is slow to load, and unused without a configured storage
    from shared.stores.blobs.blobs import BlobContainer

_LOG = logger(__name__)
_ANNOUNCED = timedelta(seconds=60)


def event_sweep(
    container: "BlobContainer",
    accounts: Collection[Account],
    stores: IngestionStores,
    *,
    hint: Callable[[str, Collection[str]], None],
    clock: Clock,
    retention: timedelta,
) -> BlobSweep:
    """Returns the sweep over Batch's resource logs; `hint` is called with the jobs of new events."""
    intake = EventIntake(accounts, stores.events, hint=hint, clock=clock)
    return BlobSweep(BlobReader(container, intake, stores, clock), retention=retention)


def telemetry_sweep(
    container: "BlobContainer",
    accounts: Collection[Account],
    stores: IngestionStores,
    *,
    pattern: PathPattern,
    clock: Clock,
    retention: timedelta,
) -> BlobSweep:
    """Returns the sweep over the telemetry of nodes; `pattern` finds a blob's account and node in its name."""
    intake = TelemetryIntake(accounts, pattern, stores, clock=clock, retention=retention)
    return BlobSweep(BlobReader(container, intake, stores, clock), retention=retention, unread=UNREAD_TELEMETRY)


class Ingestion:
    """Ingestion from all containers; `sweeps` are keyed by container name, none without configured storage."""

    def __init__(self, sweeps: Mapping[str, BlobSweep], *, budget: timedelta) -> None:
        self._sweeps = sweeps
        self._budget = budget

    async def sweep(self) -> None:
        """Sweeps over all containers, side by side."""
        await asyncio.gather(*(self._sweep(name, one) for name, one in self._sweeps.items()))

    async def announced(self, path: str) -> None:
        """Reads a new blob `container/name`. Raises BlobError, StorageError, after which it is announced again."""
        container, _, name = path.partition("/")
        if container in self._sweeps:
            await self._sweeps[container].announced(name, _ANNOUNCED)

    async def _sweep(self, name: str, sweep: BlobSweep) -> None:
        try:
            await sweep.run(self._budget)
        except BatchscopeError as error:
            _LOG.warning("The sweep over %s failed: %s", name, error)
        except Exception:  # a defect here mustn't stop the tick
            _LOG.exception("The sweep over %s broke", name)
