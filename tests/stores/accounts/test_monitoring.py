"""Monitoring and the round of an account share one partition and are read together."""

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.data.tables import UpdateMode

from shared.domain.accounts.monitoring import Monitoring, MonitoringChange
from shared.domain.polling.rounds import Mark, Round
from shared.errors import CacheConflictError
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.accounts.rounds import RoundStore
from shared.stores.tables.tables import Tables
from shared.stores.tables.unreadable import SCHEMAS

T0 = datetime(2026, 11, 21, 7, 0, 0, 123_456, tzinfo=UTC)
CASES = {
    "bare": Monitoring(),
    "off": Monitoring(enabled=False, changed_at=T0, switched_at=T0),
    "full": Monitoring(enabled=True, poll_seconds=86_400, changed_at=T0, switched_at=T0),
}


@pytest.fixture
def account() -> str:
    """Returns an account key for a single test."""
    return f"demo{secrets.token_hex(6)}"


@pytest.mark.parametrize("case", CASES)
async def test_monitoring_is_loaded_as_it_was_saved(tables: Tables, account: str, case: str) -> None:
    store = MonitoringStore(tables)
    saved = await store.save(account, CASES[case])
    assert saved == replace(CASES[case], etag=saved.etag)
    assert await store.load(account) == saved
    assert await store.load_with_round(account) == (saved, None)


async def test_an_account_without_stored_rows_is_watched(tables: Tables, account: str) -> None:
    store = MonitoringStore(tables)
    assert await store.load(account) == Monitoring()
    assert await store.load_with_round(account) == (Monitoring(), None)


async def test_the_round_comes_with_the_monitoring(tables: Tables, account: str) -> None:
    store, rounds = MonitoringStore(tables), RoundStore(tables)
    await rounds.save(account, Round(T0, finished_at=T0, failures={"a": "why"}))
    assert await store.load_with_round(account) == (Monitoring(), await rounds.load(account))
    saved = await store.save(account, CASES["off"])
    assert await store.load_with_round(account) == (saved, await rounds.load(account))


@pytest.mark.parametrize("columns", [{"enabled": False}, {"enabled": None}, {"enabled": "paused"}])
async def test_an_account_that_a_newer_version_paused_stays_so_for_this_one(
    tables: Tables, account: str, columns: dict[str, Any]
) -> None:
    store = MonitoringStore(tables)
    await store.save(account, CASES["off"])
    row: dict[str, Any] = {"PartitionKey": account, "RowKey": "monitoring", "schema": SCHEMAS["monitoring"] + 1}
    newer = row | {name: value for name, value in columns.items() if value is not None}
    await tables["accounts"].update_entity(newer, mode=UpdateMode.REPLACE)
    for found in (await store.load(account), (await store.load_with_round(account))[0]):
        assert found.off_reason
    slower = found.changed(MonitoringChange(sets_rate=True, poll_seconds=300), T0)
    assert not (await store.save(account, slower)).enabled
    assert not (await store.load(account)).enabled


async def test_an_account_that_a_newer_version_polls_is_polled_by_this_one_at_the_usual_rate(
    tables: Tables, account: str
) -> None:
    store = MonitoringStore(tables)
    saved = await store.save(account, CASES["full"])
    newer = {"PartitionKey": account, "RowKey": "monitoring", "schema": SCHEMAS["monitoring"] + 1}
    await tables["accounts"].update_entity(newer)
    found = await store.load(account)
    assert (found.off_reason, found.poll_seconds) == (None, None)
    assert found.etag != saved.etag
    assert not found.readable
    off = await store.save(account, found.changed(MonitoringChange(enabled=False), T0))
    assert await store.load(account) == off


async def test_a_change_that_another_process_made_is_not_overwritten(tables: Tables, account: str) -> None:
    store = MonitoringStore(tables)
    first = await store.save(account, CASES["off"])
    second = await store.save(account, replace(first, poll_seconds=5))
    for stale in (first, CASES["full"]):
        with pytest.raises(CacheConflictError):
            await store.save(account, stale)
    assert await store.load(account) == second


async def test_marks_of_messages_are_loaded_to_the_microsecond_that_names_them(tables: Tables, account: str) -> None:
    rounds = RoundStore(tables)
    marks = {"a": Mark(T0), "b": Mark(T0 + timedelta(minutes=1), T0 + timedelta(microseconds=1))}
    saved = await rounds.save(account, Round(T0, finished_at=T0, queued=marks))
    loaded = await rounds.load(account)
    assert loaded
    assert (loaded.queued, loaded.etag) == (marks, saved.etag)


async def test_a_change_of_a_missing_round_begins_with_a_new_one(tables: Tables, account: str) -> None:
    rounds = RoundStore(tables)
    assert await rounds.change(account, lambda stored: stored) is None
    assert await rounds.change(account, lambda _: None, new=Round(T0, finished_at=T0)) is None
    assert await rounds.load(account) is None
    changed = await rounds.change(account, lambda stored: replace(stored, reason="why"), new=Round(T0, finished_at=T0))
    assert changed
    assert await rounds.load(account) == changed
    again = await rounds.change(
        account, lambda stored: replace(stored, reason=None), new=Round(T0, finished_at=T0, reason="new")
    )
    assert again
    assert await rounds.load(account) == again


async def test_a_round_without_a_number_that_every_version_wrote_is_unreadable(tables: Tables, account: str) -> None:
    rounds = RoundStore(tables)
    await rounds.save(account, Round(T0, finished_at=T0, jobs_polled=7))
    row = dict(await tables["accounts"].get_entity(account, "round"))
    del row["jobsPolled"]
    await tables["accounts"].update_entity(row, mode=UpdateMode.REPLACE)
    found = await rounds.load(account)
    assert found
    assert found.reason
    assert "can't be read" in found.reason
