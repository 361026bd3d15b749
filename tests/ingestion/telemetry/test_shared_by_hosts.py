"""Hosts share the blobs of a large account through the queue, a shard at a time, and each flush counts once."""

from collections import Counter
from datetime import timedelta

import pytest

from shared.domain.blobs.blobs import SeenBlob, shard_of
from shared.domain.blobs.queued_shards import LASTS, ShardMessage
from shared.services.blobs import shard_queue
from tests.ingestion.rig import NOON, DiedError, Host, Mortal
from tests.ingestion.telemetry.telemetry_rig import MINUTE, SECOND, TelemetryRig, blob_of, received

_NETWORK = "system.network.io"
_NODES = 6


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_queue.ShardQueue.leave, "__kwdefaults__", {"least": _NODES})


async def _flushed(rig: TelemetryRig, flush: int, nodes: int = _NODES) -> None:
    for node in range(nodes):
        at = NOON + flush * MINUTE
        await rig.append(
            received(100 * flush, at), received(100 * flush + node, at + MINUTE / 2), name=blob_of(f"n{node}")
        )


async def _left(host: Host) -> list[ShardMessage]:
    await host.run()
    return host.sweep.take_messages()


async def _minutes(rig: TelemetryRig, node: int) -> list[float]:
    return (await rig.sums(f"n{node}", name=_NETWORK)).get(_NETWORK, [])


def _expected(node: int, flushes: int) -> list[float]:
    return [float(node), *[100.0] * (flushes - 1)]


def _names_fetched(host: Host) -> list[str]:
    """Returns a list to which the names of blobs are added whose bytes a host fetches."""
    fetch, names = host.container.fetch, list[str]()

    async def fetched(blob: SeenBlob, start: int, end: int) -> bytes:
        names.append(blob.name)
        return await fetch(blob, start, end)

    vars(host.container)["fetch"] = fetched
    return names


async def test_few_blobs_are_read_by_the_sweep_itself(rig: TelemetryRig) -> None:
    host = await rig.host()
    await _flushed(rig, 1, _NODES - 1)
    assert await _left(host) == []
    assert await _minutes(rig, 4) == [4]


async def test_many_blobs_are_left_to_the_queue_a_message_for_each_shard(rig: TelemetryRig) -> None:
    host = await rig.host()
    await _flushed(rig, 1)
    messages = await _left(host)
    assert {message.shard for message in messages} == {shard_of(blob_of(f"n{node}")) for node in range(_NODES)}
    assert len(messages) == len({message.shard for message in messages})
    assert host.container.fetched == 0
    sweep = await rig.entries.load_sweep(messages[0].ingest_partition)
    assert sweep
    assert (sweep.blobs, sweep.behind_blobs) == (_NODES, _NODES)


async def test_hosts_that_share_shards_count_each_flush_once(rig: TelemetryRig) -> None:
    one, other = await rig.host(), await rig.host()
    fetched = [_names_fetched(host) for host in (one, other)]
    for flush in range(1, 5):
        await _flushed(rig, flush)
        messages = await _left(one)
        assert messages
        await other.read_queue(messages[flush % 2 :: 2])
        await one.read_queue(messages[(flush + 1) % 2 :: 2])
        assert await _minutes(rig, 0) == _expected(0, flush)
    assert await _left(one) == []
    assert Counter(fetched[0] + fetched[1]) == dict.fromkeys(map(blob_of, (f"n{node}" for node in range(_NODES))), 4)
    for node in range(_NODES):
        assert await _minutes(rig, node) == _expected(node, 4)
    sweep = await rig.entries.load_sweep(messages[0].ingest_partition)
    assert sweep
    assert (sweep.blobs, sweep.behind_blobs) == (_NODES, 0)


async def test_a_shard_has_one_message_until_its_mark_ends(rig: TelemetryRig) -> None:
    host = await rig.host()
    await _flushed(rig, 1)
    first = await _left(host)
    rig.clock.time += LASTS / 2
    await _flushed(rig, 2)
    assert await _left(host) == []
    rig.clock.time += LASTS / 2 + SECOND
    assert await _left(host) == first
    await host.read_queue(first)
    assert [await _minutes(rig, node) for node in (0, 5)] == [_expected(0, 2), _expected(5, 2)]


