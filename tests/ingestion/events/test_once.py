"""Each event is stored exactly once, despite deaths, concurrent readers and repeats by the service."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from shared.domain.accounts.accounts import Account
from shared.domain.blobs.blobs import SeenBlob
from shared.stores.events import Head
from tests.ingestion.rig import NOON, RESOURCE, DiedError, Mortal, Rig, blob_name, record

_MAX_LENGTH = 40
MINUTE = timedelta(minutes=1)


async def whole_or_dead(rig: Rig, account: Account, dies_at: int, *, committed: bool) -> list[str]:
    """Kills one host at a call and continues with another; returns the methods of the first host's calls."""
    rig.accounts = [account]
    name, later = blob_name(12, account.name.upper()), blob_name(13, account.name.upper())
    line = partial(record, resourceId=RESOURCE.replace("/DEMO", f"/{account.name.upper()}"))
    await rig.append(line("a"), b"nonsense\n", line("b", NOON + MINUTE), name=name)
    await rig.append(line("a", NOON + 60 * MINUTE), line("c", NOON + 60 * MINUTE), name=later)
    first = await rig.host()
    mortal = Mortal(first.tables)
    mortal.arm(dies_at, committed=committed)
    try:
        await first.run()
    except DiedError:
        assert dies_at
    second = await rig.host()
    await second.run()
    await rig.append(line("d"), name=name)
    await second.run()
    found = [event.task async for _, some in rig.store.minutes(account.key, 0, 0xFFFFFFFE) for event in some]
    head = (await rig.store.load_head(account.key)).totals
    assert sorted(map(str, found)) == ["a", "b", "c", "d"], (dies_at, committed)
    assert (head.units, head.stored, head.repeats, head.refused) == (6, 4, 1, 1), (dies_at, committed)
    assert len(await rig.rejects.load(account.key, "", 10)) == 1, (dies_at, committed)
    return mortal.methods


async def test_a_host_may_die_at_any_call_to_storage(rig: Rig) -> None:
    def account(name: str) -> Account:
        return Account(name, name, name, None, "http://127.0.0.1:1")

    calls = await whole_or_dead(rig, account("whole"), 0, committed=False)
    assert 10 < len(calls) < _MAX_LENGTH
    for dies_at, method in enumerate(calls, 1):
        for committed in (False, True) if method != "GET" else (False,):
            await whole_or_dead(rig, account(f"d{dies_at}{'ab'[committed]}"), dies_at, committed=committed)


async def test_hosts_that_read_the_same_blobs_at_once_count_nothing_twice(rig: Rig) -> None:
    hosts = [await rig.host() for _ in range(3)]
    expected = []
    for turn in range(6):
        for hour in (12, 13):
            names = [f"{hour}-{turn}-{number}" for number in range(30)]
            expected += names
            await rig.append(*(record(name, NOON + turn * MINUTE) for name in names), name=blob_name(hour))
            await rig.append(record("repeat", NOON + turn * MINUTE), name=blob_name(hour))
        await asyncio.gather(*(host.run() for host in hosts))
    await hosts[0].run()
    await hosts[0].run()
    assert await rig.tasks() == sorted([*expected, "repeat"])
    head = (await rig.store.load_head("demo")).totals
    assert (head.units, head.stored, head.repeats) == (372, 361, 11)


async def test_a_repeat_that_another_host_takes_in_meanwhile_is_a_repeat(rig: Rig) -> None:
    """The other host ingests it after the first has checked for repeats, and before it writes."""
    one, other = await rig.host(), await rig.host()
    await rig.append(record("before"))
    await one.run()
    await rig.append(record("a"))
    await rig.append(record("a", NOON + MINUTE), name=blob_name(13))
    load, announced = one.events.load_head, list[str]()

    async def slowly(account_key: str) -> Head:
        found = await load(account_key)
        if not announced:
            announced.append(account_key)
            await other.sweep.announced(blob_name(13), timedelta(minutes=1))
        return found

    one.events.load_head = slowly  # type: ignore[method-assign]
    await one.sweep.announced(blob_name(12), timedelta(minutes=1))
    assert announced
    await one.run()
    assert await rig.tasks() == ["a", "before"]
    head = (await rig.store.load_head("demo")).totals
    assert (head.units, head.stored, head.repeats) == (3, 2, 1)


