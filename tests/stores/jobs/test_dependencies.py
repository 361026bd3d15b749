"""The row of a job's dependencies: written over, read as written, and unreadable where damaged."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.dependencies.dependencies import BlockingTask, Dependencies
from shared.domain.dependencies.stored_dependencies import StoredDependencies
from shared.errors import UnreadableError
from shared.stores.jobs.dependencies import DependencyStore
from shared.stores.tables.tables import Tables

T0 = datetime(2026, 11, 29, 3, tzinfo=UTC)
PARTITION = "demo.westeurope~dependencies~g1"
FOUND = Dependencies(
    9, whole=False, held=5, lost=2, astray=1, unsure=1, blockers=(BlockingTask("Ä first", "failed", 2),), circular=2,
    cycle=("a", "b", "a"),
)  # fmt: skip


async def test_the_latest_dependencies_are_read_as_written(tables: Tables) -> None:
    store = DependencyStore(tables)
    assert await store.load(PARTITION) is None
    for found in (Dependencies(0, whole=True), FOUND):
        await store.save(PARTITION, StoredDependencies(T0, found))
        assert await store.load(PARTITION) == StoredDependencies(T0, found)


async def test_damaged_dependencies_are_unreadable_until_the_next_write(tables: Tables) -> None:
    store, damaged = DependencyStore(tables), f"{PARTITION}~damaged"
    await tables["tasks"].create_entity({"PartitionKey": damaged, "RowKey": "dependencies", "schema": 1, "asOf": T0})
    with pytest.raises(UnreadableError):
        await store.load(damaged)
    await store.save(damaged, StoredDependencies(T0, FOUND))
    assert (await store.load(damaged) or StoredDependencies(T0, Dependencies(0, whole=True))).dependencies == FOUND


@pytest.mark.parametrize(
    ("moved", "known", "holds"),
    [(-1, 600, True), (0, 600, True), (1, 300, True), (1, 301, False), (200, 250, True)],
)
def test_dependencies_hold_for_five_minutes_or_while_no_task_moves(moved: int, known: int, *, holds: bool) -> None:
    moments = (T0 + timedelta(seconds=seconds) for seconds in (moved, known))
    moved_at, as_of = moments
    assert StoredDependencies(T0, FOUND).holds(moved_at=moved_at, as_of=as_of) == holds
