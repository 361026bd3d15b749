"""Telemetry in append blobs that grow: each sample counts once, for its own node, despite deaths."""

import asyncio
import json
import secrets

import pytest
import zstandard

from shared.domain.accounts.accounts import Account
from shared.domain.blobs.blobs import telemetry_ingest_partition
from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts
from shared.errors import NotFoundError
from shared.services.blobs import blob_turns
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry import telemetry_steps
from tests.ingestion.rig import NOON, DiedError, Mortal
from tests.ingestion.telemetry.telemetry_rig import DAY, HOUR, MINUTE, SECOND, TelemetryRig, blob_of, received, used

MEMORY, NETWORK = "system.memory.usage", "system.network.io"
_MAX_LENGTH = 40


async def test_appended_records_are_rolled_up_once_and_counters_go_on(rig: TelemetryRig) -> None:
    host = await rig.host()
    await rig.append(used(5), used(7, NOON + SECOND), received(100), name=blob_of("n1"))
    await host.run()
    await host.run()
    await rig.append(used(1, NOON + MINUTE), received(130, NOON + MINUTE), name=blob_of("n1"))
    await (await rig.host()).run()
    assert await rig.sums("n1") == {MEMORY: [12, 1], NETWORK: [30]}
    ((series, minutes),) = (await rig.rollups("N1", name="system.memory")).items()
    first, second = (minutes[at] for at in sorted(minutes))
    assert dict(series.attributes) == {"system.memory.state": "used"}
    assert (first.count, first.min, first.max, first.last) == (2, 5, 7, 7)
    assert (second.count, second.last) == (1, 1)


async def whole_or_dead(rig: TelemetryRig, account: Account, dies_at: int, *, committed: bool) -> list[str]:
    """Kills one host at a call and continues with another; returns the methods of the first host's calls."""
    rig.accounts = [account]
    name = blob_of("n1", account=account.name)
    await rig.append(received(100), used(3), b"nonsense\n", used(4, NOON + MINUTE), name=name)
    first = await rig.host()
    mortal = Mortal(first.tables)
    mortal.arm(dies_at, committed=committed)
    try:
        await first.run()
    except DiedError:
        assert dies_at
    second = await rig.host()
    await second.run()
    await rig.append(received(150, NOON + MINUTE), used(6, NOON + 30 * MINUTE), name=name)
    await second.run()
    case = dies_at, committed
    assert await rig.sums("n1", account=account.name) == {MEMORY: [3, 4, 6], NETWORK: [50]}, case
    found = await rig.queries.of_node(account.id, "pool", "n1", SeriesQuery(since=NOON - DAY))
    assert found.left_out == DroppedCounts(records=5, refused=1), case
    assert len(await rig.rejects.load(telemetry_ingest_partition(account.key), "", 10)) == 1, case
    return mortal.methods


async def test_a_host_may_die_at_any_call_to_storage(rig: TelemetryRig) -> None:
    def account(name: str) -> Account:
        return Account(name, name, name, None, "http://127.0.0.1:1")

    calls = await whole_or_dead(rig, account("whole"), 0, committed=False)
    assert 8 < len(calls) < _MAX_LENGTH
    writes = [at for at, method in enumerate(calls, 1) if method != "GET"]
    for dies_at in writes:  # a death at a read, or before a write, equals one after the previous write
        for committed in (False, True) if dies_at == writes[0] else (True,):
            await whole_or_dead(rig, account(f"d{dies_at}{'ab'[committed]}"), dies_at, committed=committed)


async def test_a_host_does_not_reread_its_state_from_storage(rig: TelemetryRig) -> None:
    host = await rig.host()
    await host.run()
    mortal = Mortal(host.tables)
    await rig.append(used(1), name=blob_of("n1"))
    await host.run()
    # entries of the ingest partition (twice, as a new host looks for blobs to project), the blob's entry, its
    # checkpoint, the head of its shard, totals
    assert mortal.methods.count("GET") == 6
    mortal.methods.clear()
    await rig.append(used(2, NOON + MINUTE), name=blob_of("n1"))
    await host.run()
    assert mortal.methods.count("GET") == 1  # totals
    assert await rig.sums("n1") == {MEMORY: [1, 2]}


