"""A proxy to storage that can freeze: it accepts connections, and passes nothing on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class FrozenWay:
    """Passes bytes on to a port of this machine while `flowing` is set."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._passing: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.port = 0

    async def open(self) -> None:
        """Opens the proxy, on its previous port if it had one."""
        self._server = await asyncio.start_server(self._take, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Refuses further connections and ends the existing ones."""
        if self._server:
            self._server.close()
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target)
        ways = ((reader, there_writer), (there_reader, writer))
        self._passing |= {asyncio.create_task(self._pass_on(*way)) for way in ways}

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            try:
                while some := await source.read(65_536):
                    await self.flowing.wait()
                    target.write(some)
                    await target.drain()
            finally:
                target.close()


@asynccontextmanager
async def frozen_way(port: int) -> AsyncIterator[FrozenWay]:
    way = FrozenWay(port)
    await way.open()
    try:
        yield way
    finally:
        way.flowing.set()
        await way.close()
