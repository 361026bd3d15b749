"""A blob's stored telemetry is deleted completely, however often the deleting process dies."""

import asyncio

import pytest

from shared.domain.telemetry.sessions.blob_rows import BlobRows
from shared.stores.telemetry.telemetry import TelemetryStore, checkpoint_key
from tests.services.fakes.memory_tables import Connection, Fault, MemoryTables, ProcessDiedError, Storage

_BLOB = BlobRows("demo", "blob-1")


def test_leftovers_of_a_death_are_found_by_the_checkpoint() -> None:
    storage = Storage()
    place, rows = checkpoint_key(_BLOB), [f"n{number:06x}" for number in range(99)]
    for row in (*rows, place.row, "s"):
        asyncio.run(_write(storage, place.table, row))
    dying = Connection(storage)
    dying.arm(Fault(call=3, committed=False, kills=True))
    with pytest.raises(ProcessDiedError):
        asyncio.run(TelemetryStore(MemoryTables(dying)).forget(_BLOB))
    assert {row for _, row in storage.rows[place.table]} == {place.row}
    asyncio.run(TelemetryStore(MemoryTables(Connection(storage))).forget(_BLOB))
    assert storage.rows[place.table] == {}


async def _write(storage: Storage, table: str, row: str) -> None:
    await MemoryTables(Connection(storage))[table].create_entity({"PartitionKey": _BLOB.partition, "RowKey": row})