async def test_a_blob_read_further_by_another_host_meanwhile_is_not_taken_for_a_new_one(
    rig: Rig,
) -> None:
    one, other = await rig.host(), await rig.host()
    await rig.append(record("a"))
    look, seen = one.container.look, list[str]()

    async def slowly(name: str) -> SeenBlob | None:
        found = await look(name)
        if not seen:
            seen.append(name)
            await rig.append(record("b"))
            await other.run()
        return found

    one.container.look = slowly  # type: ignore[method-assign]
    await one.sweep.announced(blob_name(), timedelta(minutes=1))
    assert seen
    head = (await rig.store.load_head("demo")).totals
    assert (head.units, head.stored, head.repeats) == (2, 2, 0)


async def test_a_name_that_two_watched_accounts_share_is_read_for_neither(rig: Rig) -> None:
    east = Account("demo.eastus", "demo.eastus", "demo", "eastus", "https://demo.eastus.batch.azure.com")
    rig.accounts = [east, replace(east, id="demo.westus", key="demo.westus", region="westus")]
    await rig.append(record("a"))
    await (await rig.host()).run()
    for account in rig.accounts:
        assert (await rig.store.load_head(account.key)).totals.units == 0


@pytest.mark.parametrize("known", [True, False])
async def test_an_outdated_cache_of_a_host_does_no_harm(rig: Rig, *, known: bool) -> None:
    """Another host reads a blob further, so the first one's cached checkpoints and identities are old."""
    first, second = await rig.host(), await rig.host()
    await rig.append(record("a"))
    if known:
        await first.run()
    await rig.append(record("b"))
    await second.run()
    await rig.append(record("b", NOON + MINUTE), record("c"))
    await first.run()
    await first.run()
    assert await rig.tasks() == ["a", "b", "c"]


async def test_with_an_event_of_long_ago_no_minutes_between_are_read(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ago, read = NOON - timedelta(days=80), list[int]()
    await rig.append(record("old", long_ago), record("a"))
    await (await rig.host()).run()
    host = await rig.host()
    load = host.events.load_identities

    async def counting(account_key: str, first: int, last: int) -> list[tuple[int, bytes]]:
        read.append(last - first)
        return await load(account_key, first, last)

    monkeypatch.setattr(host.events, "load_identities", counting)
    await rig.append(record("old", long_ago + MINUTE), record("a", NOON + MINUTE), record("b"))
    await host.run()
    await rig.append(record("c", NOON + MINUTE))
    await host.run()
    assert await rig.tasks() == ["a", "b", "c", "old"]
    assert len(read) == 2
    assert sum(read) < 24 * 60 + 100


async def test_an_event_dated_far_ahead_counts_as_of_when_it_is_read_once(rig: Rig) -> None:
    host, now = await rig.host(), rig.clock.time
    far = datetime(9999, 1, 1, tzinfo=UTC)
    soon = (now + timedelta(minutes=59)).replace(microsecond=0)
    await rig.append(record("ahead", far), record("soon", soon), record("past"), record("ahead", far + MINUTE))
    await host.run()
    events = {event.task: (event.at, event.claimed) for event in await rig.events()}
    assert events == {"ahead": (now, far), "soon": (soon, None), "past": (NOON, None)}
    totals = (await rig.store.load_head("demo")).totals
    assert (totals.stored, totals.repeats, totals.latest) == (3, 1, soon)
    rig.clock.time += timedelta(hours=5)
    await rig.append(record("ahead", far))
    await (await rig.host()).run()
    assert await rig.tasks() == ["ahead", "past", "soon"]
