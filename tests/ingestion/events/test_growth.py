"""Append blobs that grow, are re-created, sealed or invalid: each line counts once, and no blob waits for another."""

import random
import string
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.domain.blobs.blobs import ANCHOR_BYTES, Checkpoint, Entry, SeenBlob
from shared.domain.blobs.rejects import BadUnit
from shared.domain.blobs.sweeps import PartitionSweep, Totals
from shared.errors import BlobError
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.events.event_intake import MAX_LINE
from shared.stores.blobs.checkpoints import CheckpointStore
from shared.stores.events import checkpoint_key, head_row
from tests.ingestion.rig import NOON, Host, Rig, blob_name, record

HOUR = timedelta(hours=1)


async def totals(rig: Rig) -> tuple[int, int, int, int]:
    head = (await rig.store.load_head("demo")).totals
    return head.units, head.stored, head.repeats, head.refused


def made_at_once(host: Host) -> None:
    """Gives all further blobs of a name the same creation time."""
    pages, look = host.container.pages, host.container.look

    async def alike(marker: str | None = None) -> AsyncIterator[tuple[list[SeenBlob], str | None]]:
        async for page, following in pages(marker):
            yield [replace(blob, created=NOON) for blob in page], following

    async def looked_at(name: str) -> SeenBlob | None:
        found = await look(name)
        return found and replace(found, created=NOON)

    host.container.pages, host.container.look = alike, looked_at  # type: ignore[method-assign]


async def test_appended_events_are_ingested_once(rig: Rig) -> None:
    host = await rig.host()
    await rig.append(record("a"), record("b"))
    await host.run()
    await host.run()
    await rig.append(record("c"))
    await host.run()
    assert await rig.tasks() == ["a", "b", "c"]
    assert await totals(rig) == (3, 3, 0, 0)
    assert host.hinted == {"job"}


async def test_a_blob_that_sleeps_is_not_opened_by_a_host_that_begins(rig: Rig) -> None:
    await rig.append(record("a"))
    await (await rig.host()).run()
    late = await rig.host()
    await late.run()
    assert late.container.fetched == 0
    await rig.append(record("b"))
    await late.run()
    assert await rig.tasks() == ["a", "b"]
    assert 0 < late.container.fetched <= 64 + len(record("b"))


async def test_a_line_that_is_being_written_waits_for_its_end(rig: Rig) -> None:
    host, line = await rig.host(), record("b")
    await rig.append(record("a"), line[:20])
    await host.run()
    assert await rig.tasks() == ["a"]
    for again in (host, await rig.host()):
        sweep = await rig.entries.load_sweep("demo")
        assert sweep is not None
        assert (sweep.behind_blobs, sweep.behind_bytes) == (1, 20)
        rig.clock.time += timedelta(hours=1)
        await again.run()  # the blob is up to date
    sweep = await rig.entries.load_sweep("demo")
    assert sweep is not None
    assert (sweep.up_to_date, sweep.behind_blobs, sweep.behind_bytes) == (1, 1, 20)
    await rig.append(line[20:])
    await host.run()
    assert await rig.tasks() == ["a", "b"]
    assert await totals(rig) == (2, 2, 0, 0)


async def test_positions_of_many_gibibytes_are_stored(rig: Rig) -> None:
    far, blob = 5 << 30, SeenBlob(blob_name(), NOON, NOON, size=6 << 30, etag="1")
    places, key = CheckpointStore(rig.tables), checkpoint_key("demo", "blob")
    stored = await places.load(key)
    head = head_row("demo", await rig.store.load_head("demo"), Totals(units=far, bytes=far))
    await places.advance(key, stored, Checkpoint(offset=far, units=far), [head])
    assert await places.load(key) == Checkpoint(offset=far, units=far)
    assert (await rig.store.load_head("demo")).totals == Totals(units=far, bytes=far)
    entry = await rig.entries.save("demo", Entry(blob.name, blob.created, blob.modified).read_to_end(blob, far, NOON))
    assert await rig.entries.load("demo", blob.name) == entry
    sweep = PartitionSweep(NOON, 1, behind_bytes=far)
    await rig.entries.save_sweep("demo", sweep)
    assert await rig.entries.load_sweep("demo") == sweep
    await rig.rejects.save("demo", entry, [BadUnit(far, 0, "It is odd.", b"")], NOON)
    assert [one.refusal.offset for one in await rig.refused()] == [far]