async def test_hosts_that_read_the_same_blobs_at_once_count_nothing_twice(rig: TelemetryRig) -> None:
    hosts = [await rig.host() for _ in range(3)]
    for turn in range(3):
        for number in (0, 1):
            lines = [used(1, NOON + turn * MINUTE + second * SECOND) for second in range(30)]
            await rig.append(*lines, received(turn, NOON + turn * MINUTE), name=blob_of("n1", number))
        await asyncio.gather(*(host.run() for host in hosts))
    for _ in range(2):
        await hosts[0].run()
    assert await rig.sums("n1") == {MEMORY: [60] * 3, NETWORK: [2] * 2}
    found = await rig.queries.of_node("demo", "pool", "n1")
    assert found.left_out.records == 186


async def test_a_replaced_blob_adds_to_the_samples_read_before(rig: TelemetryRig) -> None:
    host = await rig.host()
    await rig.append(used(5), used(6), name=blob_of("n1"))
    await host.run()
    await rig.blob(blob_of("n1")).delete_blob()
    await rig.append(used(7), name=blob_of("n1"))
    await host.run()
    assert await rig.sums("n1") == {MEMORY: [18]}


async def test_frames_are_read_when_they_are_whole_and_sessions_of_two_nodes_are_kept_apart(rig: TelemetryRig) -> None:
    def session(node: str, value: int, at_minute: int) -> bytes:
        stamp = int((NOON + at_minute * MINUTE).timestamp() * 1000)
        named = {"key": "AZ_BATCH_NODE_ID", "value": node}
        records = [
            {"fields": named, "name": "exec.env", "tags": {"vm_monitor_collection": "once"}, "timestamp": stamp},
            {"fields": {"used": value}, "name": "mem", "tags": {}, "timestamp": stamp},
        ]
        return zstandard.compress(json.dumps({"metrics": records}).encode() + b"\n")

    host, name = await rig.host(), "flow/task/1/vm_perf_metrics.0.zst"
    first, second = session("tvm-1", 3, 0), session("tvm-2", 4, 1)
    await rig.append(first, second[:20], name=name)
    await host.run()
    assert await rig.sums("tvm-1") == {MEMORY: [3]}
    with pytest.raises(NotFoundError):
        await rig.sums("tvm-2")
    await rig.append(second[20:], name=name)
    await host.run()
    assert (await rig.sums("tvm-1"), await rig.sums("tvm-2")) == ({MEMORY: [3]}, {MEMORY: [4]})


async def besides_totals(rig: TelemetryRig, table: str) -> list[object]:
    """Returns all rows except that of an account's totals."""
    return [row async for row in rig.tables[table].list_entities() if row["PartitionKey"] != "demo~totals"]


