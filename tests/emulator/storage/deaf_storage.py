"""Storage whose answers get lost: it performs requests, and answers with an error."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, web
from yarl import URL

from local.azurite import StorageAddresses

_OF_THE_WAY = ("Transfer-Encoding", "Connection", "Content-Encoding")


class DeafStorage:
    """A proxy to storage that answers the next `unheard` appends with a failure after performing them.

    Before that it answers appends with the statuses in `refusals`, after `seconds`, without performing them. `refusing`
    is set from the first of these on.
    """

    def __init__(self, storage: StorageAddresses, session: ClientSession) -> None:
        self._storage, self._session = storage, session
        self.unheard = 0
        self.refusals: list[int] = []
        self.refusing = asyncio.Event()
        self.seconds = 0.0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        url = URL(f"http://127.0.0.1:{self._storage.blob_port}{request.raw_path}", encoded=True)
        sent, headers = await request.read(), request.headers
        is_append = request.query.get("comp") == "appendblock"
        if is_append and self.refusals:
            status = self.refusals.pop(0)
            self.refusing.set()
            await asyncio.sleep(self.seconds)
            return web.Response(status=status)
        async with self._session.request(
            request.method, url, data=sent or None, headers=headers, skip_auto_headers=("Content-Type",)
        ) as response:
            body = await response.read()
            passed_on = {name: value for name, value in response.headers.items() if name not in _OF_THE_WAY}
            if self.unheard and is_append and response.status < 400:
                self.unheard -= 1
                return web.Response(status=500)
            return web.Response(status=response.status, body=body, headers=passed_on)


@asynccontextmanager
async def deaf(storage: StorageAddresses) -> AsyncIterator[tuple[DeafStorage, str]]:
    """Yields such storage, and its connection string."""
    async with ClientSession(auto_decompress=False) as session:
        found = DeafStorage(storage, session)
        runner = web.ServerRunner(web.Server(found.answer))  # type: ignore[arg-type]
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield found, storage.connection_string.replace(str(storage.blob_port), str(runner.addresses[0][1]))
        finally:
            await runner.cleanup()
