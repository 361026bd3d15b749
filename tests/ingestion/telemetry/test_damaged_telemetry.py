"""Damaged, excessive or out-of-range telemetry is rejected or left out, and counted."""

import json

import pytest
import zstandard

from shared.domain.blobs.blobs import telemetry_ingest_partition
from shared.domain.blobs.rejects import MAX_REJECTS
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry import telemetry_steps
from tests.ingestion.rig import NOON, Mortal
from tests.ingestion.telemetry.telemetry_rig import DAY, HOUR, LOST, SECOND, TelemetryRig, blob_of, received, used

MEMORY, NETWORK = "system.memory.usage", "system.network.io"


async def test_damage_is_put_aside_without_its_text_and_stops_nothing(rig: TelemetryRig) -> None:
    await rig.append(used(1), b"mem used=secret-value,, 5\n", used(2), name=blob_of("n1"))
    await rig.append(zstandard.compress(b"one\ntwo\nthree\n" + used(4)), name=blob_of("n3"))
    frame = zstandard.ZstdCompressor(write_checksum=True).compress(used(9) * 20)
    await rig.append(frame[:-1] + bytes([frame[-1] ^ 1]), zstandard.compress(used(3)), name=blob_of("n2"))
    await (await rig.host()).run()
    assert (await rig.sums("n1"), await rig.sums("n2")) == ({MEMORY: [3]}, {MEMORY: [3]})
    rejects = await rig.rejects.load(telemetry_ingest_partition("demo"), "", 10)
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
    assert len(await rig.rejects.load(telemetry_ingest_partition("demo"), "", 1000)) == MAX_REJECTS


async def test_frames_of_bad_lines_are_counted_each_and_end_a_step_early(rig: TelemetryRig) -> None:
    await rig.append(zstandard.compress(b"a\n" * 3_000) * 30, used(2), name=blob_of("n1"))
    host = await rig.host()
    calls = Mortal(host.tables)
    await host.run()
    assert await rig.sums("n1") == {MEMORY: [2]}
    found = await rig.queries.of_node("demo", "pool", "n1")
    assert (found.left_out.records, found.left_out.refused) == (1, 30 * 3_000)
    assert calls.methods.count("POST") >= 3


@pytest.mark.parametrize("most", ["_MAX_CELLS", "_MAX_ROWS"])
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
    (reject,) = await rig.rejects.load(telemetry_ingest_partition("demo"), "", 10)
    assert reject.refusal.offset == len(few[0]) + len(counts[0])
    found = await rig.queries.of_node("demo", "pool", "n1", SeriesQuery(since=NOON - DAY))
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
    found = await rig.queries.of_node("demo", "pool", "n1", SeriesQuery(since=NOON - 7 * DAY, step=HOUR))
    assert [one.sum for some in found.rollups.values() for _, one in sorted(some.items())] == [1] * 159 + [6]
    assert (found.left_out.records, found.left_out.refused) == (161, 1)
    (reject,) = await rig.rejects.load(telemetry_ingest_partition("demo"), "", 10)
    assert reject.refusal.offset == sum(map(len, lines))


async def test_behind_damage_of_more_than_a_window_the_next_compressed_unit_is_read(rig: TelemetryRig) -> None:
    host, name = await rig.host(), blob_of("n1")
    await rig.append(used(1), LOST, name=name)
    await host.run()
    text, frame = used(2) * 3_000, zstandard.compress(used(5))
    await rig.append(text, name=name)
    await host.run()
    assert await rig.sums("n1") == {MEMORY: [1]}
    await rig.append(frame, name=name)
    await (await rig.host()).run()
    assert await rig.sums("n1") == {MEMORY: [6]}
    found = await IngestionStores.of(rig.tables).totals.load("demo")
    assert (found.bytes, found.lost) == (len(used(1)) + len(frame), len(LOST) + len(text))
    (reject,) = await rig.rejects.load(telemetry_ingest_partition("demo"), "", 10)
    assert reject.refusal.offset == len(used(1))
    sweep = await rig.entries.load_sweep(telemetry_ingest_partition("demo"))
    assert sweep is not None
    assert sweep.behind_bytes == 0


async def test_samples_of_other_times_are_counted_and_left_out(rig: TelemetryRig) -> None:
    await rig.append(used(1, NOON - 8 * DAY), used(2), used(3, NOON + 3 * HOUR), name=blob_of("n1"))
    await rig.append(f'gremlins seen="x" {NOON.timestamp():.0f}\n'.encode(), name=blob_of("n1"))
    await (await rig.host()).run()
    assert await rig.sums("n1") == {MEMORY: [2]}
    found = await rig.queries.of_node("demo", "pool", "n1")
    assert found.left_out == DroppedCounts(records=4, out_of_window=2, unknown={"gremlins": 1})
