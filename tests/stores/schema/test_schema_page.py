"""docs/schema.md and the code agree on versions of rows; rows of newer versions are refused."""

import re
from dataclasses import replace
from typing import Any

import pytest

from local.backup import manifest
from local.dev.system.checkout import HERE
from shared.domain.accounts.monitoring import Monitoring
from shared.domain.leaves import leaf_summaries, leaves
from shared.domain.tasks import job_statistics
from shared.errors import UnreadableError
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.jobs import heads
from shared.stores.tables.tables import NAMES, Tables
from shared.stores.tables.unreadable import SCHEMAS, decoding, refuse_newer, schema_of

PAGE = (HERE.root / "docs/schema.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")]


def test_the_page_has_all_tables() -> None:
    assert {row[0].strip("`") for row in ROWS} == set(NAMES)


def test_the_page_has_the_versions_of_the_code() -> None:
    packed = {
        "leaf": leaves.FORMAT,
        "summary": leaf_summaries.FORM,
        "failures": heads._FORM,
        "insight": job_statistics.FORM,
    }
    documented = {name: int(number) for row in ROWS for name, number in re.findall(r"([a-z ]+) (\d+)\Z", row[2])}
    assert documented == {**SCHEMAS, **packed}
    assert f"backup {manifest.FORMAT}," in PAGE


def test_the_page_says_where_each_version_stands() -> None:
    marked = {row[2].rpartition(" ")[0] for row in ROWS if row[3] == "column `schema`"}
    assert marked == set(SCHEMAS)
    assert all(row[4] for row in ROWS)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_rows_of_a_newer_version_are_refused_and_those_of_before_the_column_read(kind: str) -> None:
    row: dict[str, Any] = {"PartitionKey": "p", "RowKey": "r", "etag": "e"}
    for readable in (row, row | schema_of(kind)):
        with decoding(readable, kind, kind=kind):
            assert readable["RowKey"] == "r"
    with (
        pytest.raises(UnreadableError, match="it has schema 99, and this version of the app reads up to"),
        decoding(row | {"schema": 99}, kind, kind=kind),
    ):
        pytest.fail("a newer row is decoded")


def test_a_kind_without_a_version_is_a_defect() -> None:
    with pytest.raises(KeyError):
        refuse_newer({}, "whatever")


async def test_rows_are_written_with_their_version(tables: Tables, partition: str) -> None:
    store = MonitoringStore(tables)
    stored = await store.save(partition, Monitoring())
    row = await tables["accounts"].get_entity(partition, "monitoring")
    assert row["schema"] == SCHEMAS["monitoring"]
    await tables["accounts"].update_entity({**row, "pollSeconds": 5, "schema": SCHEMAS["monitoring"] + 1})
    assert (await store.load(partition)).poll_seconds is None
    assert replace(stored, etag=None) == Monitoring()
