"""Writes after a pause reach storage, however busy the process was when storage ended the connection."""

from threading import Event

from shared.stores.tables.rows import row_of
from shared.stores.tables.tables import Tables, load_rows, save_row

_AZURITE_KEEPS = 6  # seconds: Node's five, and one more in its newer versions


async def test_a_write_after_the_process_was_busy_for_seconds_is_not_lost(tables: Tables, partition: str) -> None:
    await save_row(tables["jobs"], row_of(partition, "before", {}), None)
    Event().wait(_AZURITE_KEEPS + 1)  # blocks the loop, like a computation
    await save_row(tables["jobs"], row_of(partition, "after", {}), None)
    assert len(await load_rows(tables["jobs"], partition)) == 2
