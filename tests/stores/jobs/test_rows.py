"""Jobs, rounds and operations: loaded exactly as saved, and no writer overwrites another unknowingly."""

import asyncio
import re
import secrets
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.data.tables import UpdateMode

from shared.domain.accounts.operations import PollOperation, Reason
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.job_samples import JobSample
from shared.domain.jobs.jobs import Job, JobFacts, Retired
from shared.domain.jobs.snapshots import Agreement, Confirmation, JobSnapshot, TaskRead
from shared.domain.leaves.leaves import Leaf
from shared.domain.polling.rounds import Round
from shared.domain.tasks.job_statistics import JobStatistics, StoredJobStatistics
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import CacheConflictError, StorageError
from shared.stores.accounts.operations import OperationStore
from shared.stores.accounts.rounds import RoundStore
from shared.stores.jobs.jobs import JobStore
from shared.stores.jobs.leaf_rows import LeafEntry, LeafReplacement
from shared.stores.jobs.task_cache import Directory, TaskCache
from shared.stores.tables.tables import Tables

T0 = datetime(2026, 11, 21, 7, 0, 0, 123_456, tzinfo=UTC)
MICROSECOND, MINUTE = timedelta(microseconds=1), timedelta(minutes=1)
COUNTS = TaskCounts(1, 2, 3, 9, 5, 4)
BARE_FACTS = JobFacts("Nightly:job-1", T0, "active", T0 + MICROSECOND)
FULL_FACTS = JobFacts(
    "Nightly:job-1", T0, "completed", T0 + MICROSECOND, "terminating", T0, T0 + 2 * MICROSECOND, "pool", -1000,
    "Nächtlich / 'quoted' <b>\n", "AllTasksComplete",
)  # fmt: skip
SNAPSHOT = JobSnapshot(
    "g1", T0 + 3 * MICROSECOND, "delta", COUNTS, T0 + 5 * MICROSECOND, T0 + 7 * MICROSECOND, T0 + 8 * MICROSECOND
)
JOBS = {
    "bare": Job(BARE_FACTS),
    "with all facts": Job(FULL_FACTS),
    "with rules": Job(replace(FULL_FACTS, rules=JobRules(7, timedelta(days=3, microseconds=1), True, True))),
    "with rules that bound nothing": Job(replace(BARE_FACTS, rules=JobRules())),
    "that may run nothing": Job(replace(BARE_FACTS, rules=JobRules(0, timedelta()))),
    "building": Job(
        BARE_FACTS, building="g2", building_since=T0, retired=(Retired("g0", T0), Retired("g1", T0 + MICROSECOND))
    ),
    "with a snapshot": Job(BARE_FACTS, SNAPSHOT),
    "agreed": Job(BARE_FACTS, replace(SNAPSHOT, agreement=Agreement(T0 + 9 * MICROSECOND, as_of=T0))),
    "disagreeing": Job(BARE_FACTS, replace(SNAPSHOT, agreement=Agreement(None, 2, TaskCounts(1, 0, 5, 8, 5, 3)))),
    "with an insight": Job(
        BARE_FACTS, replace(SNAPSHOT, statistics=StoredJobStatistics.of(JobStatistics(retries=7), b"12345678"))
    ),
    "with a measured read": Job(BARE_FACTS, replace(SNAPSHOT, read=TaskRead(0.25, 3, 2))),
    "dirty": Job(FULL_FACTS, SNAPSHOT, dirty=True),
    "sealed and deleted": Job(FULL_FACTS, replace(SNAPSHOT, source="firstRead"), finalized=True, deleted_at=T0),
    "with a sample that ended": Job(BARE_FACTS, SNAPSHOT, ended=(JobSample(1, 2, None, COUNTS),)),
    "re-created": Job(BARE_FACTS, ended=(JobSample(-5, 0, -3, COUNTS, doubted=True), JobSample(1, 2, None, COUNTS))),
    "empty words": Job(replace(BARE_FACTS, pool_id="", display_name="")),
    "far in time": Job(replace(BARE_FACTS, creation_time=datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))),
}


