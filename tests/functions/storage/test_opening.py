"""Storage that refuses: no connection stays open, and anonymous health requests don't cause retries."""

import asyncio
import base64
import gc
import json
from datetime import timedelta
from types import SimpleNamespace
from typing import Self, override

import azure.functions as func
import pytest

from functions.api.endpoints import ENDPOINTS
from functions.api.handlers import Handlers
from functions.polling import HEARTBEAT, polling_blueprint
from shared.errors import StorageError
from shared.runtime import Runtime
from shared.settings import Settings, read_settings

pytestmark = pytest.mark.asyncio(loop_scope="function")
(HEALTH,) = (endpoint for endpoint in ENDPOINTS if endpoint.name == "get_health")
KEY = base64.b64encode(bytes(64)).decode()
ENVIRONMENT = {"BATCH_ACCOUNTS": "https://demo.westeurope.batch.azure.com"}


class ClosedStorage:
    """Answers every request with a 403, and counts them."""

    def __init__(self) -> None:
        self.requests = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.connection_string = (
            f"DefaultEndpointsProtocol=http;AccountName=a;AccountKey={KEY};TableEndpoint=http://127.0.0.1:{port}/a;"
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (head := await _until_closed(reader)) is not None:
            length = next(
                (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
            )
            await reader.readexactly(length)
            self.requests += 1
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()


async def _until_closed(reader: asyncio.StreamReader) -> bytes | None:
    """Returns the head of the next request, None at the end of the connection."""
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def runtime_on(storage: ClosedStorage) -> Runtime:
    return Runtime(read_settings({**ENVIRONMENT, "AzureWebJobsStorage": storage.connection_string}))


class Credential:
    """Records that it was closed."""

    closed = False

    async def close(self) -> None:
        self.closed = True


async def test_nothing_stays_open_when_storage_refuses(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    given: list[Credential] = []

    def give(_settings: Settings) -> Credential:
        given.append(Credential())
        return given[-1]

    monkeypatch.setattr("shared.composition.parts._credential", give)
    async with ClosedStorage() as storage:
        runtime = runtime_on(storage)
        for _ in range(2):
            with pytest.raises(StorageError):
                await runtime.services()
    assert [credential.closed for credential in given] == [True, True]
    gc.collect()
    assert [record for record in caplog.records if "Unclosed" in record.getMessage()] == []


async def test_health_asks_storage_that_fails_only_every_few_seconds() -> None:
    async with ClosedStorage() as storage:
        handlers = Handlers(runtime_on(storage))
        request = func.HttpRequest(method="GET", url="http://127.0.0.1/api/health", body=b"")
        first = await handlers.respond(HEALTH, request)
        asked = storage.requests
        assert (first.status_code, asked > 0) == (503, True)
        answers = await asyncio.gather(*(handlers.respond(HEALTH, request) for _ in range(50)))
        assert {answer.status_code for answer in answers} == {503}
        assert storage.requests == asked


class SilentStorage(ClosedStorage):
    """Reads every request, and never answers."""

    @override
    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(-1)


async def test_health_says_so_where_storage_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.api.health._PATIENCE", timedelta(seconds=0.3))
    async with SilentStorage() as storage:
        handlers = Handlers(runtime_on(storage))
        request = func.HttpRequest(method="GET", url="http://127.0.0.1/api/health", body=b"")
        async with asyncio.timeout(10):
            answer = await handlers.respond(HEALTH, request)
    assert answer.status_code == 503
    assert json.loads(answer.get_body())["status"] == "unhealthy"


async def test_without_settings_no_tick_ends_well(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    blueprint = polling_blueprint(Runtime(read_settings({})))
    (tick,) = (b._function for b in blueprint._function_builders if b._function.get_function_name() == "tick")
    await tick.get_user_function()(SimpleNamespace(past_due=False), SimpleNamespace())
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert HEARTBEAT not in caplog.text
