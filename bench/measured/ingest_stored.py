"""All of ingestion over a real Azurite, in a separate process: `python -m bench.measured.ingest_stored JSON`.

Nodes' frames are in append blobs, one per node; the app's own sweep reads, decodes, rolls up and stores them. CPU is
this process's, over all threads, and only during the sweep. In alternation, `zstandard` and `orjson.loads` read the
same frames.
"""

import asyncio
import json
import secrets
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import orjson
import zstandard
from azure.storage.blob.aio import BlobServiceClient, ContainerClient

from bench.parts import telemetry
from shared.clock import SharedClock
from shared.domain.accounts.accounts import Account
from shared.domain.blobs.blobs import SeenBlob, shard_of, telemetry_ingest_partition
from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.query.task_runs import TaskAffinity, tie_of
from shared.domain.telemetry.records.labels import PathPattern
from shared.garbage import collect_rarely
from shared.services.blobs.blob_reader import BlobReader
from shared.services.blobs.blob_sweep import BlobSweep
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.node_sessions import SessionsByPartition
from shared.services.telemetry.telemetry_intake import TelemetryIntake
from shared.services.telemetry.telemetry_queries import NodeTelemetry, TelemetryQueries
from shared.stores.blobs.blobs import BlobContainer
from shared.stores.blobs.checkpoints import BlobEntryStore
from shared.stores.pools.pools import PoolStore
from shared.stores.tables.tables import Tables

_ACCOUNT = Account("demo", "demo", "demo", None, "http://127.0.0.1:1")
_PATTERN = "pools/{pool}/nodes/{node}/*"
_TASK_PATTERN = "pools/{pool}/nodes/{node}/{job}/{task}/*"
_CPUS = (
    1,
    2,
    4,
    8,
    8,
    16,
    16,
    32,
)  # of nodes; the largest ones reach a thousand records within two minutes
_TURNS, _ROUNDS = 5, 6
_LINE_ROUNDS, _LINE_CPUS = 4, 7
_LONG, _WEEK = timedelta(minutes=10), timedelta(days=7)
_SINCE = timedelta(hours=30)
_BLOCK = 4 << 20
_DAY, _BLOBS, _BLOB_FLUSHES = timedelta(days=1), 166, 4  # of a node: a blob a task attempt, and flushes in each
_CHART = "system.memory"
_MILLISECOND = timedelta(milliseconds=1)
type Frames = dict[str, list[bytes]]


@dataclass(slots=True)
class App:
    """A separate container and tables, and the sweep over them."""

    writer: ContainerClient
    tables: Tables
    container: BlobContainer
    sweep: BlobSweep
    requests: Callable[[], int]
    """Returns how many requests were sent to tables and for bytes of blobs."""

    @classmethod
    async def open(cls, storage: str, stack: AsyncExitStack, pattern: str = _PATTERN) -> "App":
        name = f"b{secrets.token_hex(6)}"
        service = await stack.enter_async_context(BlobServiceClient.from_connection_string(storage))
        writer = service.get_container_client(name)
        await writer.create_container()
        sent = [0]

        def asking() -> Callable[[datetime], None]:
            sent[0] += 1
            return lambda _: None

        tables = Tables.connect(connection_string=storage, endpoint=None, credential=None, prefix=name, asking=asking)
        stack.push_async_callback(tables.close)
        await tables.create()
        container = BlobContainer.connect(name, connection_string=storage, endpoint=None, credential=None)
        stack.push_async_callback(container.close)
        fetch = container.fetch

        async def fetched(blob: SeenBlob, start: int, end: int) -> bytes:
            sent[0] += 1
            return await fetch(blob, start, end)

        vars(container)["fetch"] = fetched
        stores, clock = IngestionStores.of(tables), SharedClock()
        intake = TelemetryIntake([_ACCOUNT], PathPattern(pattern), stores, clock=clock, retention=_WEEK)
        sweep = BlobSweep(BlobReader(container, intake, stores, clock), retention=_WEEK)
        return cls(writer, tables, container, sweep, lambda: sent[0])

    async def append(self, name: str, content: bytes) -> None:
        blob = self.writer.get_blob_client(name)
        if not await blob.exists():
            await blob.create_append_blob()
        for at in range(0, len(content), _BLOCK):
            await blob.append_block(content[at : at + _BLOCK])

    async def swept(self) -> float:
        """Sweeps until all is read; returns seconds of CPU."""
        begin = time.process_time()
        await self.sweep.run(_LONG)
        return time.process_time() - begin


