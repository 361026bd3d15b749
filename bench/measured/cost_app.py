"""The app's side of `bench cost` in a separate process: counts the requests of some minutes of one shape.

`python -m bench.measured.cost_app JSON` prints its counts as a line of JSON. CPU is this process's, over all threads,
and only during a tick, housekeeping or a scrape; the emulator and Azurite run elsewhere.
"""

import asyncio
import gzip
import json
import logging
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, override
from urllib.parse import urlsplit

from aiohttp import ClientSession
from azure.batch.aio import BatchClient
from azure.core.pipeline.transport import AioHttpTransport
from azure.data.tables.aio import TableServiceClient
from azure.storage.blob.aio import BlobServiceClient, ContainerClient

from bench.parts import telemetry
from functions.api.metrics.metrics import all_series
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.dev.running.stack import RESOURCE_ID
from local.prove.load.raw_writes import post
from local.workload.target import open_client
from shared.composition.opening import Services, open_services
from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.budgets import Budget
from shared.settings import read_settings

_WARM_UP, _TICKS, _TICK_SECONDS = 3, 15, 60
_BUDGET = Budget("month", "account", "", Decimal(1000), "USD", from_milliseconds(0))
_TASKS, _SLOTS, _FLUSH_TICKS = 20, 4, 2


@dataclass(frozen=True, slots=True)
class Workload:
    """Addresses, and total quantities: `changing` jobs get a task each tick, `telemetry` nodes write."""

    emulator: str
    storage: str
    accounts: int = 1
    jobs: int = 0
    changing: int = 0
    pools: int = 0
    nodes: int = 0
    telemetry: int = 0


@dataclass(slots=True)
class Counts:
    """Requests by service and kind, and bytes of logs, while `running`."""

    storage: Mapping[str, str]
    running: bool = False
    found: Counter[str] = field(default_factory=Counter)

    def add(self, request: Any) -> None:
        if self.running:
            self.found[_kind(request.method, request.url, self.storage)] += 1


class _LogVolume(logging.Handler):
    """Counts the bytes of the app's own log lines."""

    def __init__(self, counts: Counts) -> None:
        super().__init__(logging.INFO)
        self._counts = counts

    @override
    def emit(self, record: logging.LogRecord) -> None:
        if self._counts.running and record.name.partition(".")[0] in ("functions", "shared"):
            self._counts.found["logBytes"] += len(record.getMessage().encode())


def _kind(method: str, url: str, storage: Mapping[str, str]) -> str:
    """Returns the kind of a request by its port, one per Azurite service. A table transaction is one operation."""
    parts = urlsplit(url)
    service = storage.get(parts.netloc, "batch")
    return _blob_kind(method, parts.query) if service == "blob" else service


def ports_of(storage: str) -> dict[str, str]:
    """Returns the services of a connection string by host and port."""
    given = dict(part.split("=", 1) for part in storage.strip(";").split(";"))
    return {urlsplit(given[f"{name.title()}Endpoint"]).netloc: name for name in ("blob", "queue", "table")}


def _blob_kind(method: str, query: str) -> str:
    if "comp=list" in query:
        return "blobList"
    return "blobRead" if method in ("GET", "HEAD") else "blobWrite"


