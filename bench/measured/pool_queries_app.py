"""Queries of a pool's telemetry, in a separate process: `python -m bench.measured.pool_queries_app JSON`.

A pool of the emulator is read by a round, and a day of telemetry of its nodes is stored as projections store it. The
queries' CPU is this process's, over all threads; bytes are those of responses of storage. In the same process, sorting
the values of all nodes in each step is measured alone.
"""

import asyncio
import json
import random
import sys
import time
from array import array
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from azure.core.pipeline.transport import AioHttpTransport

from bench.measured.pools_app import App, PoolsScenario
from shared.domain.blobs.blobs import SHARDS
from shared.domain.core.keys import key_of
from shared.domain.telemetry.catalog.series import Attributes, Series
from shared.domain.telemetry.pools.blocks import MINUTES, Line, PoolBlock, Source
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.garbage import collect_rarely
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.pool_telemetry import PoolTelemetryQueries
from shared.stores.telemetry.pool_telemetry import PoolTelemetryStore, ShardHead

_POOL = "pool-000"
_DAY, _RETENTION = timedelta(days=1), timedelta(days=7)
_METRICS = (
    Series("system.cpu.utilization"),
    Series("system.cpu.utilization", (("cpu.mode", "idle"),)),
    Series("system.memory.utilization", (("system.memory.state", "used"),)),
)
_READINGS = 12  # a minute
_CPU, _TOTAL = "system.cpu.utilization", "cpu.mode="


class _Traffic:
    """Counts the requests of SDK clients in this process, and the bytes of bodies that their responses state."""

    def __init__(self) -> None:
        self.requests = self.size = 0
        send = AioHttpTransport.send

        async def counted(transport: AioHttpTransport, request: Any, **options: Any) -> Any:
            answer = await send(transport, request, **options)
            self.requests += 1
            self.size += len(await answer.read())
            return answer

        AioHttpTransport.send = counted


async def _fill(store: PoolTelemetryStore, nodes: Sequence[str], last: int) -> None:
    """Stores a day of blocks up to the minute `last`, each node in one shard."""
    dice = random.Random(7)  # noqa: S311 - the same each time
    for shard in range(SHARDS):
        own = nodes[shard::SHARDS]
        blocks = {
            (_POOL, number): _block(number, own, dice).packed()
            for number in range(last // MINUTES - _DAY // timedelta(minutes=MINUTES), last // MINUTES + 1)
        }
        await store.save("demo", shard, ShardHead({}, {_POOL: dict.fromkeys(own, last)}), blocks)


def _block(number: int, nodes: Sequence[str], dice: random.Random) -> PoolBlock:
    values = len(nodes) * MINUTES

    def line(attributes: Attributes) -> Line:
        sums = array("d", [dice.random() * _READINGS for _ in range(values)])
        return Line(attributes, array("I", [_READINGS]) * values, sums)

    sources = [Source(node, f"{place:08x}") for place, node in enumerate(nodes)]
    return PoolBlock(number, sources, {metric: line(metric.attributes) for metric in _METRICS})


def _sorted_alone(steps: int, nodes: int) -> float:
    """Returns the seconds of CPU to sort the values of all nodes in each step."""
    values = [random.random() for _ in range(nodes)]  # noqa: S311 - no secret
    begin = time.process_time()
    for _ in range(steps):
        sorted(values)
    return time.process_time() - begin


async def _measured(app: App) -> dict[str, Any]:
    await app.fill()
    await app.round()
    _, nodes = await app.queries.pool_with_nodes("demo", _POOL)
    store = IngestionStores.of(app.tables).pool_telemetry
    now = datetime.now(UTC)
    await _fill(store, [key_of(one.node.id) for one in nodes], int(now.timestamp()) // 60)
    queries, traffic = PoolTelemetryQueries(app.queries, store, _RETENTION), _Traffic()

    async def measured(act: Callable[[], Awaitable[object]]) -> dict[str, float]:
        traffic.requests = traffic.size = 0
        begin = time.process_time()
        await act()
        return {"cpu": time.process_time() - begin, "requests": traffic.requests, "bytes": traffic.size}

    day = SeriesQuery(now - _DAY, now, None, _CPU, _TOTAL)
    return {
        "day": await measured(lambda: queries.of_pool("demo", _POOL, day)),
        "map": await measured(lambda: queries.by_node("demo", _POOL, SeriesQuery(name=_CPU, attributes=_TOTAL), None)),
        "sorted": _sorted_alone(_DAY // timedelta(minutes=MINUTES), len(nodes)),
    }


async def _run(asked: PoolsScenario) -> dict[str, Any]:
    app = App(asked)
    try:
        return await _measured(app)
    finally:
        await app.close()


def main() -> None:
    collect_rarely()
    print(json.dumps(asyncio.run(_run(PoolsScenario(**json.loads(sys.argv[1]))))))


if __name__ == "__main__":
    main()
