"""Telemetry in the worst cases: with a late identity, damaged, in rows of the maximum size."""

import json
import os
from typing import Any
from urllib.parse import unquote_plus

import zstandard

from agent.upload.gzip_units import units_of
from shared.domain.blobs.blobs import BlobRows, telemetry_ingest_partition
from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.records.bounds import MAX_LINE
from shared.domain.telemetry.rollups.chunks import HOURS_A_DAY, Chunk
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.stores.tables.rows import write_at_once
from shared.stores.telemetry.telemetry import MAX_ROW, chunk_rows
from tests.ingestion.rig import NOON
from tests.ingestion.telemetry.telemetry_rig import DAY, HOUR, LOST, MINUTE, TelemetryRig, blob_of, used

MEMORY = "system.memory.usage"
ONCE = {"vm_monitor_collection": "once"}
_HOUR = to_milliseconds(NOON) // 3_600_000


def frame(name: str, at_minute: int, tags: dict[str, str] | None = None, **fields: Any) -> bytes:
    stamp = to_milliseconds(NOON + at_minute * MINUTE)
    metric = {"fields": fields, "name": name, "tags": tags or {}, "timestamp": stamp}
    return zstandard.compress(json.dumps({"metrics": [metric]}).encode() + b"\n")


async def test_samples_before_the_name_of_their_node_are_found_under_it_and_so_are_later_ones(
    rig: TelemetryRig,
) -> None:
    name = "flow/task/1/vm_perf_metrics.0.zst"
    first, second = await rig.host(), await rig.host()
    await rig.append(frame("mem", -24 * 60, ONCE, used=1), frame("mem", 0, ONCE, used=2), name=name)
    await first.run()
    await rig.append(frame("batch_agent_data", 0, ONCE, batch_vm_name="tvm-1"), name=name)
    await second.run()
    await rig.append(frame("mem", 1, used=4), name=name)
    for _ in range(2):  # it learns that another host has read on
        await first.run()
    found = await rig.queries.of_node("demo", "pool", "tvm-1", SeriesQuery(since=NOON - 2 * DAY, step=MINUTE))
    assert [one.sum for some in found.rollups.values() for _, one in sorted(some.items())] == [1, 2, 4]