class App:
    def __init__(self, workload: Workload, counts: Counts) -> None:
        self.workload, self.counts = workload, counts
        self.names = [f"account{number}" for number in range(workload.accounts)]
        self.minute = 0

    async def open(self, stack: AsyncExitStack) -> None:
        settings = read_settings(
            {
                "BATCH_ACCOUNTS": " ".join(f"{name}={self.workload.emulator}" for name in self.names),
                "BATCH_ACCOUNT_KEYS": " ".join(f"{name}={DEVELOPMENT_KEY}" for name in self.names),
                "AzureWebJobsStorage": self.workload.storage,
                "TELEMETRY_STORAGE": self.workload.storage,
                "CLOCK_URL": f"{self.workload.emulator}/_emulator/clock",
                "AZURE_FUNCTIONS_ENVIRONMENT": "Development",
                "BATCH_ACCOUNT_IDS": " ".join(map(RESOURCE_ID.format, self.names)),
                "ARM_URL": self.workload.emulator,
                "RETAIL_PRICES_URL": f"{self.workload.emulator}/api/retail/prices",
                "PRICE_REGIONS": " ".join(f"{name}=westeurope" for name in self.names),
            }
        )
        self.services: Services = await open_services(settings)
        for name in self.names:
            await self.services.budgets.put(name, _BUDGET)
        self.session = await stack.enter_async_context(ClientSession())
        self.clients = [open_client(self.workload.emulator, name, DEVELOPMENT_KEY) for name in self.names]
        for client in self.clients:
            stack.push_async_callback(client.close)
        blobs = await stack.enter_async_context(BlobServiceClient.from_connection_string(self.workload.storage))
        self.container: ContainerClient = blobs.get_container_client("telemetry")
        await self.container.create_container()
        await self._stage(self.clients[0])

    async def _stage(self, client: BatchClient) -> None:
        """Creates everything in the first account; pools have room for the tasks of their jobs."""
        share, rest = divmod(self.workload.nodes, max(self.workload.pools, 1))
        for number in range(self.workload.pools):
            nodes = share + (number < rest)
            pool = {"id": f"pool-{number}", "vmSize": "standard_d4s_v5", "taskSlotsPerNode": _SLOTS}
            await post(client, "/pools", pool | {"targetDedicatedNodes": nodes})
        for number in range(self.workload.jobs):
            where = {"poolId": f"pool-{number % self.workload.pools}"}
            await post(client, "/jobs", {"id": f"job-{number:04}", "poolInfo": where})
            tasks = [{"id": f"task-{place:03}", "commandLine": "sleep 1"} for place in range(_TASKS)]
            await post(client, f"/jobs/job-{number:04}/addtaskcollection", {"value": tasks})
        await self._advance(600)

    async def minute_goes_by(self) -> None:
        self.minute += 1
        for number in range(self.workload.changing):
            task = {"id": f"later-{self.minute:04}", "commandLine": "sleep 90"}
            await post(self.clients[0], f"/jobs/job-{number:04}/tasks", task)
        await self._advance(_TICK_SECONDS)
        if self.workload.telemetry:
            await self._write_telemetry()

    async def _write_telemetry(self) -> None:
        """Each node flushes once in two minutes, as TES agents do, half of them in each minute."""
        now = int(datetime.timestamp(await self.services.clock.now()) * 1000)
        frame = next(telemetry.frames(1 << 30, cpus=_SLOTS, begin=now - 125_000, aggregates=True))
        for number in range(self.minute % _FLUSH_TICKS, self.workload.telemetry, _FLUSH_TICKS):
            name = f"accounts/account0/pools/pool-0/nodes/node-{number:04}/metrics.zst"
            blob = self.container.get_blob_client(name)
            if self.minute <= _FLUSH_TICKS:
                await blob.create_append_blob()
            await blob.append_block(frame)

    async def _advance(self, seconds: float) -> None:
        body = {"advanceSeconds": seconds}
        async with self.session.post(f"{self.workload.emulator}/_emulator/clock", json=body) as answer:
            answer.raise_for_status()

    async def tick(self) -> None:
        """Does the work of the timer function."""
        sweep = asyncio.create_task(self.services.ingestion.sweep())
        await self.services.polling.tick()
        await sweep
        self.counts.found["queueWrites"] += len(self.services.polling.take_messages())

    async def scrape(self) -> int:
        """Returns the compressed size of a scrape of the metrics."""
        return len(gzip.compress((await all_series(self.services, self.names)).encode(), 6))

    async def stored(self) -> dict[str, int]:
        """Returns the bytes of rows, by Azure's formula, and of blobs."""
        rows = 0
        async with TableServiceClient.from_connection_string(self.workload.storage) as service:
            async for table in service.list_tables():
                async for entity in service.get_table_client(table.name).list_entities():
                    rows += _weight(entity)
        blobs = [blob.size async for blob in self.container.list_blobs()]
        return {"rowBytes": rows, "blobBytes": sum(blobs)}


def _weight(entity: dict[str, Any]) -> int:
    """Returns a row's size by Azure's formula: 4 bytes, keys x 2, and per property 8, its name x 2 and its value.

    Source: "Understanding Windows Azure Storage Billing".
    """
    keys = len(entity["PartitionKey"]) + len(entity["RowKey"])
    values = {name: value for name, value in entity.items() if name not in ("PartitionKey", "RowKey")}
    return 4 + keys * 2 + sum(8 + len(name) * 2 + _size(value) for name, value in values.items())


def _size(value: Any) -> int:
    return len(value) * 2 + 4 if isinstance(value, str) else len(value) + 4 if isinstance(value, bytes) else 8


async def measure(workload: Workload) -> dict[str, Any]:
    counts = Counts(ports_of(workload.storage))
    _watch(counts)
    app = App(workload, counts)
    async with AsyncExitStack() as stack:
        await app.open(stack)
        for _ in range(_WARM_UP):
            await app.minute_goes_by()
            await app.tick()
        before = await app.stored()
        ticks = await _averaged(app, counts)
        after = await app.stored()
        growth = {name: (after[name] - before[name]) / _TICKS for name in after}
        hourly = await _counted(counts, app.services.housekeeping.run)
        weight = await app.scrape()  # the first one after a roll-up reads more than the others of its hour

        async def scrape() -> None:
            nonlocal weight
            weight = await app.scrape()

        scraped = await _counted(counts, scrape)
    return {"tick": ticks | growth, "hour": hourly, "scrape": scraped | {"egressBytes": weight}, "stored": after}


async def _averaged(app: App, counts: Counts) -> dict[str, float]:
    found: Counter[str] = Counter()
    for _ in range(_TICKS):
        await app.minute_goes_by()
        found.update(await _counted(counts, app.tick))
    return {name: value / _TICKS for name, value in found.items()}


async def _counted(counts: Counts, run: Callable[[], Awaitable[None]]) -> dict[str, float]:
    counts.found.clear()
    counts.running, began, cpu = True, time.perf_counter(), time.process_time()
    await run()
    spent = {"cpuSeconds": time.process_time() - cpu, "wallSeconds": time.perf_counter() - began}
    counts.running = False
    return {**counts.found, **spent}


def count_requests(counts: Counts) -> None:
    """Counts every request of the SDK clients in this process."""
    send = AioHttpTransport.send

    async def counted(self: AioHttpTransport, request: Any, **options: Any) -> Any:
        counts.add(request)
        return await send(self, request, **options)

    AioHttpTransport.send = counted


def _watch(counts: Counts) -> None:
    """Counts requests, and every line of the app's log."""
    count_requests(counts)
    logging.getLogger().addHandler(_LogVolume(counts))
    logging.getLogger().setLevel(logging.INFO)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Workload(**json.loads(sys.argv[1]))))))