async def test_appended_bytes_are_fetched_once_except_half_a_line(rig: Rig) -> None:
    host, whole = await rig.host(), record("a") + record("b")
    await rig.append(whole[:-9])
    await host.run()
    assert (await rig.tasks(), host.container.fetched) == (["a"], len(whole) - 9)
    await rig.append(whole[-9:])
    await host.run()
    assert (await rig.tasks(), host.container.fetched) == (["a", "b"], len(whole) - 9 + len(record("b")) + ANCHOR_BYTES)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
async def test_a_whole_record_whose_line_has_no_end_yet_counts_once(rig: Rig, end: bytes) -> None:
    host = await rig.host()
    await rig.append(record("a"), record("b").rstrip())
    await host.run()
    assert await rig.tasks() == ["a", "b"]
    await rig.append(end, record("c"), record("d")[:-3])
    await host.run()
    assert await rig.tasks() == ["a", "b", "c"]
    await rig.append(record("d")[-3:], end)
    await host.run()
    assert await rig.tasks() == ["a", "b", "c", "d"]
    assert await totals(rig) == (4, 4, 0, 0)


async def test_a_mark_of_utf8_before_the_first_record_is_passed_over(rig: Rig) -> None:
    host = await rig.host()
    await rig.append(b"\xef\xbb\xbf", record("a").rstrip())
    await host.run()
    assert await rig.tasks() == ["a"]
    await rig.append(b"\n", record("b"))
    await host.run()
    assert await rig.tasks() == ["a", "b"]


async def test_half_a_line_at_the_end_of_a_sealed_blob_waits_for_nothing(rig: Rig) -> None:
    host = await rig.host()
    await rig.append(record("a"), record("b")[:-3])
    await host.run()
    assert await totals(rig) == (1, 1, 0, 0)
    await rig.blob().seal_append_blob()
    await host.run()
    assert await totals(rig) == (2, 1, 0, 1)


async def test_lines_may_end_as_windows_has_them(rig: Rig) -> None:
    await rig.append(record("a").replace(b"\n", b"\r\n"), b"\r\n", record("b").replace(b"\n", b"\r\n"))
    await (await rig.host()).run()
    assert await rig.tasks() == ["a", "b"]
    assert await totals(rig) == (2, 2, 0, 0)


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("lines", [1, 3, 5])
async def test_a_blob_that_was_made_anew_is_read_from_its_start(rig: Rig, lines: int, *, alike: bool) -> None:
    host = await rig.host()
    if alike:
        made_at_once(host)
    await rig.append(record("old-1"), record("old-2"), record("old-3"))
    await host.run()
    await rig.blob().delete_blob()
    await rig.append(*(record(f"new-{number}") for number in range(lines)))
    await host.run()
    expected = ["old-1", "old-2", "old-3", *(f"new-{number}" for number in range(lines))]
    assert await rig.tasks() == sorted(expected)
    await rig.append(record("later"))
    await host.run()
    assert await rig.tasks() == sorted([*expected, "later"])


async def test_a_blob_that_changed_without_growth_is_fetched_once_to_check_its_end(rig: Rig) -> None:
    host = await rig.host()
    await rig.append(record("a"))
    for _ in range(2):
        await host.run()
        assert host.container.fetched == len(record("a"))
    await rig.blob().set_blob_metadata({"seen": "yes"})
    for _ in range(2):
        await host.run()
        assert host.container.fetched == len(record("a")) + ANCHOR_BYTES
    assert await totals(rig) == (1, 1, 0, 0)


def test_fewer_blocks_show_that_a_blob_was_replaced() -> None:
    seen = SeenBlob("a", NOON, NOON, size=100, etag="1", blocks=2)
    assert Checkpoint(offset=50, blocks=3).is_past(seen)
    assert Checkpoint(offset=101, blocks=2).is_past(seen)
    assert not Checkpoint(offset=100, blocks=2).is_past(seen)


