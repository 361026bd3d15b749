"""`bench delta`: the compared store is measured without waits for storage that cut off a write."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from azure.data.tables.aio import TableClient

from bench.measured import delta_app
from bench.measured.delta_app import CpuTimes, Scenarios
from bench.parts.delta_parts import Stack
from local.azurite import StorageAddresses

TRANSACTION = b"POST /devstoreaccount1/$batch"


class CuttingRelay:
    """Relays connections to storage, and closes the next `cuts` of them that send a transaction."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.cuts = 0

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        storage_reader, storage_writer = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._relay(reader, storage_writer), self._relay(storage_reader, writer))

    async def _relay(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError):
                while some := await source.read(65_536):
                    if self.cuts and some.startswith(TRANSACTION):
                        self.cuts -= 1
                        return
                    target.write(some)
                    await target.drain()
        finally:
            target.close()


@pytest.fixture
async def relay(azurite: StorageAddresses) -> AsyncIterator[tuple[CuttingRelay, str]]:
    """Yields a relay to storage, and the connection string that leads through it."""
    opened = CuttingRelay(azurite.table_port)
    server = await asyncio.start_server(opened.accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    through = replace(azurite, table=azurite.table.replace(str(azurite.table_port), str(port)))
    yield opened, through.connection_string
    server.close()


@pytest.fixture
async def scenarios(relay: tuple[CuttingRelay, str]) -> AsyncIterator[Scenarios]:
    opened = Scenarios(Stack("http://127.0.0.1:1", "", relay[1], "task", 100), timedelta())
    await opened.app.tables.create()
    yield opened
    await opened.reader.client.close()
    await opened.app.close()


async def test_a_rewrite_in_which_storage_cut_off_a_write_is_measured_again(
    scenarios: Scenarios, relay: tuple[CuttingRelay, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured, measure = list[CpuTimes](), delta_app._spent

    async def spent(act: Callable[[], Awaitable[Any]]) -> CpuTimes:
        measured.append(await measure(act))
        return measured[-1]

    monkeypatch.setattr(delta_app, "_spent", spent)
    relay[0].cuts = 1
    found = await scenarios._unbroken(lambda: scenarios._write_entities(range(150)))
    assert (len(measured), relay[0].cuts, found) == (2, 0, measured[-1])
    assert await rows_of(scenarios.app.tables["tasks"], scenarios.stack.job) == 150


async def test_storage_that_cuts_off_every_rewrite_is_no_measurement(
    scenarios: Scenarios, relay: tuple[CuttingRelay, str]
) -> None:
    async def rewrite() -> None:
        relay[0].cuts = 1
        await scenarios._write_entities(range(10))

    with pytest.raises(TimeoutError, match="each of 5 measured"):
        await scenarios._unbroken(rewrite)


async def rows_of(table: TableClient, partition: str) -> int:
    rows = table.query_entities("PartitionKey eq @partition", parameters={"partition": partition}, select=["RowKey"])
    return len([row async for row in rows])
