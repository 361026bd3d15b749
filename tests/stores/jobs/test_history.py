"""Rows of history on real storage: merged from any number of writes and writers, read by range, deleted by age."""

import secrets
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.core.stamps import to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS, Grain, HistoryRetention
from shared.domain.history.samples import rows_of
from shared.domain.jobs.job_samples import JobSample, job_sample_of
from shared.domain.tasks.tasks import TaskCounts
from shared.stores.history import JOB_HISTORY, HistoryStore
from shared.stores.tables.tables import Tables

T0 = to_milliseconds(datetime(2026, 11, 21, 7, tzinfo=UTC))
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
KEPT = HistoryRetention(minutes=timedelta(days=7), quarters=timedelta(days=90))


@pytest.fixture
def account() -> str:
    """Returns an account key for a single test."""
    return f"demo{secrets.token_hex(6)}"


def sample(minute: int, through: int | None = None) -> JobSample:
    begun = T0 + minute * MINUTE
    return JobSample(begun, T0 + (through or minute) * MINUTE, begun, TaskCounts(minute, 2, 3, 4, 5, 6))


async def loaded(store: HistoryStore, account: str, grain: Grain, job: str = "job") -> dict[int, JobSample]:
    """Returns all samples by the ends of their slots, in minutes since T0."""
    found = await store.load(account, job, grain, first=grain.row(0), last=grain.row(10**8))
    assert [slot for slot, _ in found] == sorted(slot for slot, _ in found)
    return {((slot + 1) * grain.length - T0) // MINUTE: job_sample_of(text) for slot, text in found}


async def test_samples_are_loaded_as_they_were_saved_however_often_and_in_any_order(
    tables: Tables, account: str
) -> None:
    store, samples = HistoryStore(tables, JOB_HISTORY), [sample(1), sample(2, through=130), sample(131), sample(140)]
    writes = [rows_of((samples[place],), samples[place + 1], KEPT) for place in (1, 0, 2, 1)]
    for rows in writes:
        await store.save(account, {"job": rows})
    assert await loaded(store, account, MINUTES) == {
        1: samples[0],
        2: samples[1],
        61: samples[1],
        121: samples[1],
        131: samples[2],
    }
    assert await loaded(store, account, QUARTERS) == {15: samples[1], 135: samples[2]}


async def test_only_the_rows_of_a_range_are_read(tables: Tables, account: str) -> None:
    store = HistoryStore(tables, JOB_HISTORY)
    await store.save(account, {"job": rows_of((sample(1, through=600),), None, KEPT)})
    first = MINUTES.slot(T0 + 2 * HOUR + 1)
    found = await store.load(account, "job", MINUTES, first=MINUTES.row(first), last=MINUTES.row(first + 60))
    assert [slot for slot, _ in found] == [first, first + 60]
    assert await store.load(account, "other", MINUTES, first=MINUTES.row(first), last=MINUTES.row(first + 60)) == []


async def test_a_hold_of_weeks_is_written_in_several_transactions(tables: Tables, account: str) -> None:
    store, weeks = HistoryStore(tables, JOB_HISTORY), JobSample(T0, T0 + 60 * DAY, None, TaskCounts(1))
    await store.save(account, {"job": rows_of((weeks,), None, KEPT)})
    assert len(await loaded(store, account, MINUTES)) == 7 * 24
    assert len(await loaded(store, account, QUARTERS)) == 1 + 60


async def test_rows_that_were_over_by_then_are_deleted_those_of_all_jobs_of_the_account_only(
    tables: Tables, account: str
) -> None:
    store, other = HistoryStore(tables, JOB_HISTORY), f"{account}-2"
    long, rows = sample(1, through=250), rows_of((sample(1, through=250),), None, KEPT)
    for owner, job in ((account, "job"), (account, "job-2"), (other, "job")):
        await store.save(owner, {job: rows})
    assert await store.delete_before(account, MINUTES, T0 + 2 * HOUR + MINUTE) == 4
    for job in ("job", "job-2"):
        assert await loaded(store, account, MINUTES, job) == {121: long, 181: long, 241: long}
        assert await loaded(store, account, QUARTERS, job) == {15: long}
    assert len(await loaded(store, other, MINUTES)) == 5
    assert await store.delete_before(account, QUARTERS, T0 + 2 * DAY) == 2
    assert await loaded(store, account, QUARTERS) == {}
    assert len(await loaded(store, account, MINUTES)) == 3


async def test_whether_there_is_any_history_of_a_job_is_known_of_that_job_alone(tables: Tables, account: str) -> None:
    store = HistoryStore(tables, JOB_HISTORY)
    assert not await store.knows(account, "job")
    await store.save(account, {"job": rows_of((sample(1),), None, KEPT)})
    assert await store.knows(account, "job")
    for other in ("jo", "job-2", "n" * 3000):
        assert not await store.knows(account, other)
