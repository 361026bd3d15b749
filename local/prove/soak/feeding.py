"""Writes blobs at a steady rate: mostly telemetry of new nodes, some resource logs, and occasional hostile blobs."""

import asyncio
import random
import time
from collections import Counter
from datetime import UTC, datetime, timedelta

from azure.core.exceptions import AzureError
from azure.storage.blob.aio import BlobServiceClient, ContainerClient

from local.prove.soak.kinds import hostile, resource_log, small_telemetry

POOL = "soaked"
_TELEMETRY, _LOGS = "telemetry", "insights-logs-servicelog"
_LOG_EVERY, _HOSTILE_EVERY = 10, 20  # blobs; hostile kinds take turns, so that every hour has as many of each
_GROWN_SHARE = 0.3
_NODES = 400  # names in rotation, so that a node has several blobs in a long run
_BACK = timedelta(minutes=2)  # age of the first sample of a new blob
_LOGGED = timedelta(hours=23, minutes=36)  # age; with EVENT_DAYS=1 events expire within the run
_RESOURCE = "resourceId=/SUBSCRIPTIONS/S/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.BATCH/BATCHACCOUNTS/DEMO"


class Feeder:
    """The writer; `written` counts blobs by kind, `failed` those refused or not accepted in time by storage."""

    def __init__(self, service: BlobServiceClient, account: str, *, per_minute: float, seed: int) -> None:
        self._telemetry = service.get_container_client(_TELEMETRY)
        self._logs = service.get_container_client(_LOGS)
        self._account, self._pause = account, 60 / per_minute
        self._chance = random.Random(f"{seed} soak")
        self._grown: list[str] = []
        self.written = Counter[str]()
        self.failed = 0

    @property
    def blobs(self) -> int:
        return self.written.total() - self.written["appended"]

    async def run(self, until: float) -> None:
        """Runs until a time of the monotonic clock. A late blob isn't skipped: the rate is kept on average."""
        for container in (self._telemetry, self._logs):
            if not await container.exists():
                await container.create_container()
        following = time.monotonic()
        while following < until:
            await asyncio.sleep(max(0.0, following - time.monotonic()))
            following += self._pause
            try:
                await self._write()
            except (AzureError, OSError):
                self.failed += 1

    async def _write(self) -> None:
        chance, now, number = self._chance, datetime.now(UTC), self.blobs
        if number % _LOG_EVERY == _LOG_EVERY // 2:
            name = _log_name(now - _LOGGED, chance.randrange(1 << 32))
            await _appended(self._logs, name, resource_log(chance, now - _LOGGED))
            self.written["resource logs"] += 1
            return
        name = self._name(chance.randrange(1 << 32))
        if number % _HOSTILE_EVERY == 0:
            content = await asyncio.to_thread(hostile, number // _HOSTILE_EVERY, chance)
            await _appended(self._telemetry, name, content)
            self.written["hostile"] += 1
            return
        await _appended(self._telemetry, name, small_telemetry(chance, now - _BACK))
        self.written["telemetry"] += 1
        self._grown.append(name)
        if chance.random() < _GROWN_SHARE:
            grown = self._grown.pop(chance.randrange(len(self._grown)))
            await self._telemetry.get_blob_client(grown).append_block(small_telemetry(chance, now))
            self.written["appended"] += 1
        del self._grown[:-100]

    def _name(self, number: int) -> str:
        node = f"node-{self.written.total() % _NODES}"
        return f"accounts/{self._account}/pools/{POOL}/nodes/{node}/{number:08x}/vm_perf_metrics.0.json"


async def _appended(container: ContainerClient, name: str, content: bytes) -> None:
    blob = container.get_blob_client(name)
    await blob.create_append_blob()
    for begin in range(0, len(content), 4 << 20):
        await blob.append_block(content[begin : begin + (4 << 20)])


def _log_name(at: datetime, number: int) -> str:
    """Returns a log's name in its own folder, as if every minute had many writers."""
    return f"{_RESOURCE}/y={at:%Y}/m={at:%m}/d={at:%d}/h={at:%H}/m={at:%M}/{number:08x}/PT1H.json"
