"""Emulators in this process, with the official client and a raw, signing one."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from aiohttp import ClientSession
from azure.batch.aio import BatchClient
from azure.core.credentials import AzureNamedKeyCredential

from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.core.stamps import parse_stamp
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.http.server import Server
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY, DEVELOPMENT_TOKEN
from tests.emulator.support.driver import Driver


@dataclass(frozen=True, slots=True)
class Running:
    """A stepped emulator with the account `demo`, the SDK's client and a plain session."""

    url: str
    batch: BatchClient
    session: ClientSession

    async def control(self, method: str, name: str, body: Json | None = None) -> tuple[int, Json]:
        async with self.session.request(method, f"{self.url}/_emulator/{name}", json=body) as answer:
            return answer.status, await answer.json()

    async def advance(self, seconds: float) -> None:
        status, _ = await self.control("POST", "clock", {"advanceSeconds": seconds})
        assert status == 200

    async def truth(self) -> Json:
        _, found = await self.control("GET", "truth")
        account: Json = found["accounts"]["demo"]
        return account

    async def get(self, path: str, **headers: str) -> tuple[int, Json, dict[str, str]]:
        """Sends a GET with the development token; returns status, body, headers in lower case."""
        given = {"Authorization": f"Bearer {DEVELOPMENT_TOKEN}", **{k.replace("_", "-"): v for k, v in headers.items()}}
        async with self.session.get(f"{self.url}{path}", headers=given) as answer:
            body = await answer.json(content_type=None) if answer.status != 304 else {}
            return answer.status, body, {name.lower(): value for name, value in answer.headers.items()}


@pytest.fixture
async def emulator() -> AsyncIterator[Running]:
    server = Server(Emulator({"demo": DEVELOPMENT_KEY}, token=DEVELOPMENT_TOKEN, seed=1, speed=1.0, stepped=True))
    url = f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}"
    credential = AzureNamedKeyCredential("demo", DEVELOPMENT_KEY)
    async with BatchClient(url, credential, retry_total=0) as batch, ClientSession() as session:
        yield Running(url, batch, session)
    await server.stop()


START = "2026-01-05T08:00:00Z"


async def _serve(emulator: Emulator) -> AsyncIterator[Driver]:
    server = Server(emulator)
    port = await server.start()
    async with ClientSession() as session:
        yield Driver(f"http://127.0.0.1:{port}", session, emulator)
    await server.stop()


@pytest.fixture
async def stepped() -> AsyncIterator[Driver]:
    """Yields an emulator in virtual time from START on, with correct node clocks and no loss of spot nodes."""
    emulator = Emulator(
        {"demo": DEVELOPMENT_KEY, "other": DEVELOPMENT_KEY},
        stepped=True,
        start=parse_stamp(START),
        settings=EmulatorSettings(nodeClockSkewSeconds=0.0, preemptionSeconds=0.0),
    )
    async for driver in _serve(emulator):
        yield driver


@pytest.fixture
async def live() -> AsyncIterator[Driver]:
    """Yields an emulator in real time, with durations shortened a hundredfold."""
    async for driver in _serve(Emulator({"demo": DEVELOPMENT_KEY}, speed=100.0)):
        yield driver


@pytest.fixture
async def client(stepped: Driver) -> AsyncIterator[BatchClient]:
    """Yields the unmodified official client, on plain http with a shared key."""
    async with BatchClient(stepped.url, AzureNamedKeyCredential("demo", DEVELOPMENT_KEY), retry_total=0) as made:
        yield made