async def test_a_column_as_large_as_a_row_may_have_one_is_read_by_its_name(rig: TelemetryRig) -> None:
    packed, stores = os.urandom(MAX_ROW - 1), IngestionStores.of(rig.tables)
    blob = BlobRows("demo", "p")
    await write_at_once(rig.tables["telemetry"], chunk_rows(blob, 0, [Chunk(3, _HOUR, {MEMORY: packed})]))
    (chunk,) = [one async for one in stores.telemetry.minutes(blob.partition, _HOUR, _HOUR, [MEMORY])]
    assert (chunk.session, chunk.block, chunk.columns) == (3, _HOUR, {MEMORY: packed})
    assert await stores.telemetry.days_of(blob.partition, ("", 3)) == {_HOUR // HOURS_A_DAY}
    assert await stores.telemetry.days_of(blob.partition, ("", 4)) == set()


async def test_series_of_a_nodes_blobs_are_read_side_by_side(rig: TelemetryRig, apart: None) -> None:
    for number in range(6):
        await rig.append(used(3), name=blob_of("n1", number))
    await (await rig.host()).run()
    send, under_way, most = rig.tables._transport.send, 0, 0

    async def counted(request: Any, **options: Any) -> Any:
        nonlocal under_way, most
        is_of_series = f"ge 'm{_HOUR:06x}'" in unquote_plus(request.url)
        under_way += is_of_series
        most = max(most, under_way)
        try:
            return await send(request, **options)
        finally:
            under_way -= is_of_series

    rig.tables._transport.send = counted  # type: ignore[method-assign]
    asked = SeriesQuery(since=NOON, until=NOON + MINUTE)
    found = await rig.queries.of_node("demo", "pool", "n1", asked)
    assert [one.sum for some in found.rollups.values() for one in some.values()] == [18]
    assert most == 4


async def test_bytes_behind_damage_without_a_unit_are_counted_as_lost(rig: TelemetryRig) -> None:
    host, name = await rig.host(), blob_of("n1")
    await rig.append(used(1), LOST, name=name)
    await host.run()
    stores = IngestionStores.of(rig.tables)
    found = await stores.totals.load("demo")
    read, lost = len(used(1)), len(LOST) - 4  # the last bytes may begin a unit
    assert (found.bytes, found.lost, found.lost_at) == (read, lost, rig.clock.time)
    rig.clock.time += HOUR
    await rig.append(used(2) * 3_000, name=name)
    await rig.append(used(5), name=blob_of("n2"))
    await host.run()
    found = await stores.totals.load("demo")
    assert (found.bytes, found.lost) == (read + len(used(5)), lost + 3_000 * len(used(2)))
    assert found.lost_at == rig.clock.time
    rig.clock.time += HOUR
    await rig.append(used(6, NOON + MINUTE), name=blob_of("n2"))
    await host.run()
    assert (await stores.totals.load("demo")).lost_at == rig.clock.time - HOUR


async def test_behind_a_line_that_is_too_long_reading_goes_on(rig: TelemetryRig) -> None:
    host, name = await rig.host(), blob_of("n1")
    await rig.append(used(1), b"mem used=" + b"1" * (MAX_LINE - 50), name=name)
    await rig.append(b"1" * MAX_LINE, name=name)
    await host.run()
    await rig.append(b"1" * 50_000, name=name)
    await (await rig.host()).run()
    await rig.append(b"1 5\n", used(2, NOON + MINUTE), name=name)
    for _ in range(2):  # it learns that another host has read on
        await host.run()
    assert await rig.sums("n1") == {MEMORY: [1, 2]}
    (reject,) = await rig.rejects.load(telemetry_ingest_partition("demo"), "", 10)
    assert reject.refusal.offset == len(used(1))
    assert (await IngestionStores.of(rig.tables).totals.load("demo")).lost == 0


async def test_a_node_has_its_thousand_series_over_all_sessions_of_a_blob(rig: TelemetryRig) -> None:
    def session(number: int) -> bytes:
        at = to_milliseconds(NOON + number * MINUTE) * 1_000_000
        boot = f'linux_boot,vm_monitor_collection=once iso_boot_timestamp="x" {at}\n'
        disks = [f"diskio,name=d{number}-{disk} reads={step}i {at + step}" for disk in range(400) for step in (1, 2)]
        return (boot + "\n".join(disks) + "\n").encode()

    await rig.append(*map(session, range(4)), name=blob_of("n1"))
    await (await rig.host()).run()
    found = await rig.queries.of_node("demo", "pool", "n1")
    assert len(found.rollups) == 1000
    assert found.left_out.beyond_limit == 2 * (4 * 400 - 1000)


async def test_an_hour_of_a_large_node_that_its_agent_sends_at_once_is_kept(rig: TelemetryRig) -> None:
    fields = ",".join(f"usage_{name}=50" for name in ("user", "system", "idle", "nice", "iowait", "irq", "softirq"))
    stamps = [to_milliseconds(NOON + minute * MINUTE) * 1_000_000 for minute in range(60)]
    lines = [f"cpu,cpu=cpu{core} {fields} {stamp}\n" for stamp in stamps for core in range(96)]
    for unit in units_of("".join(lines).encode(), "s", 0):
        await rig.append(unit.content, name=blob_of("n1"))
    await (await rig.host()).run()
    found = await rig.queries.of_node("demo", "pool", "n1")
    assert found.left_out.refused == 0
    rollups = await rig.rollups("n1", name="system.cpu.utilization")
    assert {len(minutes) for minutes in rollups.values()} == {60}
    assert len(rollups) == (96 + 1) * 7  # the whole processor is beside its cores