def _decoded(frames: Iterator[bytes]) -> float:
    """Returns the seconds of CPU for decoding alone."""
    begin = time.process_time()
    for frame in frames:
        orjson.loads(zstandard.ZstdDecompressor().decompressobj().decompress(frame))
    return time.process_time() - begin


def _all(found: Frames) -> Iterator[bytes]:
    return (frame for frames in found.values() for frame in frames)


async def _catch_up(storage: str, frames: Frames) -> dict[str, float]:
    """Measures a backlog of all nodes, read in one sweep by a warm app; returns the least of several turns."""
    ours, other, writes = [], [_decoded(_all(frames))], 0
    for _ in range(_TURNS):
        async with AsyncExitStack() as stack:
            app = await App.open(storage, stack)
            await app.append("pools/p/nodes/warm/0", b"".join(telemetry.flushes(2, cpus=2, begin=_now_less(_SINCE))))
            await app.swept()
            for name, some in frames.items():
                await app.append(name, b"".join(some))
            before = app.tables.writes()
            ours.append(await app.swept())
            writes = app.tables.writes() - before
            await _check(app, len(frames) + 1)
        other.append(_decoded(_all(frames)))
    return {"ours": min(ours), "other": min(other), "writes": writes}


async def _live(storage: str, nodes: int) -> dict[str, float]:
    """Returns milliseconds per flush, for a flush of each node per sweep, without the first sweep of new blobs."""
    found = dict(_nodes(nodes, lambda cpus, begin: telemetry.flushes(_ROUNDS, cpus=cpus, begin=begin)))
    ours, other = [], []
    async with AsyncExitStack() as stack:
        app = await App.open(storage, stack)
        for turn in range(_ROUNDS):
            for name, some in found.items():
                await app.append(name, some[turn])
            other.append(_decoded(some[turn] for some in found.values()))
            ours.append(await app.swept())
        await _check(app, nodes)
    scale = 1000 / nodes
    return {"ours": statistics.median(ours[1:]) * scale, "other": statistics.median(other[1:]) * scale}


async def _live_lines(storage: str, nodes: int) -> dict[str, float]:
    """Returns milliseconds of CPU and requests per flush of 312 lines, beside decoding the same lines alone."""
    flushes = telemetry.line_flushes(_LINE_ROUNDS, cpus=_LINE_CPUS, begin=_now_less(_SINCE))
    names = [f"pools/p/nodes/n{number}/cpu.0.lines" for number in range(nodes)]
    ours, other, requests = [], [], []
    async with AsyncExitStack() as stack:
        app = await App.open(storage, stack)
        for flush in flushes:
            for name in names:
                await app.append(name, flush)
            before = app.requests()
            ours.append(await app.swept())
            requests.append(app.requests() - before)
            other.append(_decoded_lines(flush, nodes))
        await _check(app, nodes)
    scale = 1000 / nodes
    found = {"ours": statistics.median(ours[1:]) * scale, "other": statistics.median(other[1:]) * scale}
    shards = len(set(map(shard_of, names)))  # each of which writes its pool's rows in one request
    sent = statistics.median(requests[1:]) - shards
    return found | {"requests": round(sent / nodes, 1), "poolRequests": shards / nodes}


