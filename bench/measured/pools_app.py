"""The app's side of `bench pools` in a separate process: rounds over pools, beside reading the same pages.

`python -m bench.measured.pools_app JSON` prints its figures as a line of JSON; progress goes to stderr. CPU is this
process's own, over all threads; the emulator and Azurite run elsewhere.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any, override

import msgspec
import orjson
from azure.batch.aio import BatchClient
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.rest import HttpRequest

from bench.measured.ledger_cpu import LedgerCpu
from bench.parts.delta_parts import Stack, post
from functions.api.pools.node_models import node_answer
from functions.api.pools.pool_models import pool_answer
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from shared.clock import SharedClock
from shared.domain.accounts.accounts import Account
from shared.domain.history.grains import HistoryRetention
from shared.garbage import collect_rarely
from shared.services.accounts.registry import Registry
from shared.services.pools.pool_records import PoolRecords
from shared.services.pools.pool_rounds import PoolRounds
from shared.services.queries.pool_queries import PoolQueries
from shared.services.round.resource_state import RoundRules
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_pools import BatchPools
from shared.stores.stores import Stores
from shared.stores.tables.tables import Tables

_REPEATS, _ANSWERS = 9, 5
_NODES_OF = re.compile(
    r"/pools/pool-(\d+)/nodes"
)  # bench/emulated/filled_pools.py changes the pools with the lowest numbers
_RETENTION = HistoryRetention(minutes=timedelta(days=7), quarters=timedelta(days=90))


@dataclass(frozen=True, slots=True)
class PoolsScenario:
    """Addresses and quantities; `busy` pools run tasks on half of their nodes, `moving` pools change."""

    emulator: str
    controls: str
    storage: str
    pools: int
    nodes: int
    changed: int
    moving: int
    busy: bool


class NotedBatch(BatchPools):
    """Records the requests of a round."""

    def __init__(self, source: BatchAccount) -> None:
        super().__init__(source)
        self.urls: list[str] = []

    @override
    async def _read[T](
        self, url: str, intent: str, parse: Callable[[bytes], T], missing: Collection[str]
    ) -> tuple[T, datetime | None]:
        self.urls.append(url)
        return await super()._read(url, intent, parse, missing)


class App:
    """The app's own parts, composed as in shared/composition/; without overlap, so that deltas are exact."""

    def __init__(self, asked: PoolsScenario) -> None:
        self.asked = asked
        self.stack = Stack(asked.emulator, asked.controls, asked.storage, "task", 0)
        self.account = Account("demo", "demo", "demo", None, asked.emulator)
        self.source = BatchAccount.connect(
            self.account, key=DEVELOPMENT_KEY, credential=None, calls_per_minute=1_000_000_000
        )
        self.tables = Tables.connect(connection_string=asked.storage, endpoint=None, credential=None, prefix="bench")
        self.batch = NotedBatch(self.source)
        self.client = BatchClient(asked.emulator, AzureNamedKeyCredential("demo", DEVELOPMENT_KEY))
        clock, stores = SharedClock(), Stores(self.tables)
        records = PoolRecords(stores.pools, stores.pool_history, _RETENTION)
        rules = RoundRules(timedelta(), timedelta(days=1), timedelta(days=1))
        self.rounds = PoolRounds(self.batch, stores, records, clock=clock, rules=rules)
        registry = Registry({"demo": self.account}, stores.monitoring, clock, timedelta(days=1))
        self.queries = PoolQueries(registry, stores)
        self.ledgers = LedgerCpu()

    async def fill(self) -> None:
        asked = self.asked
        await self.tables.create()
        await post(f"{asked.emulator}/_emulator/reset", {})
        await self.stack.make_job()
        running = asked.nodes // 2 if asked.busy else 0
        body = {"job": self.stack.job, "pools": asked.pools, "nodes": asked.nodes, "running": running}
        await post(f"{asked.controls}/pools", body)
        await self.wait()

    async def change(self) -> None:
        kind = "tasks" if self.asked.busy else "states"
        body = {"job": self.stack.job, "pools": self.asked.moving, "count": self.asked.changed, "kind": kind}
        await self.wait()
        await post(f"{self.asked.controls}/nodes", body)
        await self.wait()

    async def wait(self) -> None:
        """Advances the emulator by half a minute, so that rounds are a minute apart."""
        await post(f"{self.asked.emulator}/_emulator/clock", {"advanceSeconds": 30})

    async def round(self) -> None:
        self.batch.urls.clear()
        await self.rounds.run(lambda: True)

    async def reading(self) -> None:
        """Receives and parses every page of the last round, and keeps nothing."""
        await self._read(self.batch.urls)

    async def reading_changed(self) -> None:
        """Reads the same without the nodes of unchanged pools, which a round can't know before its requests."""
        await self._read([url for url in self.batch.urls if self._changed(url)])

    def _changed(self, url: str) -> bool:
        of_pool = _NODES_OF.search(url)
        return of_pool is None or int(of_pool[1]) < self.asked.moving

    async def _read(self, urls: list[str]) -> None:
        for url in urls:
            request = HttpRequest("GET", url, headers={"Accept": "application/json"})
            response = await self.client.send_request(request, stream=True)
            orjson.loads(await response.read())

    async def list_pools(self) -> None:
        """Does the work of GET pools without the HTTP of functions."""
        reports = await self.queries.pools("demo")
        self._check(len(reports), self.asked.pools)
        msgspec.json.encode([pool_answer(report) for report in reports])

    async def list_nodes(self) -> None:
        reports = await self.queries.nodes("demo", "pool-000")
        self._check(len(reports), self.asked.nodes)
        msgspec.json.encode([node_answer(report) for report in reports])

    async def compare(self) -> None:
        """Raises RuntimeError for wrong counts, which would make the benchmark worthless."""
        truth = (await self.stack.all_truth())["demo"]["pools"]
        for report in await self.queries.pools("demo"):
            snapshot, true = report.pool.snapshot, truth[report.pool.facts.id]
            ours = pool_answer(report)
            counted = ours.node_counts, ours.slots and ours.slots.used
            if not snapshot or counted != (true["nodes"], true["slotsUsed"]):
                raise RuntimeError(f"{report.pool.facts.id} is {ours}, the truth is {true}")

    def _check(self, found: int, wanted: int) -> None:
        if found != wanted:
            raise RuntimeError(f"{found} were found instead of {wanted}")

    async def close(self) -> None:
        await self.source.close()
        await self.client.close()
        await self.tables.close()