@pytest.fixture
def account() -> str:
    """Returns an account key for a single test."""
    return f"demo{secrets.token_hex(6)}"


@pytest.mark.parametrize("case", JOBS)
async def test_a_job_is_loaded_as_it_was_saved(tables: Tables, account: str, case: str) -> None:
    store, job = JobStore(tables), JOBS[case]
    saved = replace(job, etag=await store.save(account, job))
    assert await store.load(account, "NIGHTLY:JOB-1") == saved
    assert await store.load_all(account) == {"nightly=3ajob-1": saved}


async def test_fields_that_a_job_lost_leave_its_row(tables: Tables, account: str) -> None:
    store = JobStore(tables)
    etag = await store.save(account, Job(FULL_FACTS, SNAPSHOT, building="g2", building_since=T0))
    etag = await store.save(account, Job(BARE_FACTS, etag=etag))
    assert await store.load(account, BARE_FACTS.id) == Job(BARE_FACTS, etag=etag)


async def test_times_come_back_plain_and_in_utc(tables: Tables, account: str) -> None:
    store = JobStore(tables)
    await store.save(account, Job(FULL_FACTS, SNAPSHOT))
    loaded = await store.load(account, FULL_FACTS.id)
    assert loaded is not None
    times = [getattr(loaded.facts, field.name) for field in fields(loaded.facts) if field.name.endswith("_time")]
    assert {type(time) for time in times} == {datetime}
    assert {time.utcoffset() for time in times} == {timedelta()}


async def test_a_job_that_another_process_wrote_is_not_overwritten(tables: Tables, account: str) -> None:
    store = JobStore(tables)
    job = Job(BARE_FACTS)
    first = await store.save(account, job)
    await store.save(account, replace(job, etag=first, finalized=True))
    for stale in (first, None):
        with pytest.raises(CacheConflictError):
            await store.save(account, replace(job, etag=stale))
    loaded = await store.load(account, job.facts.id)
    assert loaded is not None
    assert loaded.finalized


async def test_a_job_whose_row_is_gone_conflicts_too(tables: Tables, account: str) -> None:
    store = JobStore(tables)
    etag = await store.save(account, Job(BARE_FACTS))
    await tables["jobs"].delete_entity(account, BARE_FACTS.key)
    with pytest.raises(CacheConflictError):
        await store.save(account, Job(BARE_FACTS, etag=etag))


async def test_a_row_that_cannot_be_read_is_deleted_as_it_was_loaded_only(tables: Tables, account: str) -> None:
    store = JobStore(tables)
    await store.save(account, JOBS["bare"])
    stored = await tables["jobs"].get_entity(account, JOBS["bare"].key)
    await tables["jobs"].update_entity({**stored, "state": 7}, UpdateMode.REPLACE)
    (first,) = (await store.load_known(account)).unreadable.values()
    assert abs((await store.written_at(account, first) or BARE_FACTS.creation_time) - datetime.now(UTC)) < timedelta(
        minutes=5
    )
    await tables["jobs"].update_entity({**stored, "state": 8}, UpdateMode.REPLACE)
    assert await store.written_at(account, first) is None
    with pytest.raises(CacheConflictError):
        await store.delete_unreadable(account, first)
    (second,) = (await store.load_known(account)).unreadable.values()
    await store.delete_unreadable(account, second)
    assert await store.written_at(account, second) is None
    assert (await store.load_known(account)).unreadable == {}


async def test_unsaved_rows_are_not_found(tables: Tables, account: str) -> None:
    assert await JobStore(tables).load(account, "missing") is None
    assert await JobStore(tables).load_all(account) == {}
    assert await RoundStore(tables).load(account) is None
    assert await OperationStore(tables).load(account, "missing") is None


