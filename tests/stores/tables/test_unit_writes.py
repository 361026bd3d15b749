"""Answers to transactions, on real storage and in the fake of tests/services: each operation's, in order."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from azure.data.tables.aio import TableClient

from shared.stores.tables.rows import deleted, write_at_once, write_units, written
from shared.stores.tables.tables import Tables
from tests.services.fakes.memory_tables import Connection, MemoryTable, MemoryTables, Storage


@pytest.fixture(params=["real", "fake"])
def table(request: pytest.FixtureRequest, tables: Tables) -> TableClient:
    return (tables if request.param == "real" else MemoryTables(Connection(Storage())))["nodes"]


def row(partition: str, name: str, **columns: Any) -> dict[str, Any]:
    return {"PartitionKey": partition, "RowKey": name, **columns}


async def etags_of(table: TableClient, partition: str) -> dict[str, str]:
    return {
        entity["RowKey"]: str(entity.metadata["etag"])
        async for entity in table.query_entities("PartitionKey eq @partition", parameters={"partition": partition})
    }


async def test_a_transaction_answers_each_operation_and_deletions_without_an_etag(
    table: TableClient, partition: str
) -> None:
    first = await write_at_once(table, [written(row(partition, name), None) for name in "ab"])
    operations = [
        deleted(partition, "a", first["a"]),
        written(row(partition, "b", size=1), first["b"]),
        written(row(partition, "c"), None),
    ]
    answers = cast("list[dict[str, str]]", await table.submit_transaction(operations))
    stored = await etags_of(table, partition)
    assert answers == [{}, {"etag": stored["b"]}, {"etag": stored["c"]}]


async def test_rows_behind_a_deletion_have_their_own_etags(table: TableClient, partition: str) -> None:
    first = await write_at_once(table, [written(row(partition, name), None) for name in "ab"])
    units = [
        [deleted(partition, "a", first["a"]), written(row(partition, "b", size=1), first["b"])],
        [written(row(partition, "c"), None)],
    ]
    stored = await write_units(table, units), await etags_of(table, partition)
    assert stored[0] == [{"b": stored[1]["b"]}, {"c": stored[1]["c"]}]


REAL_WRITTEN = MemoryTable._written


def without_answers_for_deletions(table: MemoryTable, operations: Sequence[tuple[Any, ...]]) -> list[dict[str, str]]:
    return [answer for answer in REAL_WRITTEN(table, operations) if answer]


async def test_a_fake_that_answers_no_deletions_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryTable, "_written", without_answers_for_deletions)
    table = MemoryTables(Connection(Storage()))["nodes"]
    with pytest.raises(AssertionError):
        await test_a_transaction_answers_each_operation_and_deletions_without_an_etag(table, "fake")
    with pytest.raises(ValueError, match="zip"):
        await test_rows_behind_a_deletion_have_their_own_etags(table, "fake too")
