"""Plans of long reads: loaded exactly as saved; of two processes that continue one plan, one gives way."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.reads.id_ranges import IdRange
from shared.domain.reads.read_plans import ReadPlan
from shared.errors import CacheConflictError, UnreadableError
from shared.stores.jobs.read_plans import ReadPlanStore
from shared.stores.tables.tables import Tables

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)
LINK = "https://demo.westeurope.batch.azure.com/jobs/a/tasks?$filter=id%20ge%20'it''s'&$skiptoken=" + "x" * 900


async def test_a_plan_is_loaded_as_it_was_saved(tables: Tables, partition: str) -> None:
    store = ReadPlanStore(tables)
    ranges = (
        IdRange(high="it's"),
        IdRange("it's", "naïve \u200b%", LINK, 2),
        *(IdRange(f"task-{number:07}", f"task-{number + 1:07}", f"{LINK}{number}", 1) for number in range(64)),
        IdRange("~"),
    )
    plan = ReadPlan("g1", T0, T0 + timedelta(microseconds=1), T0, ranges, 41_000, 202_211, T0 + timedelta(hours=1))
    saved = await store.save(partition, plan)
    assert await store.load(partition) == saved == replace(plan, etag=saved.etag)


async def test_a_plan_that_is_new_and_one_that_is_over_are_loaded_as_they_are(tables: Tables, partition: str) -> None:
    store = ReadPlanStore(tables)
    assert await store.load(partition) is None
    saved = await store.save(partition, ReadPlan("g1", T0, T0))
    assert await store.load(partition) == saved
    over = await store.save(partition, replace(saved, ranges=()))
    loaded = await store.load(partition)
    assert loaded == over
    assert loaded.ranges == ()
    await store.delete(partition, over)
    assert await store.load(partition) is None


async def test_of_two_that_go_on_with_a_plan_the_later_gives_way(tables: Tables, partition: str) -> None:
    store = ReadPlanStore(tables)
    first = await store.save(partition, ReadPlan("g1", T0, T0))
    await store.save(partition, replace(first, tasks=20_000))
    with pytest.raises(CacheConflictError):
        await store.save(partition, replace(first, tasks=19_000))
    with pytest.raises(CacheConflictError):
        await store.save(partition, ReadPlan("g1", T0, T0))
    with pytest.raises(CacheConflictError):
        await store.delete(partition, first)


async def test_a_plan_that_makes_no_sense_is_said_to_be_unreadable(tables: Tables, partition: str) -> None:
    store = ReadPlanStore(tables)
    await store.save(partition, ReadPlan("g1", T0, T0))
    await tables["tasks"].upsert_entity({"PartitionKey": partition, "RowKey": "reading", "ranges0": b"nonsense"})
    with pytest.raises(UnreadableError, match="reading"):
        await store.load(partition)
