"""Usage of days in Table Storage: written together, read by month and part, deleted by day."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from shared.domain.cost.busy_nodes import RunSum
from shared.domain.cost.usage_days import JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay
from shared.errors import CacheConflictError, StorageError
from shared.stores import usage_days
from shared.stores.tables.rows import Row, json_columns
from shared.stores.tables.tables import Tables, rows_between
from shared.stores.usage_days import Part, UsageDayStore

_KIND = NodeKind("standard_d2s_v5", True)
_FIRST = 20_453  # 2025-12-31
_JOBS: tuple[Part, ...] = ("jobs",)
_HOURS: tuple[Part, ...] = ("hours",)


def _day(day: int) -> UsageDay:
    units = {_KIND: {"idle": 10**12, "succeeded": day}}
    return UsageDay(
        day,
        day * 86_400_000 + 1,
        {"p": PoolDay("P", 4, "westeurope", "linux", "none", units)},
        {"p": {0: units, 23: {_KIND: {"idle": 5}}}},
        {"j": JobDay("J", {JobUsageKey("p", _KIND, "succeeded"): day})},
        settled=2,
        outcomes_as_of=(day, day + 1),
        runs_as_of=day * 86_400_000 + 2,
    )


async def test_days_of_several_months_are_read_as_they_were_written(tables: Tables) -> None:
    store = UsageDayStore(tables)
    for day in range(_FIRST, _FIRST + 3):
        await store.save("a", _day(day))
    await store.save("ab", _day(_FIRST))
    found = await store.load("a", range(_FIRST, _FIRST + 40), ("hours", "jobs"))
    assert list(found) == [_FIRST, _FIRST + 1, _FIRST + 2]
    for day, usage in found.items():
        assert (usage.pools, usage.hours, usage.jobs) == (_day(day).pools, _day(day).hours, _day(day).jobs)
        assert (usage.as_of, usage.is_final) == (_day(day).as_of, False)
        assert (usage.outcomes_as_of, usage.runs_as_of) == (_day(day).outcomes_as_of, _day(day).runs_as_of)
    pools = await store.load("a", range(_FIRST + 1, _FIRST + 2))
    assert {day: (usage.hours, usage.jobs) for day, usage in pools.items()} == {_FIRST + 1: ({}, {})}


async def test_ended_runs_of_jobs_are_read_as_they_were_written_and_earlier_versions_stored_none(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, day, key = UsageDayStore(tables), _FIRST + 120, JobUsageKey("p", _KIND, "succeeded")
    failed, none = key._replace(outcome="failed"), key._replace(outcome="running")
    jobs = {
        "j": JobDay("J", {none: 2, key: 7}, {failed: 3}, {key: RunSum(2, 9)}, {failed: RunSum(1, 3)}, 10**9),
        "k": JobDay("K", {key: 7}, {}, {}, {failed: RunSum(1, 3)}, 10**9, has_earlier=True),
        "l": JobDay("L", {key: 7}),
    }
    await store.save("ended", UsageDay(day, 0, jobs=jobs))
    (found,) = (await store.load("ended", range(day, day + 1), _JOBS)).values()
    assert (found.jobs, found.runs_as_of) == (jobs, None)
    monkeypatch.setattr(usage_days, "json_columns", _without_ends)
    await store.save("ended", replace(found, etag=found.etag))
    (found,) = (await store.load("ended", range(day, day + 1), _JOBS)).values()
    units = {name: (job.settled, job.open) for name, job in jobs.items()}
    assert found.jobs == {name: JobDay(name.upper(), *units[name]) for name in ("j", "l")} | {
        "k": JobDay("K", {key: 7}, {failed: 0})
    }


def _without_ends(name: str, value: Any) -> Row:
    """Returns columns as the version wrote them that kept no ends of runs."""
    return {} if name == "ends" else json_columns(name, value)


async def test_of_two_hosts_that_write_a_day_one_gets_a_conflict_and_changes_nothing(tables: Tables) -> None:
    store, day = UsageDayStore(tables), _FIRST + 100
    await store.save("a", _day(day))
    (stored,) = (await store.load("a", range(day, day + 1), _JOBS)).values()
    await store.save("a", stored)
    with pytest.raises(CacheConflictError):
        await store.save("a", UsageDay(day, 0, etag=stored.etag))
    with pytest.raises(CacheConflictError):
        await store.save("a", UsageDay(day, 0))
    assert (await store.load("a", range(day, day + 1), _JOBS))[day].jobs == _day(day).jobs


async def test_hours_are_never_older_than_the_etag_under_which_their_day_is_written(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, day = UsageDayStore(tables), _FIRST + 150
    await store.save("late", _day(day))
    (before,) = (await store.load("late", range(day, day + 1), ("hours", "jobs"))).values()

    async def late(table: Any, partition: str, first: str, last: str) -> AsyncGenerator[Row]:
        if first.startswith("d"):  # another host writes the day before its first row is read
            await asyncio.sleep(0.3)
            await UsageDayStore(tables).save("late", replace(before, hours={"p": {5: {_KIND: {"idle": 6}}}}, settled=5))
        async for row in rows_between(table, partition, first, last):
            yield row

    monkeypatch.setattr(usage_days, "rows_between", late)
    (found,) = (await store.load("late", range(day, day + 1), _HOURS)).values()
    assert (found.settled, found.hours) == (5, {"p": {5: {_KIND: {"idle": 6}}}})


async def test_days_are_deleted_once_their_retention_is_over(tables: Tables) -> None:
    store, first = UsageDayStore(tables), _FIRST + 200
    for day in range(first, first + 3):
        await store.save("kept", _day(day))
    assert await store.delete_before("kept", first + 2) == 6
    assert list(await store.load("kept", range(first, first + 9), ("hours", "jobs"))) == [first + 2]


@pytest.mark.parametrize("part", ["hours", "jobs"])
async def test_a_day_with_more_than_fits_into_a_row_is_refused_and_stays_as_it_was(tables: Tables, part: str) -> None:
    store, day, key = UsageDayStore(tables), _FIRST + 300, JobUsageKey("p", _KIND, "succeeded")
    numbers = [sha256(str(at).encode()) for at in range(36_000)]  # which can't be compressed
    units = [int.from_bytes(one.digest()[:4]) for one in numbers]
    classes = ("succeeded", "failed", "running", "idleSlots", "idle", "starting")
    more = [{_KIND: {name: one + at for at, name in enumerate(classes)}} for one in units]
    await store.save(part, _day(day))
    (stored,) = (await store.load(part, range(day, day + 1), ("hours", "jobs"))).values()
    large = {
        "hours": replace(stored, hours={f"p{at}": dict(enumerate(more[at : at + 24])) for at in range(0, 36_000, 24)}),
        "jobs": replace(
            stored, jobs={one.hexdigest(): JobDay("J", {key: time}) for one, time in zip(numbers, units, strict=True)}
        ),
    }[part]
    with pytest.raises(StorageError, match="usage"):
        await store.save(part, large)
    (found,) = (await store.load(part, range(day, day + 1), ("hours", "jobs"))).values()
    assert (found.hours, found.jobs) == (stored.hours, stored.jobs)
