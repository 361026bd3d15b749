"""Blobs and logs beyond two gigabytes: byte counts have more than 32 bits."""

from datetime import UTC, datetime

from shared.domain.blobs.blobs import Checkpoint, Entry
from shared.domain.blobs.rejects import BadUnit
from shared.domain.blobs.sweeps import PartitionSweep, Totals
from shared.stores.blobs.checkpoints import BlobEntryStore, CheckpointStore
from shared.stores.blobs.rejects import RejectStore
from shared.stores.events import TABLE, EventStore, checkpoint_key, head_row
from shared.stores.tables.rows import write_at_once
from shared.stores.tables.tables import Tables

NOON = datetime(2026, 8, 6, 12, tzinfo=UTC)
FAR = 5 << 30


async def test_a_place_far_into_a_blob_is_kept(tables: Tables, partition: str) -> None:
    places, key = CheckpointStore(tables), checkpoint_key(partition, "incarnation")
    stored, _ = await places.advance(key, await places.load(key), Checkpoint(1 << 30), ())
    stored, _ = await places.advance(key, stored, Checkpoint(FAR, units=FAR, refused=FAR), ())
    assert await places.load(key) == stored
    assert stored == Checkpoint(FAR, units=FAR, refused=FAR)


async def test_totals_of_very_many_bytes_are_kept(tables: Tables, partition: str) -> None:
    store, totals = EventStore(tables), Totals(units=FAR, stored=FAR, repeats=FAR, refused=FAR, bytes=FAR, latest=NOON)
    await write_at_once(tables[TABLE], [head_row(partition, await store.load_head(partition), totals)])
    assert (await store.load_head(partition)).totals == totals


async def test_rejects_and_lag_far_into_a_blob_are_stored(tables: Tables, partition: str) -> None:
    rejects, entries = RejectStore(tables), BlobEntryStore(tables)
    refusal, sweep = BadUnit(FAR, 3, "It isn't JSON.", b"x"), PartitionSweep(NOON, 1, behind_blobs=1, behind_bytes=FAR)
    await rejects.save(partition, Entry("blob", NOON, NOON), [refusal], NOON)
    await entries.save_sweep(partition, sweep)
    assert [one.refusal for one in await rejects.load(partition, "", 10)] == [refusal]
    assert await entries.load_sweep(partition) == sweep
