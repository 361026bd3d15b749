"""Events of nodes reach the table of events once, also where a host dies between their rows and the transaction."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from local.azurite import StorageAddresses
from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import to_milliseconds
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_lists import EventFilter
from shared.domain.events.event_sentences import sentence_of
from shared.domain.telemetry.sessions.event_records import MAX_EVENTS
from shared.services.blobs.blob_intake import Piece, PieceResult
from shared.services.telemetry.telemetry_intake import TelemetryIntake
from tests.ingestion.rig import NOON, DiedError, Mortal, blob_name, record
from tests.ingestion.rig import Rig as LogRig
from tests.ingestion.telemetry.telemetry_rig import HOUR, MINUTE, SECOND, TelemetryRig, blob_of, used


@pytest.fixture
async def rig(azurite: StorageAddresses) -> AsyncIterator[TelemetryRig]:
    """Yields a container and tables for a single test."""
    async with TelemetryRig(azurite.connection_string, f"t{secrets.token_hex(6)}") as opened:
        yield opened


def full(path: str, at: Any = NOON, kind: str = "disk_full") -> bytes:
    """Returns the line of an event."""
    stamp = to_milliseconds(at) * 1_000_000
    return f'batchscope_event,kind={kind} message="The file system {path} is full.",path="{path}" {stamp}\n'.encode()


def places(events: list[BatchEvent]) -> list[str]:
    return sorted(event.properties["path"] for event in events)


async def events_in(rig: TelemetryRig, account: str) -> list[BatchEvent]:
    return [event async for _, some in rig.store.minutes(account, 0, 0xFFFFFFFE) for event in some]


async def test_an_event_is_listed_with_its_sentence_and_found_by_its_pool_node_and_kind(rig: TelemetryRig) -> None:
    await rig.append(used(1), full("/a"), full("/b", NOON + MINUTE), name=blob_of("n1"))
    await rig.append(full("/c"), name=blob_of("n2"))
    await (await rig.host()).run()
    found = await rig.events()
    assert [sentence_of(event) for event in found[:1]] == ["The file system /b is full."]
    assert {(event.kind, event.pool, event.node, event.job) for event in found} == {
        ("node.disk_full", "pool", "n1", None), ("node.disk_full", "pool", "n2", None),
    }  # fmt: skip
    minutes = [EventFilter(pools=frozenset({"POOL"}), kinds=frozenset({"node.disk_full"})).minutes(NOON - HOUR)]
    assert minutes[0][0] <= found[-1].at.timestamp() // 60 <= minutes[0][1]


async def test_of_one_record_that_two_agents_read_the_event_with_the_task_stays(rig: TelemetryRig) -> None:
    def killed(tags: str, pid: int, uid: str) -> bytes:
        stamp = to_milliseconds(NOON) * 1_000_000
        return f'batchscope_event,kind=oom_kill{tags} pid={pid}i,log_record_uid="{uid}" {stamp}\n'.encode()

    await rig.append(killed(",job_id=j,task_id=t", 5, "boot-7"), name=blob_of("n1"))
    await (await rig.host()).run()
    again = [killed(",job_id=j,task_id=u", 7, "boot-9"), killed("", 7, "boot-9")]
    await rig.append(killed("", 5, "boot-7"), killed("", 6, "boot-8"), *again, name=blob_of("n1", 1))
    await (await rig.host()).run()
    found = {event.properties["pid"]: event.task for event in await events_in(rig, rig.accounts[0].key)}
    assert found == {5: "t", 6: None, 7: "u"}
    assert len(await events_in(rig, rig.accounts[0].key)) == 3


async def test_events_wait_where_their_table_is_missing(rig: TelemetryRig) -> None:
    host, table = await rig.host(), rig.tables["events"]
    await rig.append(used(1), full("/a"), name=blob_of("n1"))
    await table.delete_table()
    await host.run()
    await table.create_table()
    await host.run()
    assert places(await events_in(rig, rig.accounts[0].key)) == ["/a"]
    assert await rig.sums("n1") == {"system.memory.usage": [1]}


async def killed_and_continued(rig: TelemetryRig, account: Account, dies_at: int, *, committed: bool) -> list[str]:
    """Kills one host at a call, lets the blob grow and continues with another; returns the first host's calls."""
    rig.accounts = [account]
    name = blob_of("n1", account=account.name)
    await rig.append(used(3), full("/a"), full("/b", NOON + MINUTE), name=name)
    first = await rig.host()
    mortal = Mortal(first.tables)
    mortal.arm(dies_at, committed=committed)
    try:
        await first.run()
    except DiedError:
        assert dies_at
    await rig.append(full("/c", NOON + 2 * MINUTE), name=name)  # so the next step has another extent
    await (await rig.host()).run()
    assert places(await events_in(rig, account.key)) == ["/a", "/b", "/c"], (dies_at, committed)
    assert await rig.sums("n1", account=account.name) == {"system.memory.usage": [3]}
    return [f"{method} {url}" for method, url in zip(mortal.methods, mortal.urls, strict=True)]


async def test_a_host_may_die_at_any_write_and_each_event_is_there_once(rig: TelemetryRig) -> None:
    def account(name: str) -> Account:
        return Account(name, name, name, None, "http://127.0.0.1:1")

    calls = await killed_and_continued(rig, account("whole"), 0, committed=False)
    writes = [at for at, call in enumerate(calls, 1) if not call.startswith("GET")]
    assert len(writes) > 5
    for dies_at in writes:
        for committed in (False, True):
            await killed_and_continued(rig, account(f"d{dies_at}{'ab'[committed]}"), dies_at, committed=committed)


