"""Blobs that file-copying tools upload repeatedly: each line counts once, and new lines count."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from azure.storage.blob import BlobType

from shared.domain.blobs.blobs import BlobRows, PrefixChecksum
from shared.services.blobs.blob_reader import BlobReader
from shared.stores.telemetry.telemetry import checkpoint_key
from tests.ingestion.rig import NOON, DiedError, Host, Mortal
from tests.ingestion.telemetry.telemetry_rig import MINUTE, TelemetryRig, blob_of, used

HOURS = timedelta(hours=1)
LINES = [used(number, NOON + number * MINUTE) for number in range(1, 60)]


async def upload(rig: TelemetryRig, content: bytes, name: str, kind: BlobType = BlobType.BLOCKBLOB) -> None:
    await rig.blob(name).upload_blob(content, blob_type=kind, overwrite=True)


async def counted(rig: TelemetryRig, node: str = "n1") -> int:
    """Returns the number of counted lines; each has another value, so that none counts for another."""
    found = (await rig.sums(node)).get("system.memory.usage", [])
    assert len(set(found)) == len(found)
    return len(found)


@pytest.mark.parametrize("kind", [BlobType.BLOCKBLOB, BlobType.APPENDBLOB])
async def test_a_blob_that_is_uploaded_with_more_in_it_counts_once(rig: TelemetryRig, kind: BlobType) -> None:
    host = await rig.host()
    for lines in (1, 3, 3, 40, 59):
        await upload(rig, b"".join(LINES[:lines]), blob_of("n1"), kind)
        await host.run()
        assert await counted(rig) == lines
        host = host if lines == 3 else await rig.host()
    assert [one.count for one in (await rig.rollups("n1")).popitem()[1].values()] == [1] * 59


async def test_a_blob_that_was_deleted_and_uploaded_again_counts_once(rig: TelemetryRig) -> None:
    host = await rig.host()
    await upload(rig, b"".join(LINES[:30]), blob_of("n1"))
    await host.run()
    await rig.blob(blob_of("n1")).delete_blob()
    await host.run()
    await upload(rig, b"".join(LINES[:40]), blob_of("n1"))
    await host.run()
    assert [one.count for one in (await rig.rollups("n1")).popitem()[1].values()] == [1] * 40


@pytest.mark.parametrize("kind", [BlobType.BLOCKBLOB, BlobType.APPENDBLOB])
@pytest.mark.parametrize("lines", [3, 30, 59])
async def test_another_beginning_is_another_blob(rig: TelemetryRig, kind: BlobType, lines: int) -> None:
    """Its end may be unchanged: only the whole beginning distinguishes them."""
    host = await rig.host()
    await upload(rig, b"".join(LINES[:30]), blob_of("n1"), kind)
    await host.run()
    other = [used(number + 100, NOON + number * MINUTE) for number in range(1, 29)] + LINES[28:]
    assert len(b"".join(other[:30])) > len(b"".join(LINES[:30]))
    await upload(rig, b"".join(other[:lines]), blob_of("n1"), kind)
    await host.run()
    counts = [one.count for one in (await rig.rollups("n1")).popitem()[1].values()]
    assert sum(counts) == 30 + lines


async def test_a_replaced_block_blob_of_the_same_size_and_end_is_noticed(rig: TelemetryRig) -> None:
    host = await rig.host()
    await upload(rig, b"".join(LINES[9:30]), blob_of("n1"))
    await host.run()
    await upload(rig, LINES[40] + b"".join(LINES[10:31]), blob_of("n1"))
    await host.run()
    counts = [one.count for one in (await rig.rollups("n1")).popitem()[1].values()]
    assert sum(counts) == 21 + 22


async def test_a_shorter_blob_that_begins_alike_has_nothing_new_until_it_is_longer(rig: TelemetryRig) -> None:
    host = await rig.host()
    for lines in (50, 0, 40, 35, 50, 55):
        await upload(rig, b"".join(LINES[:lines]), blob_of("n1"))
        await host.run()
        assert [one.count for one in (await rig.rollups("n1")).popitem()[1].values()] == [1] * max(lines, 50)
        ingest_partition = await rig.entries.load_sweep("demo~telemetry")
        assert ingest_partition is not None
        assert (ingest_partition.behind_bytes, ingest_partition.problems) == (0, ())


async def test_a_half_line_of_an_upload_is_whole_in_the_next(rig: TelemetryRig) -> None:
    host = await rig.host()
    size = 0
    while size < 200:
        size += 13
        await upload(rig, b"".join(LINES)[:size], blob_of("n1"))
        await host.run()
    assert await counted(rig) == b"".join(LINES)[:size].count(b"\n")
    assert (await rig.rejects.load("demo~telemetry", "", 10)) == []


async def test_a_host_may_die_at_any_call_while_a_blob_is_uploaded_anew(rig: TelemetryRig) -> None:
    """The blob is deleted and re-created with another creation time, with more content each time."""
    for dies_at in count(1):
        name, node = blob_of(f"n{dies_at}"), f"n{dies_at}"
        await upload(rig, b"".join(LINES[:20]), name)
        await (await rig.host()).run()
        await rig.blob(name).delete_blob()
        await upload(rig, b"".join(LINES[:35]), name)
        if not await died(await rig.host(), dies_at):
            break
        await (await rig.host()).run()
        assert [one.count for one in (await rig.rollups(node)).popitem()[1].values()] == [1] * 35, dies_at
    assert dies_at > 4


async def died(host: Host, dies_at: int) -> bool:
    Mortal(host.tables).arm(dies_at, committed=True)
    try:
        await host.run()
    except DiedError:
        return True
    return False


async def test_a_place_of_before_beginnings_were_kept_is_known_by_its_last_bytes(rig: TelemetryRig) -> None:
    host = await rig.host()
    await upload(rig, b"".join(LINES[:30]), blob_of("n1"))
    await host.run()
    reader: BlobReader = host.sweep._reader
    (entry,) = (await rig.entries.load_all("demo~telemetry")).values()
    key = checkpoint_key(BlobRows("demo", entry.incarnation, entry.group))
    stored = await reader.stores.checkpoints.load(key)
    assert stored.beginning == PrefixChecksum().extended(b"".join(LINES[:30]))
    row = await rig.tables["telemetry"].get_entity(key.partition, key.row)
    del row["beginning"], row["readAs"]
    await rig.tables["telemetry"].upsert_entity(row, mode="replace")
    await upload(rig, b"".join(LINES[:40]), blob_of("n1"))
    await (await rig.host()).run()
    assert [one.count for one in (await rig.rollups("n1")).popitem()[1].values()] == [1] * 40


async def test_a_last_line_without_an_end_is_read_after_hours_without_a_write(rig: TelemetryRig) -> None:
    """One line without an end is a whole record, the other isn't."""
    host = await rig.host()
    rig.clock.time = datetime.now(UTC)
    await rig.append(LINES[0], used(7, rig.clock.time).rstrip(), name=blob_of("n1"))
    await rig.append(used(7, rig.clock.time), b"mem use", name=blob_of("n2"))
    await host.run()
    ingest_partition = await rig.entries.load_sweep("demo~telemetry")
    assert ingest_partition is not None
    assert ingest_partition.behind_blobs == 2
    rig.clock.time += 6 * HOURS + MINUTE
    for again in (host, await rig.host(), host):
        await again.run()
        ingest_partition = await rig.entries.load_sweep("demo~telemetry")
        assert ingest_partition is not None
        assert (ingest_partition.behind_blobs, ingest_partition.behind_bytes, ingest_partition.behind_since) == (
            0,
            0,
            None,
        )
    (reject,) = await rig.rejects.load("demo~telemetry", "", 10)
    assert reject.blob == blob_of("n2")
    await rig.append(used(8, rig.clock.time), name=blob_of("n1"))
    await host.run()
    ingest_partition = await rig.entries.load_sweep("demo~telemetry")
    assert ingest_partition is not None
    assert (ingest_partition.behind_blobs, len(await rig.rejects.load("demo~telemetry", "", 10))) == (0, 1)
