"""Columns of the rows of pools, as they are requested by name."""

from shared.domain.telemetry.pools.blocks import MAX_PART
from shared.stores.tables.rows import bytes_columns
from shared.stores.telemetry import pool_telemetry


def test_a_column_as_large_as_a_part_is_requested_whole() -> None:
    requested = pool_telemetry._selected(["system.memory.usage"], "___m")
    assert requested
    assert bytes_columns("system__memory__usage___m", bytes(MAX_PART)).keys() <= set(requested)