class Overtaken(TelemetryIntake):
    """An intake that pauses between the rows of events and the transaction, while `meanwhile` happens."""

    meanwhile: Any = None

    async def take(self, piece: Piece) -> PieceResult:
        result = await super().take(piece)
        if self.meanwhile:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return result


async def test_hosts_that_race_with_steps_of_different_extent_write_each_event_once(rig: TelemetryRig) -> None:
    await rig.append(used(1), full("/a"), name=blob_of("n1"))
    other = await rig.host()

    async def meanwhile() -> None:
        await rig.append(full("/b", NOON + SECOND), used(2), name=blob_of("n1"))
        await other.run()

    def overtaken(kind: TelemetryIntake) -> TelemetryIntake:
        slow = Overtaken(kind.accounts, kind.pattern, kind.stores, kind.clock, kind.retention)
        slow.meanwhile = meanwhile
        return slow

    slow = await rig.host(overtaken)
    await slow.run()
    await rig.append(full("/c", NOON + 2 * SECOND), name=blob_of("n1"))
    await asyncio.gather(slow.run(), other.run())
    await other.run()
    assert places(await rig.events()) == ["/a", "/b", "/c"]
    assert await rig.sums("n1") == {"system.memory.usage": [3]}


async def test_a_blob_that_is_read_again_or_copied_writes_the_same_rows(rig: TelemetryRig) -> None:
    lines = [full("/a"), full("/a"), full("/b", NOON + MINUTE), used(1)]
    await rig.append(*lines, name=blob_of("n1"))
    await (await rig.host()).run()
    for table in ("telemetry", "blobs", "nodeindex", "pooltelemetry"):  # everything but the events
        rows = [row async for row in rig.tables[table].list_entities(select=["PartitionKey", "RowKey"])]
        for row in rows:
            await rig.tables[table].delete_entity(row["PartitionKey"], row["RowKey"])
    await rig.append(*lines, name=blob_of("N1", 1))
    await (await rig.host()).run()
    assert places(await rig.events()) == ["/a", "/b"]


async def test_a_step_without_events_asks_nothing_of_their_table(rig: TelemetryRig) -> None:
    host = await rig.host()
    mortal = Mortal(host.tables)
    await rig.append(used(1), name=blob_of("n1"))
    await host.run()
    assert not [url for url in mortal.urls if "events" in url.rpartition("/")[2]]
    counts = []
    paths = ["/a", "/b", "/c"]
    for line in (*[used(2, NOON + SECOND)] * 3, *(full(path, NOON + 2 * SECOND) for path in paths)):
        mortal.methods.clear()
        await rig.append(line, used(3, NOON + 3 * SECOND), name=blob_of("n1"))
        await host.run()
        counts.append(len(mortal.methods))
    assert places(await rig.events()) == paths
    without, with_events = min(counts[:3]), min(counts[3:])  # a request that takes long is sent again
    assert with_events == without + 1  # a transaction with the rows of events


async def test_very_many_events_in_a_blob_make_a_bounded_number_of_rows(rig: TelemetryRig) -> None:
    number = 200_000
    await rig.append(used(1), name=blob_of("n1"))
    stamp = to_milliseconds(NOON) * 1_000_000
    lines = b"".join(b'batchscope_event,kind=a message="%d" %d\n' % (at, stamp + at) for at in range(number))
    for begin in range(0, len(lines), 4 << 20):
        await rig.append(lines[begin : begin + (4 << 20)], name=blob_of("n1"))
    host = await rig.host()
    for _ in range(5):
        await host.run()
    found = await rig.queries.of_node("demo", "pool", "n1")
    rows = len(await rig.events())
    assert found.left_out.records == number + 1
    assert 0 < rows == number - found.left_out.beyond_limit
    assert rows <= MAX_EVENTS * (len(lines) // (1 << 20))


async def test_events_of_nodes_neither_repeat_nor_hide_those_of_batch(rig: TelemetryRig) -> None:
    logs = LogRig(rig._string, rig._prefix)
    logs.tables, logs.store, logs._client = rig.tables, rig.store, rig._client
    logs.clock = rig.clock
    reader = await logs.host()
    await rig.append(record("t1"), name=blob_name())
    await reader.run()
    await rig.append(full("/a"), name=blob_of("n1"))
    await (await rig.host()).run()
    await rig.append(record("t1"), record("t2", NOON + SECOND), name=blob_name())
    await reader.run()
    for again in (reader, await logs.host()):
        await rig.append(record("t1", NOON + MINUTE), name=blob_name())
        await again.run()
    found = await rig.events()
    assert sorted(event.task or event.kind for event in found) == ["node.disk_full", "t1", "t2"]
    assert (await rig.store.load_head("demo")).totals.stored == 2
    await logs._stack.aclose()


async def test_events_of_nodes_expire_with_the_others(rig: TelemetryRig) -> None:
    await rig.append(full("/a"), full("/b", NOON + HOUR), name=blob_of("n1"))
    await (await rig.host()).run()
    assert await rig.store.delete_before("demo", NOON + timedelta(minutes=30)) == 1
    assert places(await rig.events()) == ["/b"]
