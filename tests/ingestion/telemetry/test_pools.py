"""The rows of pools after sweeps: those of the nodes' blobs, after crashes, conflicts and late data as well."""

import asyncio
from collections.abc import Collection
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

import pytest

from shared.domain.blobs.blobs import shard_of
from shared.domain.telemetry.pools.blocks import lines_of, part_of, sources_of
from shared.domain.telemetry.pools.pool_reports import moment_of
from shared.services.blobs.blob_intake import Piece, PieceResult
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.telemetry_intake import TelemetryIntake
from shared.stores.telemetry.pool_telemetry import PoolTelemetryStore, Projected, ShardHead
from tests.ingestion.rig import NOON, DiedError, Host, Mortal
from tests.ingestion.telemetry.telemetry_rig import HOUR, MINUTE, SECOND, TelemetryRig, blob_of, used
from tests.ingestion.telemetry.test_telemetry_odds import ONCE, frame

type Found = dict[tuple[str, str, int], float]
"""Means of used memory by pool, node and minute after noon, merged over shards."""
NAME = "system.memory.usage"


async def found(rig: TelemetryRig, *blobs: str, nodes: Collection[str] = ()) -> Found:
    """Returns the stored values of the shards of blobs, of some or all nodes."""
    store = IngestionStores.of(rig.tables).pool_telemetry
    first = int(NOON.timestamp()) // 60
    sums: dict[tuple[str, str, int], tuple[float, int]] = {}
    for shard in {shard_of(name) for name in blobs}:
        head = await store.load_head("demo", shard)
        blocks = await store.load_blocks("demo", shard, 0, 1 << 27)
        assert {pool for pool, _ in blocks} <= head.seen.keys()
        for (pool, number), parts in blocks.items():
            part = parts.get(part_of(NAME))
            for line in lines_of(part.minutes.get(NAME, b"")) if part else ():
                for place, count in enumerate(line.counts):
                    if count:
                        node = sources_of(part.sources)[place // 10].node if part else ""
                        key = (pool, node, number * 10 + place % 10 - first)
                        before = sums.get(key, (0, 0))
                        sums[key] = before[0] + line.sums[place], before[1] + count
    return {key: total / count for key, (total, count) in sorted(sums.items()) if not nodes or key[1] in nodes}


def at(minutes: float) -> datetime:
    return NOON + minutes * MINUTE


async def test_values_of_nodes_stand_in_the_rows_of_their_pool(rig: TelemetryRig) -> None:
    rig.clock.time = at(30)
    one, other, far = blob_of("N1"), blob_of("n2"), blob_of("n3", pool="Other")
    await rig.append(used(10, at(0)), used(30, at(0.5)), used(50, at(11)), name=one)
    await rig.append(used(7, at(0)), name=other)
    await rig.append(used(8, at(0)), name=far)
    await (await rig.host()).run()
    assert await found(rig, one, other, far) == {
        ("other", "n3", 0): 8,
        ("pool", "n1", 0): 20,
        ("pool", "n1", 11): 50,
        ("pool", "n2", 0): 7,
    }


async def test_a_minute_that_two_flushes_share_is_whole_also_on_another_host(rig: TelemetryRig) -> None:
    rig.clock.time = at(5)
    name = blob_of("n1")
    host = await rig.host()
    for number, minutes in enumerate((0, 0.25, 0.5, 0.75, 1)):
        await rig.append(used(number, at(minutes)), name=name)
        if number == 3:
            host = await rig.host()
        await host.run()
        assert (await found(rig, name))["pool", "n1", 0] == sum(range(min(number, 3) + 1)) / (min(number, 3) + 1)
    assert (await found(rig, name))["pool", "n1", 1] == 4


async def test_late_samples_join_their_minutes(rig: TelemetryRig) -> None:
    rig.clock.time = at(30)
    name, host = blob_of("n1"), await rig.host()
    await rig.append(*(used(minute, at(minute)) for minute in range(20)), name=name)
    await host.run()
    await rig.append(used(100, at(3)), used(21, at(21)), name=name)
    await host.run()
    values = await found(rig, name)
    assert (values["pool", "n1", 3], values["pool", "n1", 4], values["pool", "n1", 21]) == (51.5, 4, 21)


async def test_blobs_of_one_node_merge(rig: TelemetryRig) -> None:
    rig.clock.time = at(30)
    names = [blob_of("n1", number) for number in range(8)]
    for number, name in enumerate(names):
        await rig.append(used(number, at(0)), name=name)
    await (await rig.host()).run()
    assert await found(rig, *names) == {("pool", "n1", 0): 3.5}


@pytest.mark.parametrize("committed", [False, True])
async def test_a_host_that_dies_at_any_call_leaves_what_the_next_completes(
    rig: TelemetryRig, *, committed: bool
) -> None:
    rig.clock.time = at(120)
    dies_at = 0
    while True:
        dies_at += 1
        node = f"n{dies_at}"
        name = blob_of(node)
        await rig.append(used(1, at(0)), used(3, at(0.5)), used(5, at(100)), name=name)
        whole = {("pool", node, 0): 2, ("pool", node, 100): 5}
        host = await rig.host()
        Mortal(host.tables).arm(dies_at, committed=committed)
        has_died = await _dies(host)
        assert not has_died or await found(rig, name, nodes=[node]) in ({}, whole)
        await (await rig.host()).run()
        assert await found(rig, name, nodes=[node]) == whole
        if not has_died:
            return
        assert dies_at < 100


async def _dies(host: Host) -> bool:
    try:
        await host.run()
    except DiedError:
        return True
    return False


async def test_two_hosts_that_project_blobs_of_one_shard_both_count(rig: TelemetryRig) -> None:
    rig.clock.time = at(5)
    names = same_shard(2)
    hosts = [await rig.host(), await rig.host()]
    for minute in range(4):
        for number, (name, host) in enumerate(zip(names, hosts, strict=True)):
            await rig.append(used(10 * minute + number, at(minute)), name=name)
            await host.sweep.announced(name, timedelta(minutes=1))
    nodes = [name.split("/")[5] for name in names]
    assert await found(rig, *names) == {
        ("pool", node, minute): 10 * minute + number for number, node in enumerate(nodes) for minute in range(4)
    }


async def test_a_host_goes_on_where_another_ended_without_reading_the_rows_of_blobs(rig: TelemetryRig) -> None:
    rig.clock.time = at(5)
    names = same_shard(3)
    hosts, reads = [await rig.host(), await rig.host()], []
    for flush in range(4):
        for name in names:
            await rig.append(used(flush, at(flush / 2)), name=name)
        mortal = Mortal(hosts[flush % 2].tables)
        await hosts[flush % 2].run()
        reads.append(sum("pooltelemetry" not in url for url in mortal.urls if "RowKey%20ge%20%27m" in url))
    assert reads == [0, 0, 0, 0]
    nodes = [name.split("/")[5] for name in names]
    assert await found(rig, *names) == {
        ("pool", node, minute): value for node in sorted(nodes) for minute, value in ((0, 0.5), (1, 2.5))
    }


async def test_a_blob_that_grows_after_hours_has_its_rows_read_only_if_a_host_died(rig: TelemetryRig) -> None:
    rig.clock.time = at(0)
    (name, other), host = same_shard(2), await rig.host()
    await rig.append(used(1, at(0)), name=name)
    await host.run()
    for minutes in (300, 600):
        rig.clock.time = at(minutes)
        await rig.append(used(2, at(minutes)), name=other)
        await host.run()
        await rig.append(used(2, at(minutes)), name=name)
        mortal = Mortal(host.tables)
        await host.run()
        assert not [url for url in mortal.urls if "pooltelemetry" not in url and "RowKey%20ge%20%27m" in url]
    await rig.append(used(3, at(-90)), used(4, at(601)), name=name)
    Mortal(host.tables).arm(4, committed=False)
    assert await _dies(host)
    rig.clock.time = at(900)
    await rig.append(used(5, at(900)), name=name)
    await (await rig.host()).run()
    values = {minute: value for (_, _, minute), value in (await found(rig, name, nodes=["n0"])).items()}
    assert values == {-90: 3, 0: 1, 300: 2, 600: 2, 601: 4, 900: 5}


async def test_rows_of_pools_dont_wait_for_a_blob_that_takes_long(rig: TelemetryRig) -> None:
    rig.clock.time = at(0)
    good, slow = blob_of("n1"), blob_of("n2")
    await rig.append(used(1, at(0)), name=good)
    for _ in range(4):
        await rig.append(*(used(2, at(-60 * hour)) for hour in range(160)), name=slow)
    seen: list[Found] = []

    def slowed(intake: TelemetryIntake) -> TelemetryIntake:
        take = intake.take

        async def taken(piece: Piece) -> PieceResult:
            if piece.entry.name == slow:
                seen.append(await found(rig, good, nodes=["n1"]))
                await asyncio.sleep(0.4)
            return await take(piece)

        vars(intake)["take"] = taken
        return intake

    await (await rig.host(slowed)).run()
    assert (seen[0], seen[-1]) == ({}, {("pool", "n1", 0): 1})


def same_shard(count: int) -> list[str]:
    """Returns the names of blobs of one shard."""
    names = [blob_of(f"n{number}") for number in range(1000)]
    return [name for name in names if shard_of(name) == shard_of(names[0])][:count]


async def test_samples_before_the_name_of_their_node_move_to_it(rig: TelemetryRig) -> None:
    rig.clock.time = at(5)
    name, host = "flow/task/1/vm_perf_metrics.0.zst", await rig.host()
    await rig.append(frame("mem", -24 * 60, ONCE, used=1), frame("mem", 0, ONCE, used=2), name=name)
    await host.run()
    assert await found(rig, name) == {}
    names = {"batch_vm_name": "tvm-1", "batch_pool_name": "pool"}
    await rig.append(frame("batch_agent_data", 0, ONCE, **names), frame("mem", 1, used=4), name=name)
    await host.run()
    assert await found(rig, name) == {("pool", "tvm-1", -24 * 60): 1, ("pool", "tvm-1", 0): 2, ("pool", "tvm-1", 1): 4}


async def test_a_node_whose_clock_is_ahead_is_heard_of_when_its_data_are_read(rig: TelemetryRig) -> None:
    rig.clock.time = at(5)
    name, host = blob_of("n1"), await rig.host()
    store = IngestionStores.of(rig.tables).pool_telemetry
    seen = []
    for minute in (5, 7):
        rig.clock.time = at(minute)
        await rig.append(used(1, at(minute + 20)), name=name)
        await host.run()
        seen.append((await store.load_head("demo", shard_of(name))).seen["pool"]["n1"])
    assert [moment_of(minute) for minute in seen] == [at(5), at(7)]


async def test_a_time_ahead_that_is_read_again_from_rows_is_no_sign_of_life(rig: TelemetryRig) -> None:
    store = IngestionStores.of(rig.tables).pool_telemetry
    seen: list[datetime] = []
    has_died = True
    while has_died:
        rig.clock.time = at(5)
        name, host = blob_of(f"n{len(seen)}"), await rig.host()
        await rig.append(used(1, at(4)), name=name)
        await host.run()
        await rig.append(used(1, at(50)), name=name)
        Mortal(host.tables).arm(len(seen) + 1, committed=True)
        has_died = await _dies(host)
        rig.clock.time = at(30)
        await (await rig.host()).run()
        seen.append(moment_of((await store.load_head("demo", shard_of(name))).seen["pool"][f"n{len(seen)}"]))
    read_by_the_first, read_by_the_second, not_read_but_stored = at(5), at(30), at(4)
    assert not_read_but_stored in seen
    assert set(seen) <= {read_by_the_first, read_by_the_second, not_read_but_stored}


async def test_last_minutes_are_read_without_the_states_of_blobs_and_without_other_pools(rig: TelemetryRig) -> None:
    blobs = {sha256(f"{number}".encode()).hexdigest(): Projected(number, number) for number in range(3_000)}
    many = {sha256(f"n{number}".encode()).hexdigest(): number for number in range(3_000)}
    host = await rig.host()
    store, mortal = PoolTelemetryStore(host.tables), Mortal(host.tables)
    await store.save("demo", 7, ShardHead(blobs, {"pool": many, "other": {"n1": 1}, "": {"n2": 2}}), {})
    assert await store.load_seen("demo", 7, {"pool", ""}) == {"pool": many, "": {"n2": 2}}
    (asked,) = parse_qs(urlsplit(mortal.urls[-1]).query)["$select"]
    assert {name.rstrip("0123456789") for name in asked.split(",")} == {"seen"}
    assert await store.load_seen("demo", 8, {"pool"}) == {}


async def test_blocks_go_when_their_time_is_over(rig: TelemetryRig) -> None:
    rig.clock.time = at(30)
    name = blob_of("n1")
    await rig.append(used(1, at(0)), used(2, at(10)), name=name)
    await (await rig.host()).run()
    stores = IngestionStores.of(rig.tables)
    assert await stores.delete_pool_telemetry_before("demo", at(10) - SECOND) == 0
    assert await stores.delete_pool_telemetry_before("demo", at(10)) == 1
    assert await found(rig, name) == {("pool", "n1", 10): 2}
    assert await stores.delete_pool_telemetry_before("demo", at(0) + HOUR) == 1
