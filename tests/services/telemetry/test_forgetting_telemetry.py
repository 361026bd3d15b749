"""A blob's stored telemetry is deleted completely, however often the deleting process dies."""

import asyncio

import pytest

from shared.domain.blobs.blobs import BlobRows
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.sessions.session import Session
from shared.stores.telemetry.telemetry import TABLE, TelemetryStore, checkpoint_key, session_row, state_key
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


def test_only_the_rows_of_an_incarnation_go_from_a_shared_partition() -> None:
    """Also where the next incarnations, numbered 10 and so on, begin with the digits of its number."""
    storage, first, tenth = Storage(), _BLOB._replace(group="g"), BlobRows("demo", "blob-10", "g")
    session = Session(0, Identity("pool", "node"))
    for blob in (first, tenth):
        place = checkpoint_key(blob)
        for row in (place.row, state_key(blob), session_row(blob, session)[1]["RowKey"]):
            asyncio.run(_write(storage, place.table, row, blob))
    asyncio.run(TelemetryStore(MemoryTables(Connection(storage))).forget(first))
    assert {row for _, row in storage.rows[TABLE]} == {"o~blob-10", "s~blob-10", "n~blob-10~000000"}


async def _write(storage: Storage, table: str, row: str, blob: BlobRows = _BLOB) -> None:
    await MemoryTables(Connection(storage))[table].create_entity({"PartitionKey": blob.partition, "RowKey": row})
