"""The history of pools on real storage: written by several writers, read by range, deleted by age, raced for."""

import asyncio
import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import msgspec
import pytest

from shared.domain.core.stamps import to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS, Grain, HistoryRetention
from shared.domain.history.samples import rows_of
from shared.domain.nodes.interruptions import InterruptionCount, Interruptions
from shared.domain.nodes.nodes import NodeSummary
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pool_samples import PoolSample
from shared.domain.pools.pools import NodesSnapshot, Pool, first_seen
from shared.errors import CacheConflictError
from shared.services.pools.pool_records import PoolRecords
from shared.stores.history import POOL_HISTORY, HistoryStore
from shared.stores.pools.pools import PoolStore
from shared.stores.tables.tables import Tables, load_rows

START = datetime(2026, 11, 21, 7, tzinfo=UTC)
T0 = to_milliseconds(START)
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
KEPT = HistoryRetention(minutes=timedelta(days=7), quarters=timedelta(days=90))
FACTS = PoolFacts("Pool", START, "active", START, "standard_d4s_v5", dedicated=Size(2, 3), spot=Size(1))


@pytest.fixture
def account() -> str:
    return f"demo{secrets.token_hex(6)}"


def snapshot(minute: int, tasks: int | None = None) -> NodesSnapshot:
    at = START + timedelta(minutes=minute)
    summary = NodeSummary((("idle", True, 2), ("preempted", False, 1)), 12, 3, 5, minute if tasks is None else tasks)
    return NodesSnapshot(at, at, "delta", summary, str(minute), tally=InterruptionCount(T0, Interruptions(minute)))


def sample(minute: int, through: int | None = None) -> PoolSample:
    found = first_seen(FACTS, START).listed(snapshot(minute)).sample
    assert found
    return found._replace(through=T0 + (through or minute) * MINUTE)


async def loaded(store: HistoryStore, account: str, grain: Grain, pool: str = "pool") -> dict[int, PoolSample]:
    """Returns all samples by the ends of their slots, in minutes since T0."""
    found = await store.load(account, pool, grain, first=grain.row(0), last=grain.row(10**8))
    assert [slot for slot, _ in found] == sorted(slot for slot, _ in found)
    return {
        ((slot + 1) * grain.length - T0) // MINUTE: msgspec.json.decode(text, type=PoolSample) for slot, text in found
    }


async def test_samples_of_many_pools_come_back_as_they_were_saved(tables: Tables, account: str) -> None:
    store, samples = HistoryStore(tables, POOL_HISTORY), [sample(1), sample(2, through=130), sample(131), sample(140)]
    writes = [rows_of([before], after, KEPT) for before, after in pairwise(samples)]
    for place in (1, 0, 2, 1):
        await store.save(account, {f"pool-{number}": writes[place] for number in range(60)})
    for number in (0, 59):
        found = await loaded(store, account, MINUTES, f"pool-{number}")
        assert found == {1: samples[0], 2: samples[1], 61: samples[1], 121: samples[1], 131: samples[2]}
        assert await loaded(store, account, QUARTERS, f"pool-{number}") == {15: samples[1], 135: samples[2]}
        assert await store.knows(account, f"pool-{number}")
    for other in ("pool", "pool-", "pool-1~", "x" * 600):
        assert await loaded(store, account, MINUTES, other) == {}
        assert not await store.knows(account, other)


async def test_rows_that_are_over_are_deleted_of_every_pool_and_no_others(tables: Tables, account: str) -> None:
    store = HistoryStore(tables, POOL_HISTORY)
    forever = HistoryRetention(timedelta(days=3650), timedelta(days=3650))
    rows = rows_of([sample(1, through=60 * 30)], None, forever)
    await store.save(account, {"a": rows, "h0": rows})
    await store.save(account + "x", {"a": rows})
    assert await store.delete_before(account, MINUTES, T0 + 3 * HOUR + 1) == 6
    assert min(await loaded(store, account, MINUTES, "h0")) == 3 * 60 + 1
    assert len(await loaded(store, account, QUARTERS, "a")) == 2
    assert await store.delete_before(account, QUARTERS, T0 + DAY) == 2
    assert len(await loaded(store, account, QUARTERS, "h0")) == 1
    assert min(await loaded(store, account + "x", MINUTES, "a")) == 1


async def test_of_two_that_end_a_sample_at_once_one_wins_and_nothing_is_lost(tables: Tables, account: str) -> None:
    """Both know the same row; the loser restarts from the winner's row, as rounds do."""
    history = HistoryStore(tables, POOL_HISTORY)
    writers = [PoolRecords(PoolStore(tables), history, KEPT) for _ in range(2)]
    expected: dict[int, int] = {}
    known = first_seen(FACTS, START)
    for minute in range(1, 40):
        polls = [known.listed(snapshot(minute, tasks=100 * minute + who)) for who in range(2)]
        ends = await asyncio.gather(
            *(writer.save_all(account, [pool]) for writer, pool in zip(writers, polls, strict=True))
        )
        won = [end for (end,) in ends if isinstance(end, Pool)]
        assert len(won) == 1
        assert sum(isinstance(end, CacheConflictError) for (end,) in ends) == 1
        (known,) = won
        assert known.sample
        expected[minute] = known.sample.numbers.tasks
    _, stored = await PoolStore(tables).load(account, "Pool")
    assert stored == known
    assert 0 < len(known.ended) <= 10
    merged = await loaded(history, account, MINUTES)
    waiting = {(one.at - T0) // MINUTE: one for one in known.samples}
    assert {minute: one.numbers.tasks for minute, one in {**merged, **waiting}.items()} == expected


async def test_a_forgotten_pools_samples_are_in_its_history(tables: Tables, account: str) -> None:
    store, history = PoolStore(tables), HistoryStore(tables, POOL_HISTORY)
    records = PoolRecords(store, history, KEPT)
    pool = first_seen(FACTS, START)
    for minute in range(1, 5):
        (pool,) = [
            end for end in await records.save_all(account, [pool.listed(snapshot(minute))]) if isinstance(end, Pool)
        ]
    with pytest.raises(CacheConflictError):
        await records.forget(account, replace(pool, etag="W/\"datetime'2026-11-21T07%3A00%3A00.000Z'\""))
    await records.forget(account, pool)
    assert await load_rows(tables["pools"], account) == []
    assert {minute: one.numbers.tasks for minute, one in (await loaded(history, account, MINUTES)).items()} == {
        minute: minute for minute in range(1, 5)
    }