async def test_jobs_of_a_schedule_are_those_under_its_id_and_no_others(tables: Tables, account: str) -> None:
    store = JobStore(tables)
    names = ["nightly", "Nightly:job-1", "nightly:job-10", "nightly2:job-1", "nightly-x:job-1", "nightl:job-1"]
    for name in names:
        await store.save(account, Job(replace(BARE_FACTS, id=name)))
    found = (await store.load_of_schedule(account, "NIGHTLY")).jobs
    assert [job.facts.id for job in found.values()] == ["Nightly:job-1", "nightly:job-10"]
    assert (await store.load_of_schedule(account, "missing")).jobs == {}


async def test_more_urgent_jobs_are_the_active_ones_of_a_higher_priority(tables: Tables, account: str) -> None:
    store = JobStore(tables)
    for name, priority, state in [
        ("low", -1, "active"), ("same", 0, "active"), ("high", 1, "active"), ("top", 1000, "active"),
        ("done", 5, "completed"), ("unknown", None, "active"),
    ]:  # fmt: skip
        await store.save(account, Job(replace(BARE_FACTS, id=name, priority=priority, state=state)))
    await store.save(f"{account}2", Job(replace(BARE_FACTS, id="elsewhere", priority=9)))
    assert [job.facts.id for job in await store.load_urgent(account, 1)] == ["high", "top"]
    assert [job.facts.id for job in await store.load_urgent(account, -999)] == ["high", "low", "same", "top"]


async def test_jobs_that_completed_before_a_time_are_left_out(tables: Tables, account: str) -> None:
    store = JobStore(tables)
    for name, state, at in [
        ("old", "active", T0), ("off", "disabled", T0), ("done", "completed", T0), ("lately", "completed", T0 + MINUTE),
    ]:  # fmt: skip
        await store.save(account, Job(replace(BARE_FACTS, id=name, state=state, state_transition_time=at)))
    gone = Job(replace(BARE_FACTS, id="gone"), deleted_at=T0)
    await store.save(account, gone)
    await store.save(f"{account}2", Job(replace(BARE_FACTS, id="elsewhere")))
    assert list((await store.load_since(account, T0 + MINUTE)).jobs) == ["gone", "lately", "off", "old"]
    assert "done" in (await store.load_since(account, T0)).jobs


async def test_more_jobs_than_a_page_holds_are_all_loaded(tables: Tables, account: str) -> None:
    store = JobStore(tables)
    rows = [Job(replace(BARE_FACTS, id=f"job-{number}")) for number in range(1005)]
    for start in range(0, len(rows), 100):
        batch = [
            ("upsert", {"PartitionKey": account, "RowKey": job.key, **minimal(job)})
            for job in rows[start : start + 100]
        ]
        await tables["jobs"].submit_transaction(batch)
    assert len(await store.load_all(account)) == 1005


def minimal(job: Job) -> dict[str, object]:
    facts = job.facts
    return {
        "id": facts.id,
        "creationTime": facts.creation_time,
        "state": facts.state,
        "stateTransitionTime": facts.state_transition_time,
    }


def confirmations(count: int) -> dict[str, Confirmation]:
    return {
        f"job-{number}": Confirmation(
            secrets.token_hex(8),
            T0 + number * MICROSECOND,
            Agreement(
                T0 + MICROSECOND if number % 2 else None,
                number,
                TaskCounts(1, 0, 2, 3, 1, 2) if number % 3 else None,
                T0 if number % 5 else None,
            ),
            TaskRead(0.25, number, 2) if number % 2 else None,
        )
        for number in range(count)
    }


