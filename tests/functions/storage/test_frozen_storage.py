"""Storage that freezes or is unreachable: the API reports it within seconds, serves pages, and timers keep waiting."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import monotonic

import pytest

from local.azurite import StorageAddresses
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.server import Server
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from shared.errors import StorageUnavailableError
from shared.stores.tables.table_requests import waiting_for_storage
from shared.stores.tables.tables import Tables, load_row
from tests.functions.storage.frozen_storage import FrozenWay, frozen_way
from tests.functions.support.separate_app import PAGE, Ask, Said, SeparateApp, copy_app

pytestmark = pytest.mark.asyncio(loop_scope="function")
SITE = "http://127.0.0.1"
READS = (
    "accounts", "accounts/demo", "accounts/demo/monitoring", "accounts/demo/jobs", "accounts/demo/jobs/none",
    "accounts/demo/jobs/none/history", "accounts/demo/jobs/none/tasks", "accounts/demo/jobs/none/failures",
    "accounts/demo/jobs/none/explanation", "accounts/demo/jobs/none/timeline", "accounts/demo/pools",
    "accounts/demo/pools/none/nodes", "accounts/demo/jobschedules", "accounts/demo/events", "accounts/demo/ingestion",
    "accounts/demo/polls/none", "metrics",
)  # fmt: skip
FROZEN_READS = ("accounts", "accounts/demo/jobs", "accounts/demo/jobs/none/explanation", "metrics")


@dataclass(frozen=True, slots=True)
class Timed:
    """An answer, and its duration in seconds."""

    said: Said
    seconds: float


@dataclass(frozen=True, slots=True)
class App:
    app: SeparateApp
    way: FrozenWay

    async def ask(self, method: str, path: str, body: str = "") -> Timed:
        began = monotonic()
        headers = {"Content-Type": "application/json"}
        (said,) = await asyncio.to_thread(self.app.ask, [Ask(method, f"{SITE}/{path}", headers, body)])
        return Timed(said, monotonic() - began)


@asynccontextmanager
async def running(azurite: StorageAddresses, folder: Path, *, frozen: bool = False) -> AsyncIterator[App]:
    """Yields the app of a watched account, with its tables behind a proxy that can freeze."""
    emulator = Server(Emulator({"demo": DEVELOPMENT_KEY}, token="t", seed=7, speed=1.0))
    account = f"http://127.0.0.1:{await emulator.start('127.0.0.1', 0)}"
    async with frozen_way(azurite.table_port) as way:
        settings = {
            "AzureWebJobsStorage": azurite.connection_string.replace(str(azurite.table_port), str(way.port)),
            "BATCH_ACCOUNTS": f"demo={account}",
            "BATCH_ACCOUNT_KEYS": f"demo={DEVELOPMENT_KEY}",
            "AZURE_FUNCTIONS_ENVIRONMENT": "Development",
            "TABLE_PREFIX": f"z{secrets.token_hex(6)}",
        }
        if frozen:
            way.flowing.clear()
        app = SeparateApp(copy_app(folder), settings)
        await asyncio.to_thread(app.__enter__)
        try:
            yield App(app, way)
        finally:
            way.flowing.set()
            await asyncio.to_thread(app.__exit__)
    await emulator.stop()


def assert_unavailable(answer: Timed) -> None:
    error = json.loads(answer.said.text)["error"]
    assert (answer.said.status, error["code"]) == (503, "StorageUnavailable")
    assert int(answer.said.headers["retry-after"]) > 0
    assert error["message"].startswith("Table Storage didn't ")
    assert answer.seconds < 5


async def test_requests_are_answered_within_seconds_while_storage_is_frozen_and_after(
    azurite: StorageAddresses, tmp_path: Path
) -> None:
    async with running(azurite, tmp_path) as app:
        assert (await app.ask("POST", "api/accounts/demo/poll?wait=true", '{"all": true}')).said.status == 200
        assert (await app.ask("GET", "api/health")).said.status == 200
        await asyncio.sleep(5)  # until health checks again
        app.way.flowing.clear()
        health = await app.ask("GET", "api/health")
        assert (health.said.status, json.loads(health.said.text)["status"]) == (503, "unhealthy")
        assert health.seconds < 3
        for path in FROZEN_READS:
            assert_unavailable(await app.ask("GET", f"api/{path}"))
        assert_unavailable(await app.ask("POST", "api/accounts/demo/poll?wait=true", '{"all": true}'))
        assert_unavailable(await app.ask("PUT", "api/accounts/demo/monitoring", '{"enabled": true}'))
        page = await app.ask("GET", "")
        assert (page.said.status, page.said.text) == (200, PAGE)
        assert page.seconds < 1
        app.way.flowing.set()
        assert (await app.ask("GET", "api/accounts/demo/jobs")).said.status == 200


async def test_requests_are_answered_within_seconds_while_storage_is_away(
    azurite: StorageAddresses, tmp_path: Path
) -> None:
    async with running(azurite, tmp_path) as app:
        assert (await app.ask("GET", "api/accounts")).said.status == 200
        await app.way.close()
        await asyncio.sleep(1.1)  # until no earlier answer is reused
        for path in READS:
            assert_unavailable(await app.ask("GET", f"api/{path}"))
        health = await app.ask("GET", "api/health")
        assert (health.said.status, health.seconds < 3) == (503, True)
        await app.way.open()
        assert (await app.ask("GET", "api/accounts/demo/jobs")).said.status == 200


async def test_an_app_that_starts_while_storage_is_frozen_answers_and_opens_when_it_can(
    azurite: StorageAddresses, tmp_path: Path
) -> None:
    async with running(azurite, tmp_path, frozen=True) as app:
        await app.ask("GET", "api/openapi.json")  # imports of the first request aren't counted twice
        assert (await app.ask("GET", "api/health")).said.status == 503
        assert_unavailable(await app.ask("GET", "api/accounts"))
        app.way.flowing.set()
        assert (await app.ask("GET", "api/accounts")).said.status == 200


async def test_callers_without_a_time_limit_wait_for_slow_storage(azurite: StorageAddresses) -> None:
    """Timers and queues: a large read may take longer than any answer of the API."""
    async with frozen_way(azurite.table_port) as way:
        storage = azurite.connection_string.replace(str(azurite.table_port), str(way.port))
        prefix = f"z{secrets.token_hex(6)}"
        tables = Tables.connect(connection_string=storage, endpoint=None, credential=None, prefix=prefix)
        await tables.create()
        loop = asyncio.get_running_loop()
        way.flowing.clear()
        loop.call_later(1.5, way.flowing.set)
        assert await load_row(tables["jobs"], "demo", "none") is None
        way.flowing.clear()
        with waiting_for_storage(timedelta(seconds=0.5)), pytest.raises(StorageUnavailableError, match=r"0\.5 s"):
            await load_row(tables["jobs"], "demo", "none")
        loop.call_later(1.5, way.flowing.set)
        assert await load_row(tables["jobs"], "demo", "none") is None
        await tables.close()
