"""Names in storage exactly as written: tables, kinds of rows, columns, and the contents of JSON columns.

`tests/data/names/stored_columns.txt` has the columns, `tests/data/stored_rows.json` rows with all contents. Many of
these names are those of dataclass fields. Renaming such a field renames it in storage, unless the store is changed to
write the previous name: then these tests fail.
"""

import gzip
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from local.backup.plan import PLANS
from local.backup.rows import row_of
from local.dev.system.checkout import HERE
from shared.stores.tables.tables import NAMES, Tables
from tests.pinned_names import assert_pinned, assert_within, pinned
from tests.stores.schema.made_rows import LARGE, write_all
from tests.stores.schema.stored_rows import columns_of, readable, rows_of

ROWS = HERE.root / "tests/data/stored_rows.json"
TABLES_OF_0_1_0 = HERE.root / "tests/data/tables-0.1.0"
KEYS = ("PartitionKey", "RowKey")
type Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture
async def written(tables: Tables) -> AsyncIterator[Rows]:
    """Yields all rows of each table, after a row of each kind was written."""
    await write_all(tables)
    found = {name: await rows_of(tables[name]) for name in NAMES}
    yield found
    for name, rows in found.items():
        for row in rows:
            await tables[name].delete_entity(row["PartitionKey"], row["RowKey"])


async def test_tables_rows_and_columns_have_the_names_that_are_stored(written: Rows) -> None:
    found = [line for table, rows in written.items() for row in rows for line in columns_of(table, row)]
    assert_pinned("stored_columns", found, "stored")
    assert {line.split()[0] for line in pinned("stored_columns")} == {plan.name for plan in PLANS}


async def test_rows_are_stored_as_they_were_with_each_name_in_json_each_key_and_each_digest(written: Rows) -> None:
    expected = set(flat("", json.loads(ROWS.read_text(encoding="utf-8"))))
    found = set(flat("", readable_rows(written)))
    gone = [f"this name is stored: {line} (it is gone)" for line in sorted(expected - found)]
    new = [f"this name is stored: {line} (tests/data/stored_rows.json lacks it)" for line in sorted(found - expected)]
    assert not gone + new, "\n" + "\n".join(gone + new)


def flat(path: str, value: Any) -> Iterator[str]:
    """Yields a line for each value, preceded by the names that lead to it."""
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from flat(f"{path} {name}", part)
    elif isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        for place, part in enumerate(value):
            yield from flat(f"{path} [{place}]", part)
    else:
        yield f"{path.strip()}: {json.dumps(value, ensure_ascii=False)}"


def test_rows_of_0_1_0_have_no_other_names() -> None:
    found: list[str] = []
    for path in sorted(TABLES_OF_0_1_0.glob("*/*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            found += columns_of(path.parent.name, row_of(line))
    assert len(found) > 1000
    assert_within("stored_columns", found, "stored")


def readable_rows(written: Rows) -> dict[str, dict[str, Any]]:
    """Returns all rows except those of the large pool, by table and keys."""
    return {
        f"{table} {row['PartitionKey']} {row['RowKey']}": json.loads(
            json.dumps({name: readable(name, value) for name, value in sorted(row.items()) if name not in KEYS})
        )
        for table, rows in written.items()
        for row in rows
        if not row["RowKey"].startswith(LARGE)
    }
