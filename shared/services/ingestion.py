"""Ingestion of blobs: sweeps over containers of all kinds, and announced blobs.

It never fails a tick: failures are logged and shown by the API, and the next sweep tries again.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

from shared.domain.blobs.queued_shards import ShardMessage
from shared.errors import BatchscopeError
from shared.log import logger
from shared.services.blobs.blob_sweep import BlobSweep

_LOG = logger(__name__)
_ANNOUNCED = timedelta(seconds=60)


class Ingestion:
    """Ingestion from all containers; `sweeps` are keyed by container name, none without configured storage."""

    def __init__(self, sweeps: Mapping[str, BlobSweep], *, budget: timedelta) -> None:
        self._sweeps = sweeps
        self._budget = budget

    async def sweep(self) -> None:
        """Sweeps over all containers, side by side."""
        await asyncio.gather(*(self._sweep(name, one) for name, one in self._sweeps.items()))

    def take_messages(self) -> list[ShardMessage]:
        """Returns messages about shards of blobs that sweeps have left to the queue since the last call."""
        return [message for sweep in self._sweeps.values() for message in sweep.take_messages()]

    async def read_shard(self, message: ShardMessage) -> None:
        """Reads a shard of blobs; drops one of an account that is no longer watched. Raises StorageError."""
        for sweep in self._sweeps.values():
            if message.ingest_partition in sweep.ingest_partitions:
                await sweep.read_shard(message)

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