async def _measured(app: App) -> dict[str, Any]:
    """Returns medians of a few rounds, each followed by a read of the same pages."""
    await app.fill()
    first = await _cpu(app.round)
    rounds, ledgers, reads, changed_reads = list[float](), list[float](), list[float](), list[float]()
    for _ in range(_REPEATS):
        await app.change()
        before = app.ledgers.seconds
        rounds.append(await _cpu(app.round))
        ledgers.append(app.ledgers.seconds - before)
        reads.append(await _cpu(app.reading))
        changed_reads.append(await _cpu(app.reading_changed))
    await app.compare()
    requests = len(app.batch.urls)
    await app.round()
    print(f"  rounds {rounds}, reading {reads}, {requests} requests", file=sys.stderr, flush=True)
    answers = {name: await _times(act) for name, act in (("pools", app.list_pools), ("nodes", app.list_nodes))}
    quiet = await _cpu(app.round)
    return {
        "first": first,
        "round": median(rounds),
        "ledgers": median(ledgers),
        "reading": median(reads),
        "changedReading": median(changed_reads),
        "requests": requests,
        "quiet": quiet,
        "quietReading": await _cpu(app.reading),
        **answers,
    }


async def _cpu(act: Callable[[], Awaitable[object]]) -> float:
    began = time.process_time()
    await act()
    return time.process_time() - began


async def _times(act: Callable[[], Awaitable[object]]) -> float:
    """Returns the median of a few runs, in milliseconds."""
    found = []
    for _ in range(_ANSWERS):
        began = time.perf_counter()
        await act()
        found.append(1e3 * (time.perf_counter() - began))
    return median(found)


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