ROUNDS = {
    "bare": Round(T0, finished_at=T0 + MICROSECOND),
    "full": Round(
        T0, T0 + 3 * MICROSECOND, "wörds", 9, confirmations(3), {"a": "why", "b=3ac": "größe"},
        T0 + 2 * MICROSECOND, T0 + 4 * MICROSECOND, T0 + 5 * MICROSECOND, 7, 8, T0 + 6 * MICROSECOND, 4,
        finished_at=T0 + MICROSECOND,
    ),
    "of many jobs": Round(
        T0, finished_at=T0, confirmations=confirmations(4000), failures={f"j{n}": "w" * 200 for n in range(999)}
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ROUNDS)
async def test_a_round_is_loaded_as_it_was_saved(tables: Tables, account: str, case: str) -> None:
    store = RoundStore(tables)
    await store.save(account, ROUNDS[case])
    loaded = await store.load(account)
    assert loaded is not None
    assert loaded.etag
    assert replace(loaded, etag=None) == ROUNDS[case]


async def test_a_round_with_fewer_words_leaves_nothing_of_the_one_before(tables: Tables, account: str) -> None:
    store = RoundStore(tables)
    await store.save(account, ROUNDS["of many jobs"])
    before = await store.load(account)
    assert before is not None
    await store.save(account, replace(ROUNDS["bare"], etag=before.etag))
    loaded = await store.load(account)
    assert loaded is not None
    assert replace(loaded, etag=None) == ROUNDS["bare"]


async def test_of_two_rounds_at_once_both_words_on_jobs_stay(tables: Tables, account: str) -> None:
    store = RoundStore(tables)
    early, late = Confirmation("g", T0, Agreement()), Confirmation("g", T0 + MICROSECOND, Agreement())
    await store.save(account, Round(T0, finished_at=T0, confirmations={"a": late, "b": early}))
    await store.save(account, Round(T0, finished_at=T0, confirmations={"a": early, "b": late, "c": early}))
    loaded = await store.load(account)
    assert loaded is not None
    assert loaded.confirmations == {"a": late, "b": late, "c": early}


OPERATIONS = {
    "of some jobs": PollOperation("1-a", "queued", T0, ("Render", "nightly:job-1", "größe")),
    "of no jobs": PollOperation("1-b", "running", T0, ()),
    "of as many jobs as there may be": PollOperation("1-d", "queued", T0, tuple(f"{n:064}" for n in range(1000))),
    "of all jobs": PollOperation(
        "1-c", "failed", T0, None, T0 + MICROSECOND, 5, 2, (Reason("Render", "w\n" * 20), Reason(None, "throttled"))
    ),
}


@pytest.mark.parametrize("case", OPERATIONS)
async def test_an_operation_is_loaded_as_it_was_saved(tables: Tables, account: str, case: str) -> None:
    store = OperationStore(tables)
    saved = await store.save(account, OPERATIONS[case])
    assert saved == replace(OPERATIONS[case], etag=saved.etag)
    assert await store.load(account, saved.id) == saved


async def test_an_operation_that_another_process_wrote_is_not_overwritten(tables: Tables, account: str) -> None:
    store = OperationStore(tables)
    queued = await store.save(account, OPERATIONS["of some jobs"])
    running = await store.save(account, replace(queued, status="running"))
    with pytest.raises(CacheConflictError):
        await store.save(account, replace(queued, status="failed"))
    assert await store.load(account, queued.id) == running


async def test_an_operation_with_every_reason_at_its_longest_fits_its_row(tables: Tables, account: str) -> None:
    reasons = tuple(Reason(f"job-{number}", "ü" * 4000) for number in range(200))
    ended = OPERATIONS["of some jobs"].ended(succeeded=0, reasons=reasons, now=T0)
    saved = await OperationStore(tables).save(account, ended)
    loaded = await OperationStore(tables).load(account, saved.id)
    assert loaded is not None
    assert loaded.failed == 200


@pytest.mark.parametrize("name", ["a/b", "../x", "a'b", "a#b?c", ""])
async def test_odd_names_that_clients_send_are_only_ever_looked_up(tables: Tables, account: str, name: str) -> None:
    assert await JobStore(tables).load(account, name) is None
    assert await JobStore(tables).load_all(f"x' or PartitionKey eq '{account}") == {}
    assert await OperationStore(tables).load(account, name) is None


async def test_storage_that_refuses_is_an_error_of_ours(azurite: Any) -> None:
    wrong = re.sub("AccountKey=[^;]*", "AccountKey=c2VjcmV0", azurite.connection_string)
    tables = Tables.connect(connection_string=wrong, endpoint=None, credential=None, prefix="")
    try:
        with pytest.raises(StorageError, match="refused to read jobs"):
            await JobStore(tables).load("demo", "Render")
    finally:
        await tables.close()


async def test_storage_that_says_nothing_is_given_up(azurite: Any) -> None:
    async def listen(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read(-1)

    async with await asyncio.start_server(listen, "127.0.0.1") as silent:
        address = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}/silent"
        storage = re.sub("TableEndpoint=[^;]*", f"TableEndpoint={address}", azurite.connection_string)
        limit = timedelta(seconds=0.5)
        tables = Tables.connect(connection_string=storage, endpoint=None, credential=None, prefix="", limit=limit)
        try:
            async with asyncio.timeout(10):  # it would try four times
                with pytest.raises(StorageError, match="didn't read jobs"):
                    await JobStore(tables).load("demo", "Render")
        finally:
            await tables.close()


async def test_a_job_is_deleted_only_as_it_was_loaded(tables: Tables, account: str) -> None:
    store = JobStore(tables)
    job = replace(Job(BARE_FACTS), etag=await store.save(account, Job(BARE_FACTS)))
    newer = replace(job, etag=await store.save(account, replace(job, finalized=True)))
    with pytest.raises(CacheConflictError):
        await store.delete(account, job)
    await store.delete(account, newer)
    await store.delete(account, newer)
    assert await store.load_all(account) == {}


async def test_operations_asked_for_before_a_time_are_deleted(tables: Tables, account: str) -> None:
    store = OperationStore(tables)
    for number in range(3):
        await store.save(account, PollOperation(f"p{number}", "succeeded", T0 + number * MICROSECOND, None))
    assert await store.delete_before(account, T0 + MICROSECOND) == 1
    assert [await store.load(account, f"p{number}") is not None for number in range(3)] == [False, True, True]


async def test_every_write_counts_when_it_was_answered_and_no_read_does(tables: Tables, account: str) -> None:
    store, before = JobStore(tables), tables.writes()
    job = Job(BARE_FACTS, etag=await store.save(account, Job(BARE_FACTS)))
    saved = tables.writes()
    await store.load(account, job.facts.id)
    await store.load_all(account)
    read = tables.writes()
    with pytest.raises(CacheConflictError):
        await store.save(account, Job(BARE_FACTS))
    refused = tables.writes()
    await TaskCache(tables).save_leaves(
        Directory(f"{account}~g"), [LeafReplacement(LeafEntry("s", COUNTS, None), [Leaf()])]
    )
    assert (saved - before, read - saved, refused - read, tables.writes() - refused) == (1, 0, 1, 1)


async def test_writes_are_counted_by_table_also_those_of_transactions(tables: Tables, account: str) -> None:
    def counted() -> list[int]:
        return [tables.writes(names) for names in (["jobs"], ["tasks"], ["accounts", "jobs"], None)]

    def grown(before: list[int]) -> list[int]:
        return [now - then for now, then in zip(counted(), before, strict=True)]

    before = counted()
    await TaskCache(tables).save_leaves(
        Directory(f"{account}~g"), [LeafReplacement(LeafEntry("s", COUNTS, None), [Leaf()])]
    )
    assert grown(before) == [0, 1, 0, 1]
    before = counted()
    await JobStore(tables).save(account, Job(replace(BARE_FACTS, id="odd/id(1)/jobs")))
    assert grown(before) == [1, 0, 1, 1]