async def test_a_blob_that_is_written_while_it_is_read_is_looked_at_again(rig: Rig) -> None:
    host = await rig.host()
    await rig.append(record("a"))
    fetch, written = host.container.fetch, list[SeenBlob]()

    async def writing(blob: SeenBlob, start: int, end: int) -> bytes:
        if not written:
            written.append(blob)
            await rig.append(record("b"))
        return await fetch(blob, start, end)

    host.container.fetch = writing  # type: ignore[method-assign]
    await host.run()
    assert await rig.tasks() == ["a", "b"]


async def test_a_blob_that_is_deleted_while_it_is_read_is_forgotten(rig: Rig) -> None:
    host = await rig.host()
    await rig.append(record("a"))
    fetch = host.container.fetch

    async def deleting(blob: SeenBlob, start: int, end: int) -> bytes:
        await rig.blob().delete_blob()
        return await fetch(blob, start, end)

    host.container.fetch = deleting  # type: ignore[method-assign]
    await host.run()
    sweep = await rig.entries.load_sweep("demo")
    assert sweep is not None
    assert (sweep.behind_blobs, sweep.problems) == (0, ())


async def test_bad_lines_are_put_aside_and_stop_nothing(rig: Rig) -> None:
    await rig.append(record("a"), b'{"time": ]}\n', record("b"), record("c", time="yesterday"), record("d"))
    await (await rig.host()).run()
    assert await rig.tasks() == ["a", "b", "d"]
    assert await totals(rig) == (5, 3, 0, 2)
    first, second = await rig.refused()
    assert (first.blob, first.refusal.offset, first.refusal.position) == (blob_name(), len(record("a")), 9)
    assert first.refusal.reason == "It isn't JSON."
    assert second.refusal.reason == "Its time can't be read."


async def test_of_many_bad_lines_a_hundred_are_kept_and_all_are_counted(rig: Rig) -> None:
    await rig.append(b"nonsense\n" * 130, record("a"))
    await (await rig.host()).run()
    assert await totals(rig) == (131, 1, 0, 130)
    assert len(await rig.refused()) == 100


async def test_a_secret_that_reaches_beyond_a_sample_is_not_in_it(rig: Rig) -> None:
    token = "ghp_" + "A1b2" * 9
    await rig.append(b'{"operationName": ' + b"x" * 160 + f" {token} ".encode() + b"y" * 300 + b"\n")
    await (await rig.host()).run()
    (reject,) = await rig.refused()
    assert token[:8].encode() not in reject.refusal.sample
    assert (b"[redacted]" in reject.refusal.sample, len(reject.refusal.sample)) == (True, 200)


async def test_a_line_without_end_is_passed_over_in_pieces(rig: Rig) -> None:
    host = await rig.host()
    await rig.append(record("a"), b'{"time": "' + b"x" * (MAX_LINE + 10))
    await rig.append(b"x" * (MAX_LINE + 10))
    await host.run()
    await rig.append(b'"}\n', record("b"))
    await host.run()
    assert await rig.tasks() == ["a", "b"]
    assert await totals(rig) == (3, 2, 0, 1)
    (reject,) = await rig.refused()
    assert (reject.refusal.offset, reject.refusal.reason) == (len(record("a")), "It has more than 1048576 bytes.")


async def test_a_blob_that_cannot_be_read_blocks_no_other(rig: Rig) -> None:
    host = await rig.host()
    for hour in (10, 11, 12):
        await rig.append(record(f"at-{hour}"), name=blob_name(hour))
    fetch = host.container.fetch

    async def failing(blob: SeenBlob, start: int, end: int) -> bytes:
        if blob.name == blob_name(11):
            raise BlobError("It is broken.")
        return await fetch(blob, start, end)

    host.container.fetch = failing  # type: ignore[method-assign]
    await host.run()
    assert await rig.tasks() == ["at-10", "at-12"]
    sweep = await rig.entries.load_sweep("demo")
    assert sweep is not None
    assert (sweep.blobs, sweep.behind_blobs, sweep.problems) == (3, 1, (f"{blob_name(11)}: It is broken.",))
    host.container.fetch = fetch  # type: ignore[method-assign]
    await host.run()
    assert await rig.tasks() == ["at-10", "at-11", "at-12"]