async def test_expired_telemetry_goes_for_good_and_the_rest_stays(rig: TelemetryRig, both: None) -> None:
    host, stores = await rig.host(), IngestionStores.of(rig.tables)
    await rig.append(used(1, NOON - DAY), used(2), b"nonsense\n", name=blob_of("n1"))
    await rig.append(used(3, NOON - DAY), name=blob_of("n2"))
    await rig.append(used(5, NOON - DAY), used(6), name=blob_of("n3"))
    await host.run()
    await rig.blob(blob_of("n3")).delete_blob()
    await rig.append(used(7), name=blob_of("n3"))
    await host.run()
    for lines in (2, 1):  # each is a blob without any series
        await rig.append(b"nonsense\n" * lines, name=blob_of("n4"))
        await host.run()
        await rig.blob(blob_of("n4")).delete_blob()
    assert await stores.delete_telemetry_before("demo", NOON, blobs=NOON) == 3
    assert (await rig.sums("n1"), await rig.sums("n3")) == ({MEMORY: [2]}, {MEMORY: [13]})
    with pytest.raises(NotFoundError):
        await rig.sums("n2")
    await rig.append(used(4), name=blob_of("n2"))
    await host.run()
    assert await rig.sums("n2") == {MEMORY: [4]}
    rig.clock.time = max(
        entry.modified for entry in (await rig.entries.load_all(telemetry_ingest_partition("demo"))).values()
    )
    later = rig.clock.time + 2 * DAY
    assert await stores.delete_telemetry_before("demo", later, blobs=later) == 4
    for table in ("telemetry", "nodeindex", "rejects"):
        assert await besides_totals(rig, table) == [], table
    assert await rig.entries.load_all(telemetry_ingest_partition("demo")) == {}
    rig.clock.time += 8 * DAY
    await (await rig.host()).run()
    assert await besides_totals(rig, "telemetry") == []


async def test_all_hosts_add_to_the_totals_of_the_account(rig: TelemetryRig) -> None:
    first, second = await rig.host(), await rig.host()
    lines = [used(1), used(2, NOON - 8 * DAY), b"nonsense\n", f'gremlins seen="x" {NOON.timestamp():.0f}\n'.encode()]
    await rig.append(*lines, name=blob_of("n1"))
    await first.run()
    awake = await rig.entries.load_sweep(telemetry_ingest_partition("demo"))
    assert awake
    assert (awake.blobs, awake.up_to_date) == (1, 0)
    await rig.append(used(3), received(5), received(6, NOON + SECOND), name=blob_of("n2"))
    await second.sweep.announced(blob_of("n2"), HOUR)
    found = await IngestionStores.of(rig.tables).totals.load("demo")
    await second.run()
    assert await IngestionStores.of(rig.tables).totals.load("demo") == found
    left_out = {name: number for name, number in found.left_out.items() if number}
    assert (found.records, found.samples, found.refused, left_out) == (6, 3, 1, {"unknown": 1, "out_of_window": 1})
    more = [used(3), received(5), received(6, NOON + SECOND)]
    assert (found.bytes, found.since) == (sum(map(len, [*lines, *more])), rig.clock.time)
    sweep = await rig.entries.load_sweep(telemetry_ingest_partition("demo"))
    assert sweep
    assert (sweep.blobs, sweep.up_to_date, sweep.behind_since) == (2, 2, None)
    assert sweep.latest == max(
        entry.modified for entry in (await rig.entries.load_all(telemetry_ingest_partition("demo"))).values()
    )


async def test_a_window_of_several_pieces_is_fetched_once_and_a_unit_that_goes_beyond_it_is_read_whole(
    rig: TelemetryRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_steps, "_ENOUGH_CELLS", 1)
    monkeypatch.setattr(telemetry_steps, "_AT_ONCE", 1)
    monkeypatch.setattr(blob_turns, "_PIECES_A_TURN", 100)
    stamp = to_milliseconds(NOON)
    lines = [f"mem used=1i,no={secrets.token_hex(30_000)!r} {stamp}\n".replace("'", '"').encode() for _ in range(58)]
    records = [
        {"fields": {"message": secrets.token_urlsafe(2_000_000)}, "name": "tail", "tags": {}, "timestamp": stamp},
        {"fields": {"used": 5}, "name": "mem", "tags": {}, "timestamp": stamp},
    ]
    frame = zstandard.compress(json.dumps({"metrics": records}).encode())
    host, name = await rig.host(), blob_of("n1")
    await rig.append(*lines, name=name)
    await rig.append(frame, name=name)
    await host.run()
    assert await rig.sums("n1") == {MEMORY: [63]}
    size = sum(map(len, lines)) + len(frame)
    assert size < host.container.fetched < 1.5 * size
