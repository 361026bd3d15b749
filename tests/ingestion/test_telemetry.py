"""Telemetry in append blobs that grow: each sample counts once, for the node whose it is, whatever dies."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import zstandard

from local.azurite import StorageAddresses
from shared.domain.accounts import Account
from shared.domain.blobs import ANCHOR_BYTES
from shared.domain.rejects import MOST_TOLD
from shared.domain.stamps import to_milliseconds
from shared.domain.telemetry.asked import Asked
from shared.domain.telemetry.left_out import LeftOut
from shared.errors import HistoryRangeError, NotFoundError
from shared.services import blob_sweep, telemetry_steps
from shared.services.taken_in import UNREAD_TELEMETRY, TakenIn, telemetry_lane
from tests.ingestion.rig import ACCOUNT, NOON, DiedError, Mortal
from tests.ingestion.telemetry_rig import DAY, HOUR, MINUTE, TelemetryRig, blob_of, received, used

MEMORY, NETWORK = "system.memory.usage", "system.network.io"
_LONGEST = 40
SECOND = timedelta(seconds=1)


@pytest.fixture
async def rig(azurite: StorageAddresses) -> AsyncIterator[TelemetryRig]:
    async with TelemetryRig(azurite.connection_string, f"t{secrets.token_hex(6)}") as opened:
        yield opened


async def test_what_is_appended_is_rolled_up_once_and_counters_go_on_over_what_was_read(rig: TelemetryRig) -> None:
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
    """One host dies at a call, another goes on; gives the methods of the calls that the first made."""
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
    told = dies_at, committed
    assert await rig.sums("n1", account=account.name) == {MEMORY: [3, 4, 6], NETWORK: [50]}, told
    found = await rig.queries.of_node(account.id, "pool", "n1", Asked(since=NOON - DAY))
    assert found.left_out == LeftOut(records=5, refused=1), told
    assert len(await rig.rejects.load(telemetry_lane(account.key), "", 10)) == 1, told
    return mortal.methods


async def test_a_host_may_die_at_any_call_to_storage(rig: TelemetryRig) -> None:
    def account(name: str) -> Account:
        return Account(name, name, name, None, "http://127.0.0.1:1")

    calls = await whole_or_dead(rig, account("whole"), 0, committed=False)
    assert 8 < len(calls) < _LONGEST
    writes = [at for at, method in enumerate(calls, 1) if method != "GET"]
    for dies_at in writes:  # to die at a read, or before a write, is to die after the write before it
        for committed in (False, True) if dies_at == writes[0] else (True,):
            await whole_or_dead(rig, account(f"d{dies_at}{'ab'[committed]}"), dies_at, committed=committed)


async def test_what_a_host_knows_it_reads_from_storage_no_more(rig: TelemetryRig) -> None:
    host = await rig.host()
    await host.run()
    mortal = Mortal(host.tables)
    await rig.append(used(1), name=blob_of("n1"))
    await host.run()
    assert mortal.methods.count("GET") == 4  # entries of the lane, that of the blob, its place, totals
    mortal.methods.clear()
    await rig.append(used(2, NOON + MINUTE), name=blob_of("n1"))
    await host.run()
    assert mortal.methods.count("GET") == 2  # the place, totals
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


async def test_a_blob_that_was_made_anew_adds_to_what_was_read_before(rig: TelemetryRig) -> None:
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


async def test_blobs_of_a_node_are_asked_for_side_by_side(rig: TelemetryRig) -> None:
    for number in range(6):
        await rig.append(used(3), name=blob_of("n1", number))
    await (await rig.host()).run()
    send, under_way, most = rig.tables._transport.send, 0, 0

    async def counted(request: Any, **options: Any) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        try:
            return await send(request, **options)
        finally:
            under_way -= 1

    rig.tables._transport.send = counted  # type: ignore[method-assign]
    assert await rig.sums("n1") == {MEMORY: [18]}
    assert most >= 5


async def test_the_index_says_where_to_look_and_the_blob_whose_it_is(rig: TelemetryRig) -> None:
    await rig.append(used(3), name=blob_of("n1"))
    await (await rig.host()).run()
    stores = TakenIn.of(rig.tables)
    (held,) = await stores.node_index.load("demo", "N1", 0, 99_999)
    await stores.node_index.save("demo", "n2", held.incarnation, held.session, [held.day])
    await stores.node_index.save("demo", "n1", "of-a-host-that-died", 0, [held.day])
    assert await rig.sums("n1") == {MEMORY: [3]}
    for pool, node in (("pool", "n2"), ("other", "n1")):
        with pytest.raises(NotFoundError):
            await rig.queries.of_node("demo", pool, node)


async def test_damage_is_put_aside_without_what_it_says_and_stops_nothing(rig: TelemetryRig) -> None:
    await rig.append(used(1), b"mem used=secret-value,, 5\n", used(2), name=blob_of("n1"))
    await rig.append(zstandard.compress(b"one\ntwo\nthree\n" + used(4)), name=blob_of("n3"))
    frame = zstandard.ZstdCompressor(write_checksum=True).compress(used(9) * 20)
    await rig.append(frame[:-1] + bytes([frame[-1] ^ 1]), zstandard.compress(used(3)), name=blob_of("n2"))
    await (await rig.host()).run()
    assert (await rig.sums("n1"), await rig.sums("n2")) == ({MEMORY: [3]}, {MEMORY: [3]})
    rejects = await rig.rejects.load(telemetry_lane("demo"), "", 10)
    assert {reject.blob for reject in rejects} == {blob_of("n1"), blob_of("n2"), blob_of("n3")}
    (unit,) = [reject for reject in rejects if reject.blob == blob_of("n3")]
    assert unit.refusal.reason.endswith("; and 2 more in this unit.")
    assert not any(reject.refusal.sample for reject in rejects)
    (line,) = [reject for reject in rejects if reject.blob == blob_of("n1")]
    assert line.refusal.offset == len(used(1))


async def test_of_very_many_bad_lines_a_hundred_are_kept_and_all_are_counted(rig: TelemetryRig) -> None:
    lines = 20_000
    await rig.append(b"a\n" * lines, used(2), name=blob_of("n1"))
    await (await rig.host()).run()
    assert await rig.sums("n1") == {MEMORY: [2]}
    found = await rig.queries.of_node("demo", "pool", "n1")
    assert (found.left_out.records, found.left_out.refused) == (1, lines)
    assert len(await rig.rejects.load(telemetry_lane("demo"), "", 1000)) == MOST_TOLD


async def test_frames_of_bad_lines_are_counted_each_and_end_a_step_early(rig: TelemetryRig) -> None:
    await rig.append(zstandard.compress(b"a\n" * 3_000) * 30, used(2), name=blob_of("n1"))
    host = await rig.host()
    calls = Mortal(host.tables)
    await host.run()
    assert await rig.sums("n1") == {MEMORY: [2]}
    found = await rig.queries.of_node("demo", "pool", "n1")
    assert (found.left_out.records, found.left_out.refused) == (1, 30 * 3_000)
    assert calls.methods.count("POST") >= 3


@pytest.mark.parametrize("most", ["_MOST_CELLS", "_MOST_ROWS"])
async def test_a_unit_with_more_than_there_is_room_for_is_refused_alone(
    rig: TelemetryRig, most: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_steps, most, 3)
    many = zstandard.compress(b"".join(used(1, NOON - number * HOUR) for number in range(5)))
    few = [zstandard.compress(used(2, NOON - number * HOUR)) for number in range(5)]
    counts = [zstandard.compress(received(value, NOON + value * SECOND)) for value in (10, 40)]
    await rig.append(few[0], counts[0], many, counts[1], *few[1:], name=blob_of("n1"))
    await (await rig.host()).run()
    assert await rig.sums("n1") == {MEMORY: [2] * 5, NETWORK: [30]}
    (reject,) = await rig.rejects.load(telemetry_lane("demo"), "", 10)
    assert reject.refusal.offset == len(few[0]) + len(counts[0])
    found = await rig.queries.of_node("demo", "pool", "n1", Asked(since=NOON - DAY))
    assert (found.left_out.records, found.left_out.refused) == (7, 1)


async def test_text_of_very_many_hours_is_taken_in_parts_down_to_a_line(rig: TelemetryRig) -> None:
    hours = range(160)
    lines = [used(1, NOON - hour * HOUR) for hour in hours]
    records = [
        {"fields": {"used": 1}, "name": "mem", "tags": {}, "timestamp": (NOON - hour * HOUR).timestamp()}
        for hour in hours
    ]
    await rig.append(*lines, json.dumps({"metrics": records}).encode() + b"\n", used(5), name=blob_of("n1"))
    await (await rig.host()).run()
    found = await rig.queries.of_node("demo", "pool", "n1", Asked(since=NOON - 7 * DAY, step=HOUR))
    assert [one.sum for some in found.rollups.values() for _, one in sorted(some.items())] == [1] * 159 + [6]
    assert (found.left_out.records, found.left_out.refused) == (161, 1)
    (reject,) = await rig.rejects.load(telemetry_lane("demo"), "", 10)
    assert reject.refusal.offset == sum(map(len, lines))


async def test_the_rest_of_a_blob_that_is_lost_is_not_fetched_but_counted(rig: TelemetryRig) -> None:
    host, name = await rig.host(), blob_of("n1")
    await rig.append(used(1), b"\x78\x9c" + b"damaged" * 20, name=name)
    await host.run()
    fetched = host.container.fetched
    for _ in range(2):
        await rig.append(used(2) * 3_000, name=name)
        await host.run()
    assert await rig.sums("n1") == {MEMORY: [1]}
    assert host.container.fetched - fetched == 4 * ANCHOR_BYTES
    size = (await rig.blob(name).get_blob_properties()).size
    found = await TakenIn.of(rig.tables).totals.load("demo")
    assert (found.bytes, found.lost) == (len(used(1)), size - len(used(1)))
    sweep = await rig.entries.load_sweep(telemetry_lane("demo"))
    assert sweep is not None
    assert sweep.behind_bytes == 0
    await rig.blob(name).delete_blob()
    await rig.append(used(5), name=name)
    await host.run()
    assert await rig.sums("n1") == {MEMORY: [6]}


async def test_samples_of_other_times_are_counted_and_left_out(rig: TelemetryRig) -> None:
    await rig.append(used(1, NOON - 8 * DAY), used(2), used(3, NOON + 3 * HOUR), name=blob_of("n1"))
    await rig.append(f"gremlins seen=1i {NOON.timestamp():.0f}\n".encode(), name=blob_of("n1"))
    await (await rig.host()).run()
    assert await rig.sums("n1") == {MEMORY: [2]}
    found = await rig.queries.of_node("demo", "pool", "n1")
    assert found.left_out == LeftOut(records=4, out_of_window=2, unknown={"gremlins": 1})


async def test_names_of_accounts_tell_whose_a_blob_is_and_the_only_account_has_the_rest(rig: TelemetryRig) -> None:
    other = replace(ACCOUNT, id="other", key="other", name="other")
    rig.accounts = [ACCOUNT, other]
    for account in ("demo", "OTHER", "unwatched"):
        await rig.append(used(1), name=blob_of("n1", account=account))
    await rig.append(used(1), name="flow/n1.json")
    host = await rig.host()
    await host.run()
    assert (await rig.sums("n1"), await rig.sums("n1", account="other")) == ({MEMORY: [1]}, {MEMORY: [1]})
    with pytest.raises(NotFoundError):
        await rig.queries.of_node("demo", "none", "n1")


async def test_what_is_asked_for_is_what_is_told(rig: TelemetryRig) -> None:
    lines = [used(number, NOON + number * MINUTE) for number in range(-10, 50)]
    await rig.append(*lines, name=blob_of("n1"))
    await (await rig.host()).run()

    async def told(**asked: object) -> list[float]:
        found = await rig.queries.of_node("demo", "pool", "n1", Asked(**asked))  # type: ignore[arg-type]
        return [one.sum for minutes in found.rollups.values() for _, one in sorted(minutes.items())]

    assert await told(since=NOON, until=NOON + 3 * MINUTE) == [0, 1, 2]
    assert await told(since=NOON, until=NOON + 6 * MINUTE, step=3 * MINUTE) == [3, 12]
    assert await told(since=NOON, until=NOON) == []
    assert await told(name="system.memory.usage", step=HOUR) == [sum(range(50))]
    assert await told(name="system.network") == []
    assert await told(attributes="system.memory.state=used", step=HOUR) == [sum(range(50))]
    assert await told(attributes="system.memory.state=", step=HOUR) == []
    for asked in (
        {"name": "system.mem"},
        {"attributes": "used"},
        {"step": SECOND},
        {"since": NOON, "until": NOON - SECOND},
    ):
        with pytest.raises(HistoryRangeError):
            await told(**asked)


@pytest.mark.parametrize("minutes", [1, 7, 30, 45, 90])
async def test_steps_of_any_length_hold_the_minutes_that_lie_in_them(rig: TelemetryRig, minutes: int) -> None:
    values = {NOON + number * MINUTE: number * number for number in range(-400, 0)}
    await rig.append(*(used(value, at) for at, value in values.items()), name=blob_of("n1"))
    await (await rig.host()).run()
    since, until, step = NOON - 361 * MINUTE, NOON - 11 * MINUTE, minutes * MINUTE
    found = await rig.queries.of_node("demo", "pool", "n1", Asked(since, until, step))
    ((_, steps),) = found.rollups.items()
    wanted: dict[int, list[int]] = {}
    for at, value in values.items():
        if since <= at < until:
            wanted.setdefault(int(at.timestamp() // 60) // minutes * minutes, []).append(value)
    assert {at: (one.count, one.sum, one.min, one.last) for at, one in steps.items()} == {
        at: (len(some), sum(some), min(some), some[-1]) for at, some in wanted.items()
    }


async def test_a_node_is_told_by_the_facts_of_its_latest_start(rig: TelemetryRig) -> None:
    for number, (size, booted) in enumerate((("d4", 5), ("d8", 9), ("d2", 7))):
        once, at = "vm_monitor_collection=once", to_milliseconds(NOON) * 1_000_000
        machine = f'imds_metadata,{once} vm_size="{size}",vm_location="westus3" {at}\n'
        boot = f'linux_boot,{once} iso_boot_timestamp="{NOON + booted * MINUTE:%Y-%m-%dT%H:%M:%S.25Z}" {at}\n'
        await rig.append(f"{machine}{boot}".encode(), used(1, NOON + booted * MINUTE), name=blob_of("n1", number))
    await (await rig.host()).run()
    facts = (await rig.queries.of_node("demo", "pool", "n1")).facts
    assert (facts.vm_size, facts.region) == ("d8", "westus3")
    assert facts.booted_at == NOON + 9 * MINUTE + timedelta(milliseconds=250)


async def besides_totals(rig: TelemetryRig, table: str) -> list[object]:
    """All rows but that of an account's totals."""
    return [row async for row in rig.tables[table].list_entities() if row["PartitionKey"] != "demo~totals"]


