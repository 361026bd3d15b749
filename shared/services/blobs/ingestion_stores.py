"""The stores of ingested data, and the deletion of expired data.

Sweeps skip blobs last written before the retention, so that deleting their entries doesn't re-ingest them. Entries are
kept a day longer, in case of differing clocks.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from shared.domain.blobs.blobs import SHARDS, BlobRows, telemetry_ingest_partition
from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.pools.blocks import MINUTES
from shared.stores.blobs.checkpoints import BlobEntryStore, CheckpointStore
from shared.stores.blobs.queued_shards import QueuedShardStore
from shared.stores.blobs.rejects import RejectStore
from shared.stores.events import EventStore
from shared.stores.tables.tables import Tables
from shared.stores.telemetry.day_use import DayUseStore
from shared.stores.telemetry.measured_attempts import MeasuredAttemptStore
from shared.stores.telemetry.node_index import NodeIndex
from shared.stores.telemetry.pool_telemetry import PoolTelemetryStore
from shared.stores.telemetry.telemetry import TelemetryStore
from shared.stores.telemetry.telemetry_totals import TelemetryTotalsStore

_LONGER = timedelta(days=1)
_MINUTE, _DAY = 60_000, 86_400_000  # milliseconds


@dataclass(frozen=True, slots=True)
class IngestionStores:
    events: EventStore
    entries: BlobEntryStore
    checkpoints: CheckpointStore
    shards: QueuedShardStore
    rejects: RejectStore
    telemetry: TelemetryStore
    node_index: NodeIndex
    totals: TelemetryTotalsStore
    pool_telemetry: PoolTelemetryStore
    attempts: MeasuredAttemptStore
    day_use: DayUseStore

    @classmethod
    def of(cls, tables: Tables) -> "IngestionStores":
        return cls(
            EventStore(tables),
            BlobEntryStore(tables),
            CheckpointStore(tables),
            QueuedShardStore(tables),
            RejectStore(tables),
            TelemetryStore(tables),
            NodeIndex(tables),
            TelemetryTotalsStore(tables),
            PoolTelemetryStore(tables),
            MeasuredAttemptStore(tables),
            DayUseStore(tables),
        )

    async def delete_before(self, account_key: str, moment: datetime) -> int:
        """Deletes expired events, rejects and entries of an account; returns the number of event rows.

        Raises StorageError.
        """
        rows = await self.events.delete_before(account_key, moment)
        await self.rejects.delete_before(account_key, moment)
        entries = (await self.entries.load_all(account_key)).values()
        names = [entry.name for entry in entries if entry.modified < moment - _LONGER]
        await self.events.forget(account_key, names)
        await self.entries.delete(account_key, names)
        return rows

    async def delete_telemetry_before(self, account_key: str, moment: datetime, *, blobs: datetime) -> int:
        """Deletes rollups of days before `moment`, and all rows of blobs without any left.

        Returns the number of rollup rows. Sweeps skip blobs last written before `blobs`. Raises StorageError.
        """
        ingest_partition, rows = telemetry_ingest_partition(account_key), 0
        entries = (await self.entries.load_all(ingest_partition)).values()
        old = [entry for entry in entries if entry.modified < blobs - _LONGER]
        over = await self.node_index.load_before(account_key, to_milliseconds(moment) // _DAY)
        for partition, day in sorted({(one.rows.partition, one.day) for one in over}):
            rows += await self.telemetry.delete_day(partition, day)
        gone = {one.rows for one in over} | {entry.rows(account_key) for entry in old}
        for entry in old:
            gone.update(await self.telemetry.incarnations_of(account_key, entry.name))
        gone -= {entry.rows(account_key) for entry in entries if entry.modified >= blobs - _LONGER}
        for partition, some in groupby(sorted(gone, key=_partition), key=_partition):
            kept = await self.telemetry.owners_of_rollups(partition)  # the index leads to them when they expire
            for blob in some:
                if blob.owner not in kept:
                    await self.telemetry.forget(blob)
        await self.node_index.delete(account_key, over)
        await self.entries.delete(ingest_partition, [entry.name for entry in old])
        await self.rejects.delete_before(ingest_partition, blobs)
        return rows

    async def delete_pool_telemetry_before(self, account_key: str, moment: datetime) -> int:
        """Deletes blocks of pools that ended before a moment; returns the number of rows. Raises StorageError."""
        rows, block = 0, to_milliseconds(moment) // _MINUTE // MINUTES
        for shard in range(SHARDS):
            rows += await self.pool_telemetry.delete_before(account_key, shard, block)
        return rows


def _partition(rows: BlobRows) -> str:
    return rows.partition