async def test_records_beyond_one_sweep_are_read_by_the_next(rig: Rig) -> None:
    host = await rig.host()
    many = [record(f"t-{number:05}", NOON + timedelta(seconds=number)) for number in range(9000)]
    await rig.append(b"".join(many))
    sweeps = 0
    while len(await rig.tasks()) < 9000:
        await host.sweep.run(timedelta(0) if sweeps == 0 else timedelta(seconds=1))
        sweeps += 1
    assert sweeps > 1
    assert await totals(rig) == (9000, 9000, 0, 0)


async def test_blobs_of_other_accounts_and_other_kinds_are_left_alone(rig: Rig) -> None:
    await rig.append(record("other"), name=blob_name(account="OTHER"))
    await rig.append(record("odd"), name="y=2026/PT1H.json")
    host = await rig.host()
    await host.run()
    assert host.container.fetched == 0


async def test_old_blobs_are_left_alone_and_expired_rows_go_for_good(rig: Rig) -> None:
    host = await rig.host()
    await rig.append(record("a"), b"nonsense\n")
    await host.run()
    await rig.blob().delete_blob()
    await rig.append(record("a"))
    await host.run()
    later = rig.clock.time + timedelta(days=92)
    gone = IngestionStores.of(rig.tables)
    assert await gone.delete_before("demo", later - timedelta(days=90)) == 1
    assert await rig.tasks() == []
    assert await rig.refused() == []
    assert await rig.entries.load_all("demo") == {}
    left = rig.tables["events"].query_entities("PartitionKey eq 'demo'")
    assert [row["RowKey"] async for row in left] == ["!"]
    rig.clock.time = later
    await (await rig.host()).run()
    assert await rig.tasks() == []


async def test_a_blob_that_is_announced_is_read_at_once(rig: Rig) -> None:
    host = await rig.host()
    await rig.append(record("a"))
    await host.sweep.announced(blob_name(), timedelta(minutes=1))
    await host.sweep.announced(blob_name(13), timedelta(minutes=1))
    assert await rig.tasks() == ["a"]
    await host.run()
    assert await totals(rig) == (1, 1, 0, 0)


async def test_an_event_that_comes_again_in_another_blob_is_a_repeat_and_a_day_later_it_is_news(rig: Rig) -> None:
    host = await rig.host()
    await rig.append(record("a"), record("a", NOON + timedelta(minutes=1)))
    await host.run()
    await rig.append(record("a", NOON + 3 * HOUR), name=blob_name(15))
    await (await rig.host()).run()
    await rig.append(record("a", NOON + 24 * HOUR), name=blob_name(16))
    await host.run()
    assert [event.at for event in await rig.events()] == [NOON + 24 * HOUR, NOON]
    assert await totals(rig) == (4, 2, 2, 0)


async def test_records_of_many_minutes_go_in_steps_that_transactions_hold(rig: Rig) -> None:
    await rig.append(*(record(f"t-{number:03}", NOON + number * timedelta(minutes=1)) for number in range(250)))
    await (await rig.host()).run()
    assert len(await rig.tasks()) == 250
    assert await totals(rig) == (250, 250, 0, 0)


async def test_records_of_any_size_find_room(rig: Rig) -> None:
    chance, letters = random.Random(1), string.ascii_letters + string.digits + "!#$%()*,;<>?[]^{|}~"  # noqa: S311 - no secret
    noise = "".join(chance.choices(letters, k=250_000))  # compresses to four fifths of its size
    await rig.append(*(record(f"t-{number}", properties={"id": noise, "at": number}) for number in range(4)))
    await rig.append(record("large", properties={"id": noise + noise}))
    await (await rig.host()).run()
    assert await totals(rig) == (5, 4, 0, 1)