async def test_what_is_past_its_time_goes_for_good_and_the_rest_stays(rig: TelemetryRig) -> None:
    host, stores = await rig.host(), TakenIn.of(rig.tables)
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
    rig.clock.time = max(entry.modified for entry in (await rig.entries.load_all(telemetry_lane("demo"))).values())
    later = rig.clock.time + 2 * DAY
    assert await stores.delete_telemetry_before("demo", later, blobs=later) == 4
    for table in ("telemetry", "nodeindex", "rejects"):
        assert await besides_totals(rig, table) == [], table
    assert await rig.entries.load_all(telemetry_lane("demo")) == {}
    rig.clock.time += 8 * DAY
    await (await rig.host()).run()
    assert await besides_totals(rig, "telemetry") == []


async def test_telemetry_that_may_be_of_several_accounts_is_told_and_not_read(
    rig: TelemetryRig, caplog: pytest.LogCaptureFixture
) -> None:
    other = replace(ACCOUNT, id="other", name="other", key="other")
    rig.accounts = [ACCOUNT, other]
    await rig.append(used(5), name="nobody/n1.json")
    await rig.append(used(5), name=blob_of("n1", account="stranger"))
    await rig.append(used(5), name=blob_of("n1", account="other"))
    host = await rig.host()
    await host.run()
    await host.run()
    told = await rig.entries.load_sweep(UNREAD_TELEMETRY)
    assert told is not None
    assert (told.blobs, told.behind_blobs) == (1, 0)
    (problem,) = told.problems
    assert problem.startswith("nobody/n1.json isn't read: TELEMETRY_PATH finds no {account} in it")
    assert [record.message for record in caplog.records if "aren't read" in record.message] == [
        f"Blobs that aren't read: 1. {problem}"
    ]
    assert await rig.sums("n1", account="other") == {MEMORY: [5]}
    rig.accounts = [ACCOUNT]
    await (await rig.host()).run()
    cleared = await rig.entries.load_sweep(UNREAD_TELEMETRY)
    assert cleared is not None
    assert (cleared.blobs, cleared.problems) == (0, ())