async def _node_day(storage: str) -> dict[str, dict[str, float]]:
    """Returns seconds of CPU and requests per answer about a day of a node, and of a task on it: many small blobs.

    Each blob is read after each of its flushes, as if it were live.
    """
    length, now = _DAY // _BLOBS, _now_less(timedelta())
    begins = [now - (_BLOBS - number) * length // _MILLISECOND for number in range(_BLOBS)]
    flushes = [telemetry.line_flushes(_BLOB_FLUSHES, cpus=_LINE_CPUS, begin=begin) for begin in begins]
    async with AsyncExitStack() as stack:
        app = await App.open(storage, stack, _TASK_PATTERN)
        for turn in range(_BLOB_FLUSHES):
            for number, some in enumerate(flushes):
                await app.append(f"pools/p/nodes/n/j/t/{number}.lines", some[turn])
            await app.swept()
        await _check(app, _BLOBS)
        stores, pools = IngestionStores.of(app.tables), PoolStore(app.tables)
        accounts = {_ACCOUNT.id: _ACCOUNT}
        queries = TelemetryQueries(accounts, stores, pools, clock=SharedClock(), minutes=_WEEK, hours=_WEEK)
        since = datetime.now(UTC) - _DAY
        chart, everything = SeriesQuery(since=since, name=_CHART), SeriesQuery(since=since)
        return {
            "chart": await _answered(app, lambda: queries.of_node(_ACCOUNT.id, "p", "n", chart)),
            "task": await _answered(app, lambda: _of_task(queries, chart)),
            "all": await _answered(app, lambda: queries.of_node(_ACCOUNT.id, "p", "n", everything)),
        }


async def _of_task(queries: TelemetryQueries, asked: SeriesQuery) -> NodeTelemetry:
    """Returns the task's own data, found as its page does: in the node's sessions, and in those without a node."""
    wanted = await queries.range_of(asked)
    others = await queries.sessions.find_of_task(_ACCOUNT.key, "j", "t", "p", wanted.hours)
    found = others | await queries.sessions.find(_ACCOUNT.key, "p", "n", wanted.hours)
    own: SessionsByPartition = {
        key: [one for one in some if tie_of(one.whose, "j", "t") is TaskAffinity.TASK] for key, some in found.items()
    }
    return await queries.of_sessions(own, wanted, asked)


async def _answered(app: App, answers: Callable[[], Awaitable[NodeTelemetry]]) -> dict[str, float]:
    """Returns the least CPU of several answers, the requests of one, and its points."""
    spent, requests, points = [], 0, 0
    for _ in range(_TURNS):
        begin, before = time.process_time(), app.requests()
        answer = await answers()
        spent.append(time.process_time() - begin)
        requests, points = app.requests() - before, sum(len(line.points) for line in answer.lines)
    return {"cpu": min(spent), "requests": requests, "points": points}


def _decoded_lines(flush: bytes, times: int) -> float:
    """Returns the seconds of CPU for decoding a flush again and again, without rolling it up."""
    begin = time.process_time()
    for _ in range(times):
        for _ in Decoder(together=True).steps(flush, 0):
            pass
    return time.process_time() - begin


async def _check(app: App, blobs: int) -> None:
    """Raises ValueError if not everything was read."""
    ingest_partition = await BlobEntryStore(app.tables).load_sweep(telemetry_ingest_partition(_ACCOUNT.key))
    if (
        ingest_partition is None
        or ingest_partition.blobs != blobs
        or ingest_partition.behind_blobs
        or ingest_partition.problems
    ):
        raise ValueError(f"not all was read: {ingest_partition}")


def _now_less(span: timedelta) -> int:
    return int((datetime.now(UTC) - span).timestamp() * 1000)


def _nodes(count: int, made: Callable[[int, int], list[bytes]]) -> Iterator[tuple[str, list[bytes]]]:
    """Yields frames of `count` nodes by blob name, created from a number of CPUs and a first time."""
    for number in range(count):
        yield f"pools/p/nodes/n{number}/vm_perf_metrics.0.zst", made(_CPUS[number % len(_CPUS)], _now_less(_SINCE))


def main(argument: str) -> None:
    asked = json.loads(argument)
    collect_rarely()
    size = asked["megabytes"] * 1_000_000 // len(_CPUS)

    def backlog(cpus: int, begin: int) -> list[bytes]:
        return list(telemetry.frames(size, cpus=cpus, begin=begin, aggregates=True))

    caught = asyncio.run(_catch_up(asked["storage"], dict(_nodes(len(_CPUS), backlog))))
    live = asyncio.run(_live(asked["storage"], asked["nodes"]))
    lines = asyncio.run(_live_lines(asked["storage"], asked["lineNodes"]))
    day = asyncio.run(_node_day(asked["storage"]))
    print(json.dumps({"catchUp": caught, "live": live, "lines": lines, "day": day}))


if __name__ == "__main__":
    main(sys.argv[1])
