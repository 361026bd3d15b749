"""Kept outputs on real storage: each run once, by any number of hosts, until it expires."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.domain.outputs.excerpts import ErrorExcerpt
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.failed_starts import key_of_start, key_of_starts, start_of
from shared.domain.outputs.kept_outputs import TAIL, KeptOutput, KeptTail, OutputMark
from shared.domain.outputs.output_limits import SpentOutputs
from shared.errors import CacheConflictError
from shared.stores.jobs.outputs import OutputStore
from shared.stores.tables.tables import Tables

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
RUN = FailedRun(5000, "task", "group", ("pool", "node"), "Task", 1, 3)
WORDS = bytes(at * at % 251 for at in range(TAIL))
OUTPUT = KeptOutput(RUN, NOW, 700, (KeptTail(TAIL + 9, 9, WORDS), KeptTail(reason="FileNotFound")))


@pytest.fixture
def store(tables: Tables) -> OutputStore:
    return OutputStore(tables)


async def test_an_output_is_loaded_as_it_was_saved(store: OutputStore, partition: str) -> None:
    await store.save(partition, "job", OUTPUT)
    found = await store.load(partition, "job", "task")
    assert found
    assert replace(found, tails=OUTPUT.tails) == OUTPUT
    stderr, stdout = found.tails
    assert (stderr.content, stderr.start, stderr.size, stdout.reason) == (WORDS, 9, TAIL + 9, "FileNotFound")
    assert await store.load(partition, "job", "other") is None


async def test_the_same_run_is_kept_once_and_a_later_one_replaces_it(store: OutputStore, partition: str) -> None:
    await asyncio.gather(*(store.save(partition, "job", replace(OUTPUT, expires=day)) for day in (700, 701, 702)))
    first = await store.load(partition, "job", "task")
    await store.save(partition, "job", replace(OUTPUT, expires=999))
    assert await store.load(partition, "job", "task") == first
    await store.save(partition, "job", replace(OUTPUT, run=RUN._replace(ended=6000, attempt=2)))
    later = await store.load(partition, "job", "task")
    assert later
    assert (later.run.ended, later.run.attempt) == (6000, 2)


async def test_a_job_has_its_mark_and_its_runs_without_their_contents(store: OutputStore, partition: str) -> None:
    empty = await store.load_job(partition, "job")
    assert (empty.etag, empty.runs) == (None, ())
    gone = (KeptTail(reason="NodeNotFound"),) * 2
    await store.save(partition, "job", OUTPUT)
    await store.save(partition, "job", KeptOutput(RUN._replace(task="gone"), NOW, 700, (gone[0], gone[1])))
    await store.save_mark(partition, "job", OutputMark(NOW, 5000, 9), None)
    found = await store.load_job(partition, "job")
    assert found.mark == OutputMark(NOW, 5000, 9)
    assert ([run.task for run in found.kept], [run.task for run in found.missed]) == (["task"], ["gone"])
    assert (found.by_group["group"], found.by_node["pool", "node"]) == (1, 2)
    with pytest.raises(CacheConflictError):
        await store.save_mark(partition, "job", OutputMark(NOW), None)


async def test_what_kept_outputs_say_is_read_without_their_contents(store: OutputStore, partition: str) -> None:
    excerpt = ErrorExcerpt("No such file: a", "No such file: <path>", ("before", "No such file: /a"))
    await store.save(partition, "job", replace(OUTPUT, excerpt=excerpt))
    await store.save(partition, "job", replace(OUTPUT, run=RUN._replace(task="other")))
    ((run, found),) = await store.load_examples(partition, "job")
    assert (run.task_id, found) == ("Task", excerpt)


async def test_two_hosts_do_not_spend_the_same_limits(store: OutputStore, partition: str) -> None:
    assert await store.load_spent(partition) == SpentOutputs()
    spent = await store.save_spent(partition, SpentOutputs(1, 2**40, 3, 4))
    assert await store.load_spent(partition) == spent
    await store.save_spent(partition, spent)
    with pytest.raises(CacheConflictError):
        await store.save_spent(partition, spent)


async def test_what_has_expired_is_deleted_and_nothing_else(store: OutputStore, partition: str) -> None:
    for task, day in (("a", 700), ("b", 701), ("c", 800)):
        await store.note_expiry(partition, "job", day)
        await store.save(partition, "job", replace(OUTPUT, run=RUN._replace(task=task), expires=day))
    await store.save_mark(partition, "job", OutputMark(NOW), None)
    assert await store.delete_expired(partition, 699) == 0
    assert await store.delete_expired(partition, 701) == 2
    assert [run.task for run in (await store.load_job(partition, "job")).runs] == ["c"]
    assert await store.delete_expired(partition, 701) == 0
    assert await store.delete_job(partition, "job", keep_mark=True) == 1
    assert (await store.load_job(partition, "job")).mark.created == NOW
    assert await store.delete_job(partition, "job") == 0
    assert (await store.load_job(partition, "job")).etag is None


async def test_each_run_of_a_nodes_start_task_is_kept_beside_the_others(store: OutputStore, partition: str) -> None:
    pool = key_of_starts("pool")
    for node, start in (("n1", 900), ("n1", 5000), ("n1-", 9000), ("n2", 7)):
        run = RUN._replace(task=key_of_start(node, start), ended=start + 1)
        await store.save(partition, pool, replace(OUTPUT, run=run))
    latest = await store.load_latest(partition, pool, "n1")
    assert latest
    assert start_of(latest.run) == 5000
    first = await store.load(partition, pool, key_of_start("n1", 900))
    assert first
    assert first.run.ended == 901
    assert await store.load_latest(partition, pool, "n") is None
    assert await store.load_latest(partition, "pool", "n1") is None
    assert len((await store.load_job(partition, pool)).kept) == 4


async def test_the_mark_of_a_pool_expires_and_that_of_a_job_does_not(store: OutputStore, partition: str) -> None:
    pool, run = key_of_starts("pool"), RUN._replace(task=key_of_start("n1", 5000))
    await store.note_expiry(partition, pool, 700)
    await store.save(partition, pool, replace(OUTPUT, run=run))
    await store.save_mark(partition, pool, OutputMark(after=9), None, 699)
    await store.save_mark(partition, "job", OutputMark(NOW), None)
    await store.note_expiry(partition, "job", 700)
    assert await store.delete_expired(partition, 700) == 1
    found = await store.load_job(partition, pool)
    assert (found.etag, found.runs) == (None, ())
    assert (await store.load_job(partition, "job")).etag
