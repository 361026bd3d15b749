"""Backups while the app writes: a copy is a state that a crash could have left."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from local.backup import backup as backups
from local.backup import reading
from local.backup.manifest import Manifest, ManifestBlob
from local.backup.plan import FRESH, PLANS
from tests.backup.conftest import Bench, Store

JOB, GENERATION = "job-1", "demo.europe~job-1~g1"
LEAVES = 60  # in three answers at least


@asynccontextmanager
async def writing(step: Callable[[int], Awaitable[None]]) -> Any:
    """Repeats a step with a growing number, from before the block until its end; yields a function for that number."""
    number, stopped, under_way = 0, False, asyncio.Event()

    async def go_on() -> None:
        nonlocal number
        while not stopped:
            number += 1
            await step(number)
            under_way.set()
            await asyncio.sleep(0.02)

    task = asyncio.create_task(go_on())
    await under_way.wait()
    yield lambda: number
    stopped = True
    await task


def leaf(number: int, value: int) -> dict[str, Any]:
    return {"PartitionKey": GENERATION, "RowKey": f"s{number:04}", "value": value, "d0": bytes(3000)}


async def poll(store: Store, number: int) -> None:
    """Writes like a poll: the first and the last leaf in one step, the head, the job's row."""
    await store.put("tasks", [leaf(0, number), leaf(LEAVES - 1, number)])
    await store.put("tasks", [{"PartitionKey": GENERATION, "RowKey": "!", "value": number}])
    row = {"PartitionKey": "demo.europe", "RowKey": JOB, "generation": "g1", "value": number}
    await store.put("jobs", [row])


async def polled(bench: Bench) -> Store:
    store = await bench.store()
    await store.put("tasks", [leaf(number, 0) for number in range(LEAVES)])
    return store


async def test_leaves_of_one_generation_are_as_of_one_moment(bench: Bench) -> None:
    store = await polled(bench)
    for attempt in range(3):
        async with writing(lambda number: poll(store, number)) as polls:
            before = polls()
            manifest = await bench.backup(store, f"b{attempt}").run()
            assert polls() > before
        target = await bench.restored(f"b{attempt}")
        rows = {row["RowKey"]: row["value"] for row in await target.rows("tasks")}
        assert rows["s0000"] == rows[f"s{LEAVES - 1:04}"] > 0
        assert rows["!"] in (rows["s0000"], rows["s0000"] - 1)
        assert manifest.tables["tasks"].unsettled == 0


async def test_a_job_is_never_ahead_of_its_leaves_and_is_marked_dirty(bench: Bench) -> None:
    store = await polled(bench)
    async with writing(lambda number: poll(store, number)):
        await bench.backup(store).run()
    target = await bench.restored()
    (job,) = await target.rows("jobs")
    rows = {row["RowKey"]: row["value"] for row in await target.rows("tasks")}
    assert job["value"] <= rows["!"]
    assert job["dirty"] is True


async def test_a_partition_that_never_rests_is_unsettled(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_TRIES", 3)
    store = await polled(bench)
    monkeypatch.setattr(reading.TableReader, "_refreshed", lambda *_: asyncio.sleep(0, result=1))
    manifest, _ = await bench.copied(store)
    assert manifest.tables["tasks"].unsettled == 1


async def test_a_resume_remembers_partitions_that_never_rested(bench: Bench) -> None:
    store = await polled(bench)
    manifest = await bench.backup(store).run()
    copy = manifest.tables["tasks"]
    blob = ManifestBlob(bench.backup(store).container, "b")
    await blob.load()
    await blob.save(replace(manifest.with_table(replace(copy, finished=None, unsettled=2)), finished=None))
    assert (await bench.backup(store).run()).tables["tasks"].unsettled == 2


async def take_in(store: Store, after: int, step: int) -> None:
    """Writes like an ingestion step: new events, the checkpoint of a blob and the totals in one transaction."""
    number = after + step
    rows: list[dict[str, Any]] = [
        {"PartitionKey": "demo.europe", "RowKey": "!", "stored": number * 3},
        {"PartitionKey": "demo.europe", "RowKey": f"oblob-{number % 3}", "offset": number},
    ]
    for place in range(3):
        minute = 0xFFFFFFFF - number * 7 % 50
        rows.append(
            {"PartitionKey": "demo.europe", "RowKey": f"c{minute:08x}~blob-{number % 3}~{number - 1:013x}~{place}"}
        )
    await store.put("events", rows)


async def test_events_agree_with_checkpoints_and_totals(bench: Bench) -> None:
    store = await bench.store()
    for number in range(1, 50):
        await take_in(store, 0, number)
    for attempt in range(3):
        async with writing(partial(take_in, store, 1000 * (attempt + 1))) as steps:
            before = steps()
            await bench.backup(store, f"b{attempt}").run()
            assert steps() > before
        target = await bench.restored(f"b{attempt}")
        rows = {row["RowKey"]: row for row in await target.rows("events")}
        latest = max(row["offset"] for key, row in rows.items() if key.startswith("o"))
        assert rows["!"]["stored"] == latest * 3
        in_source = [row["RowKey"] for row in await store.rows("events") if row["RowKey"].startswith("c")]
        covered = {key for key in in_source if int(key.split("~")[2], 16) < latest}
        assert {key for key in rows if key.startswith("c")} == covered


@pytest.mark.parametrize(("age", "expected"), [(0, (True, False)), (3600, (None, True))])
async def test_recent_notes_on_hours_are_copied_with_weaker_claims(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, age: int, expected: tuple[Any, Any]
) -> None:
    store = await bench.store()
    note: dict[str, Any] = {"PartitionKey": "demo.europe", "RowKey": "n~1~b~1", "rolled": True}
    await store.put("nodeindex", [note, {**note, "RowKey": "n~1~b~2", "blob": "x"}])
    later = datetime.now(UTC) + timedelta(seconds=age)
    monkeypatch.setattr(backups, "_now", lambda: later)
    _, target = await bench.copied(store)
    overtaken, arrival = await target.rows("nodeindex")
    assert (overtaken.get("hours"), overtaken["rolled"]) == expected
    assert "hours" not in arrival
    assert arrival["rolled"] is True


async def test_jobs_much_older_than_their_leaves_are_copied_again(bench: Bench) -> None:
    store = await polled(bench)
    await poll(store, 1)
    done = await bench.backup(store).run()
    blob = ManifestBlob(bench.backup(store).container, "b")
    await blob.load()
    await blob.save(half_done(done, timedelta(minutes=1)))
    await poll(store, 2)
    assert (await bench.backup(store).run()).tables["jobs"].segments == done.tables["jobs"].segments
    await blob.load()
    await blob.save(half_done(done, FRESH))
    assert (await bench.backup(store).run()).tables["jobs"].segments != done.tables["jobs"].segments


def half_done(manifest: Manifest, age: timedelta) -> Manifest:
    """Returns the manifest as left `age` ago, before leaves were copied."""
    jobs = replace(manifest.tables["jobs"], begun=datetime.now(UTC) - age)
    others = [plan.name for plan in PLANS if plan.name not in ("accounts", "jobs")]
    return replace(manifest.without(*others).with_table(jobs), finished=None)


def test_tables_that_confirm_others_are_copied_first() -> None:
    order = [plan.name for plan in PLANS]
    confirming = ["accounts jobs tasks jobhistory", "accounts pools nodes", "pools poolhistory", "blobs events rejects"]
    confirming += ["accounts jobschedules", "blobs telemetry nodeindex"]
    assert all(sorted(some.split(), key=order.index) == some.split() for some in confirming)