async def test_a_message_that_comes_twice_reads_nothing(rig: TelemetryRig) -> None:
    host, other = await rig.host(), await rig.host()
    await _flushed(rig, 1)
    messages = await _left(host)
    await host.read_queue(messages)
    fetched = other.container.fetched
    await other.read_queue(messages)
    assert other.container.fetched == fetched


@pytest.mark.parametrize("committed", [False, True])
async def test_a_shard_whose_reader_is_killed_at_any_moment_is_read_once_by_another(
    rig: TelemetryRig, *, committed: bool
) -> None:
    sweeping = await rig.host()
    await _flushed(rig, 1)
    (message, *others), flushes, dies_at = await _left(sweeping), 1, 1
    await sweeping.read_queue(others)
    while True:
        killed, other = await rig.host(), await rig.host()
        mortal = Mortal(killed.tables)
        mortal.arm(dies_at, committed=committed)
        try:
            await killed.sweep.read_shard(message)
        except DiedError:
            rig.clock.time += LASTS + SECOND
        else:
            break
        await other.read_queue(await _left(sweeping))
        flushes, dies_at = flushes + 1, dies_at + 1
        await _flushed(rig, flushes)
        messages = await _left(sweeping)
        await other.read_queue([one for one in messages if one != message])
        assert message in messages
    assert dies_at > 5
    for node in range(_NODES):
        assert await _minutes(rig, node) == _expected(node, flushes)


async def test_a_shard_that_a_host_reads_is_neither_read_nor_left_to_the_queue_again(rig: TelemetryRig) -> None:
    sweeping, reading, other = await rig.host(), await rig.host(), await rig.host()
    await _flushed(rig, 1)
    message, *_ = await _left(sweeping)
    fetch, seen = reading.container.fetch, list[int]()

    async def meanwhile(*given: object) -> bytes:
        fetched = other.container.fetched
        rig.clock.time += timedelta(seconds=1)
        assert message not in await _left(sweeping)
        await other.sweep.read_shard(message)
        seen.append(other.container.fetched - fetched)
        return await fetch(*given)  # type: ignore[arg-type]

    vars(reading.container)["fetch"] = meanwhile
    await reading.sweep.read_shard(message)
    assert set(seen) == {0}


async def test_blobs_that_time_was_too_short_for_are_left_to_the_queue(rig: TelemetryRig) -> None:
    host = await rig.host()
    await _flushed(rig, 1, 3)
    await host.sweep.run(timedelta(0))
    messages = host.sweep.take_messages()
    assert {message.shard for message in messages} == {shard_of(blob_of(f"n{node}")) for node in range(3)}
    await (await rig.host()).read_queue(messages)
    assert await _minutes(rig, 2) == [2]


async def test_a_blob_of_a_shard_that_cannot_be_read_is_named_by_the_next_sweep(rig: TelemetryRig) -> None:
    sweeping, reading = await rig.host(), await rig.host()
    await _flushed(rig, 1)
    messages = await _left(sweeping)
    fetch = reading.container.fetch

    async def broken(blob: object, *given: object) -> bytes:
        if getattr(blob, "name", "") == blob_of("n3"):
            raise ValueError("a defect")
        return await fetch(blob, *given)  # type: ignore[arg-type]

    vars(reading.container)["fetch"] = broken
    await reading.read_queue(messages)
    again = await _left(sweeping)
    assert [message.shard for message in again] == [shard_of(blob_of("n3"))]
    sweep = await rig.entries.load_sweep(messages[0].ingest_partition)
    assert sweep
    assert sweep.problems == (f"{blob_of('n3')}: ValueError: a defect",)
    vars(reading.container)["fetch"] = fetch
    await reading.read_queue(again)
    assert await _left(sweeping) == []
    assert await _minutes(rig, 3) == [3]
