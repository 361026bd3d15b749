"""A proxy that delays each request to storage: `python -m local.prove.telemetry_fleet.slow_storage MS PORT…`.

It delays bytes from clients, each as long, so that a request waits once however many packets it has.
"""

import asyncio
import contextlib
import sys
from functools import partial

_SIZE = 1 << 16


async def serve(seconds: float, ports: list[int]) -> None:
    """Serves a port of its own for each port of storage, and prints them, until it is cancelled."""
    servers = [await asyncio.start_server(partial(_connected, seconds, port), "127.0.0.1", 0) for port in ports]
    print("delaying:", *(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


async def _connected(seconds: float, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        storage_reader, storage_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_delayed(seconds, reader, storage_writer), _passed(storage_reader, writer))


async def _delayed(seconds: float, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def receive() -> None:
        while some := await reader.read(_SIZE):
            waiting.put_nowait((loop.time() + seconds, some))
        waiting.put_nowait((0.0, b""))

    receiving = asyncio.create_task(receive())
    try:
        while True:
            due, some = await waiting.get()
            if not some:
                break
            await asyncio.sleep(max(due - loop.time(), 0))
            writer.write(some)
            await writer.drain()
    finally:
        receiving.cancel()
        writer.close()


async def _passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while some := await reader.read(_SIZE):
            writer.write(some)
            await writer.drain()
    finally:
        writer.close()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(float(sys.argv[1]) / 1000, [int(port) for port in sys.argv[2:]]))
