"""The whole app in this process, run by Microsoft's worker library, on real storage and a stepped emulator."""

import json
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import batched
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.batch.aio import BatchClient
from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables.aio import TableClient
from azure.storage.blob.aio import BlobServiceClient, ContainerClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import SECOND
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.server import Server
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.functions_host.http.http_messages import HttpResponse
from local.functions_host.in_process import InProcessApp

ROOT = Path(__file__).resolve().parents[2]
FEW_JOBS = 20
MAX_OPERATIONS = 100  # of a transaction
TOO_MANY = 429
RESOURCE_ID = (
    "/subscriptions/00000000-0000-0000-0000-000000000007/resourceGroups/rg/providers/Microsoft.Batch/batchAccounts/demo"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the app, with its JSON parsed."""

    status: int
    body: Any
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class World:
    """The app, the emulator that it watches, and the official client of that emulator."""

    app: InProcessApp
    emulator: Emulator
    batch: BatchClient
    _left: dict[object, object] = field(default_factory=dict)
    """How a stage left the emulator, for `staged_once`."""

    async def get(self, path: str, **headers: str) -> Answer:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return _answer(await self.app.request("GET", f"/api/{path}", headers=given))

    async def post(self, path: str, body: bytes) -> Answer:
        headers = {"Content-Type": "application/json"}
        return _answer(await self.app.request("POST", f"/api/{path}", headers=headers, body=body))

    async def put(self, path: str, body: bytes) -> Answer:
        headers = {"Content-Type": "application/json"}
        return _answer(await self.app.request("PUT", f"/api/{path}", headers=headers, body=body))

    async def delete(self, path: str) -> Answer:
        return _answer(await self.app.request("DELETE", f"/api/{path}"))

    async def staged_once(self, stage: Callable[["World"], Awaitable[None]]) -> "World":
        """Empties and stages the account, unless it still is as this stage left it: no later test changed it."""
        if self._left.get(stage) != self._condition():
            await begin_anew(self)
            await stage(self)
            self._left[stage] = self._condition()
        return self

    def _condition(self) -> object:
        """Returns what differs after a change of the emulated account, its time, its settings or its faults."""
        writes = [(route, n["requests"]) for route, n in self.emulator.counters.items() if not route.startswith("GET")]
        emulator = self.emulator
        return emulator.epoch, emulator.clock.now, sorted(writes), repr(emulator.settings), list(emulator.faults.all)

    async def poll(self) -> Answer:
        """Polls on demand, which a minute has a limit of: loops fire ticks."""
        answer = await self.post("accounts/demo/poll?wait=true", b'{"all": true}')
        assert answer.status != TOO_MANY, answer.body
        return answer

    async def jobs(self) -> dict[str, Any]:
        found = await self.get("accounts/demo/jobs?maxpagesize=1000")
        return {job["id"]: job for job in found.body["value"]}

    def advance(self, seconds: float) -> None:
        self.emulator.event_queue.advance(seconds)


def _answer(reply: HttpResponse) -> Answer:
    raw = reply.body or b""
    headers = {name.lower(): value for name, value in dict(reply.headers).items()}
    is_json = headers.get("content-type", "").startswith("application/json")
    return Answer(int(reply.status), json.loads(raw) if is_json and raw else raw.decode(), headers)


@pytest.fixture(scope="session")
def _environment(azurite: StorageAddresses) -> Iterator[dict[str, str]]:
    """Yields the app's settings without the emulator's address, which exists once per test process."""
    settings = {
        "AzureWebJobsStorage": azurite.connection_string,
        "BATCH_ACCOUNT_KEYS": f"demo={DEVELOPMENT_KEY}",
        "TELEMETRY_STORAGE": azurite.connection_string,
        "RESOURCE_LOG_CONTAINER": f"logs-{secrets.token_hex(6)}",
        "TELEMETRY_CONTAINER": f"telemetry-{secrets.token_hex(6)}",
        "AZURE_FUNCTIONS_ENVIRONMENT": "Development",
        "EVENT_DAYS": "3650",  # blobs are written in real time, from which the app's clock runs far ahead
        "TELEMETRY_MINUTE_DAYS": "300",
        "TELEMETRY_HOUR_DAYS": "3650",
        "TABLE_PREFIX": f"f{secrets.token_hex(6)}",
        "POLL_SECONDS": "60",
        "MAX_BATCH_CALLS_PER_MINUTE": "1000000",  # hours of the app's time pass within a minute of the limit's
    }
    before = dict(os.environ)
    os.environ.update(settings)
    yield settings
    os.environ.clear()
    os.environ.update(before)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _running(_environment: dict[str, str]) -> AsyncIterator[World]:
    emulator = Emulator({"demo": DEVELOPMENT_KEY}, token="t", seed=7, speed=1.0, stepped=True)
    server = Server(emulator)
    url = f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}"
    os.environ["BATCH_ACCOUNTS"] = f"demo={url}"
    os.environ["CLOCK_URL"] = f"{url}/_emulator/clock"
    os.environ |= {"RETAIL_PRICES_URL": f"{url}/api/retail/prices", "PRICE_REGIONS": "demo=eastus"}
    os.environ |= {"ARM_URL": url, "BATCH_ACCOUNT_IDS": RESOURCE_ID, "COST_LABELS": "team"}
    credential = AzureNamedKeyCredential("demo", DEVELOPMENT_KEY)
    async with InProcessApp(ROOT, os.environ) as app, BatchClient(url, credential) as batch:
        yield World(app, emulator, batch)
    await server.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty, watched account; the app's next poll finds that resources of earlier tests are deleted."""
    await begin_anew(_running)
    return _running


async def begin_anew(world: World, poll_seconds: int = 60) -> None:
    """Empties the account and has it polled at a rate, which is written only if it differs, as writes are limited."""
    if len(world.emulator.simulations["demo"].account.jobs) > FEW_JOBS:
        await forget_jobs(world)
    world.emulator.reset()
    world.advance(3600 - world.emulator.clock.now % SECOND / SECOND)  # to a whole second, as answers have it
    found = (await world.get("accounts/demo/monitoring")).body
    if (found["enabled"], found["pollSeconds"]) != (True, poll_seconds):
        rate = "null" if poll_seconds == 60 else str(poll_seconds)
        await world.put("accounts/demo/monitoring", f'{{"enabled": true, "pollSeconds": {rate}}}'.encode())


async def forget_jobs(world: World) -> None:
    """Deletes the account's jobs, and their rows, which each later poll and most requests would read for 30 days."""
    world.emulator.reset()
    await world.poll()
    storage, name = os.environ["TELEMETRY_STORAGE"], f"{os.environ['TABLE_PREFIX']}jobs"
    async with TableClient.from_connection_string(storage, name) as table:
        deleted = table.query_entities("deletedAt gt datetime'2000-01-01T00:00:00Z'", select=["PartitionKey", "RowKey"])
        for rows in batched([row async for row in deleted], MAX_OPERATIONS, strict=False):
            await table.submit_transaction([("delete", row) for row in rows])


@pytest_asyncio.fixture(loop_scope="session")
async def container(azurite: StorageAddresses) -> AsyncIterator[ContainerClient]:
    """Yields the container of telemetry, and deletes its blobs at the end, as other tests count them."""
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        opened = service.get_container_client(os.environ["TELEMETRY_CONTAINER"])
        if not await opened.exists():
            await opened.create_container()
        yield opened
        async for blob in opened.list_blobs():
            await opened.delete_blob(blob.name)