async def test_what_was_taken_in_is_added_up_for_the_account_by_all_hosts(rig: TelemetryRig) -> None:
    first, second = await rig.host(), await rig.host()
    lines = [used(1), used(2, NOON - 8 * DAY), b"nonsense\n", f"gremlins seen=1i {NOON.timestamp():.0f}\n".encode()]
    await rig.append(*lines, name=blob_of("n1"))
    await first.run()
    awake = await rig.entries.load_sweep(telemetry_lane("demo"))
    assert awake
    assert (awake.blobs, awake.asleep) == (1, 0)
    await rig.append(used(3), received(5), received(6, NOON + SECOND), name=blob_of("n2"))
    await second.sweep.announced(blob_of("n2"), HOUR)
    found = await TakenIn.of(rig.tables).totals.load("demo")
    await second.run()
    assert await TakenIn.of(rig.tables).totals.load("demo") == found
    left_out = {name: number for name, number in found.left_out.items() if number}
    assert (found.records, found.samples, found.refused, left_out) == (6, 3, 1, {"unknown": 1, "out_of_window": 1})
    more = [used(3), received(5), received(6, NOON + SECOND)]
    assert (found.bytes, found.since) == (sum(map(len, [*lines, *more])), rig.clock.time)
    sweep = await rig.entries.load_sweep(telemetry_lane("demo"))
    assert sweep
    assert (sweep.blobs, sweep.asleep, sweep.behind_since) == (2, 2, None)
    assert sweep.latest == max(
        entry.modified for entry in (await rig.entries.load_all(telemetry_lane("demo"))).values()
    )


async def test_a_window_of_several_pieces_is_fetched_once_and_a_unit_that_goes_beyond_it_is_read_whole(
    rig: TelemetryRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_steps, "_ENOUGH_CELLS", 1)
    monkeypatch.setattr(telemetry_steps, "_AT_ONCE", 1)
    monkeypatch.setattr(blob_sweep, "_PIECES_A_TURN", 100)
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
