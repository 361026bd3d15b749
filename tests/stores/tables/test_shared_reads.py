"""Rows that are read once for one piece of work: copies for each reader, gone after a write, and nothing outside."""

import asyncio
from typing import Any

import pytest

from shared.errors import CacheConflictError
from shared.stores.tables.table_requests import TableTransport, is_sharing, reads_shared
from shared.stores.tables.tables import Tables, load_row, load_rows, rows_between, save_row


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns the paths of the reads that are sent, in order."""
    paths, send = list[str](), TableTransport.send

    async def noted(self: TableTransport, request: Any, **options: Any) -> Any:
        if request.method == "GET":
            paths.append(request.url)
        return await send(self, request, **options)

    monkeypatch.setattr(TableTransport, "send", noted)
    return paths


async def stored(tables: Tables, partition: str, **columns: int) -> str:
    return await save_row(tables["accounts"], {"PartitionKey": partition, "RowKey": "a", **columns}, None)


async def test_rows_and_missing_ones_are_read_once_also_by_tasks_that_the_work_starts(
    tables: Tables, reads: list[str]
) -> None:
    await stored(tables, "once", number=1)
    with reads_shared():
        for _ in range(2):
            row, missing = await load_row(tables["accounts"], "once", "a"), await load_row(tables["accounts"], "x", "a")
            rows = await asyncio.create_task(load_rows(tables["accounts"], "once"))
            assert (row or {})["number"] == rows[0]["number"] == 1
            assert missing is None
            row.clear() if row else None
            rows[0].clear()
    assert len(reads) == 3
    assert (await load_row(tables["accounts"], "once", "a") or {})["number"] == 1
    assert len(reads) == 4


async def test_a_row_is_taken_from_its_partition_where_that_was_read_as_a_whole(
    tables: Tables, reads: list[str]
) -> None:
    await stored(tables, "whole", number=1)
    with reads_shared():
        await load_rows(tables["accounts"], "whole")
        for _ in range(2):
            row, missing = (
                await load_row(tables["accounts"], "whole", "a"),
                await load_row(tables["accounts"], "whole", "b"),
            )
            assert (row or {})["number"] == 1
            assert missing is None
            row.clear() if row else None
        assert await load_row(tables["accounts"], "whole", "a", select=["number"])
    assert len(reads) == 2


async def test_dependencies_beside_leaves_are_read_once_and_leaves_each_time(tables: Tables, reads: list[str]) -> None:
    for name in ("dependencies", "s"):
        await save_row(tables["tasks"], {"PartitionKey": "job", "RowKey": name, "number": 1}, None)
    with reads_shared():
        for _ in range(3):
            assert (await load_row(tables["tasks"], "job", "dependencies") or {})["number"] == 1
        assert len(reads) == 1
        for _ in range(2):
            assert await load_row(tables["tasks"], "job", "s")
    assert len(reads) == 3


async def test_columns_parameters_and_tables_tell_reads_apart(tables: Tables, reads: list[str]) -> None:
    await stored(tables, "apart", number=1)
    with reads_shared():
        whole, keys = (
            await load_rows(tables["accounts"], "apart"),
            await load_rows(tables["accounts"], "apart", ["RowKey"]),
        )
        assert ("number" in whole[0], "number" in keys[0]) == (True, False)
        assert await load_rows(tables["accounts"], "other") == await load_rows(tables["pools"], "apart") == []
    assert len(reads) == 4


async def test_a_write_and_a_conflict_forget_what_was_read(tables: Tables) -> None:
    etag = await stored(tables, "written", number=1)
    with reads_shared():
        assert (await load_row(tables["accounts"], "written", "a") or {})["number"] == 1
        etag = await save_row(tables["accounts"], {"PartitionKey": "written", "RowKey": "a", "number": 2}, etag)
        assert (await load_row(tables["accounts"], "written", "a") or {})["number"] == 2
        await asyncio.create_task(_outside(tables, etag))
        with pytest.raises(CacheConflictError):
            await save_row(tables["accounts"], {"PartitionKey": "written", "RowKey": "a", "number": 9}, etag)
        assert (await load_row(tables["accounts"], "written", "a") or {})["number"] == 3


async def _outside(tables: Tables, etag: str) -> None:
    with reads_shared():  # as another piece of work, which this one doesn't see
        await save_row(tables["accounts"], {"PartitionKey": "written", "RowKey": "a", "number": 3}, etag)


async def test_a_list_that_was_not_read_to_its_end_is_read_again(tables: Tables) -> None:
    for key in ("a", "b", "c"):
        await save_row(tables["accounts"], {"PartitionKey": "cut", "RowKey": key}, None)
    with reads_shared():
        rows = rows_between(tables["accounts"], "cut", "", "~", at_once=1)
        assert (await anext(rows))["RowKey"] == "a"
        await rows.aclose()
        again = [row["RowKey"] async for row in rows_between(tables["accounts"], "cut", "", "~", at_once=1)]
    assert again == ["a", "b", "c"]


async def test_task_leaves_are_not_kept(tables: Tables, reads: list[str]) -> None:
    with reads_shared():
        for _ in range(2):
            assert await load_row(tables["tasks"], "leaves", "s1") is None
    assert len(reads) == 2


async def test_task_leaves_are_not_gathered_either_which_a_job_of_a_million_tasks_would_fill_memory_with(
    tables: Tables,
) -> None:
    names = tables["tasks"].table_name, tables["accounts"].table_name
    assert [is_sharing(name) for name in names] == [False, False]
    with reads_shared():
        assert [is_sharing(name) for name in names] == [False, True]
