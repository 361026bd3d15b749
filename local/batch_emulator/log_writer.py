"""Writes the resource logs of all accounts to storage as Azure Monitor does: an append blob an account and hour.

What can't be written now is written later; the emulator doesn't wait for storage. An append says where it must begin,
so that one that took effect unheard, or before it failed, isn't repeated.
"""

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Self

import orjson
from azure.core import MatchConditions
from azure.core.exceptions import AzureError, HttpResponseError
from azure.storage.blob.aio import BlobServiceClient

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.event_log import EventLog, hour_of

CONTAINER = "insights-logs-servicelog"
_SECONDS = 1.0
_BLOCK = 5_000  # records in one, some 4 MB of at most 100
_EXISTS = (409, 412)
_OTHER_PLACE = 412
_FAILED = 500


class LogWriter:
    """`async with LogWriter(emulator, connection_string) as writer`: from then on there are logs."""

    def __init__(self, emulator: Emulator, connection_string: str, container: str = CONTAINER) -> None:
        self._emulator = emulator
        self._service = BlobServiceClient.from_connection_string(
            connection_string, retry_total=0, connection_timeout=5, read_timeout=20
        )
        self._container = self._service.get_container_client(container)
        self._sizes: dict[str, int] = {}
        self._failed = False
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._emulator.log_events()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._running:
            self._running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._running
        await self.flush()
        await self._service.close()

    def start(self) -> None:
        """Writes what there is every second, until it is closed."""
        self._running = asyncio.create_task(self._run())

    async def flush(self) -> None:
        """Writes what has happened until now, or says once why it can't."""
        for log in self._emulator.logs:
            records = log.take()
            try:
                while records:
                    written = await self._write(log, records)
                    records = records[written:]
                self._failed = False
            except AzureError as error:
                log.give_back(records)
                if not self._failed:
                    print(f"The log can't be written: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
                self._failed = True

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS)
            await self.flush()

    async def _write(self, log: EventLog, records: list[Json]) -> int:
        """Sees to the first records, as many as are of one hour and go into a block; gives how many are written."""
        _, first = next(iter(groupby(records[:_BLOCK], hour_of)))
        block = list(first)
        name = f"resourceId={log.resource}/{hour_of(block[0])}/PT1H.json"
        try:
            return await self._append(name, [orjson.dumps(one) + b"\n" for one in block])
        except HttpResponseError as error:
            if (error.status_code or _FAILED) < _FAILED:  # refused; of what failed nobody knows what came of it
                self._sizes.pop(name, None)
            raise

    async def _append(self, name: str, lines: list[bytes]) -> int:
        """Appends lines, unless an append before this one had written the first of them; gives how many are there."""
        blob, size, block = self._container.get_blob_client(name), await self._size(name), b"".join(lines)
        try:
            await blob.append_block(block, appendpos_condition=size)
        except HttpResponseError as error:
            if error.status_code != _OTHER_PLACE:
                raise
            there = await (await blob.download_blob(offset=size)).readall()
            if not there:
                raise
            self._sizes[name] = size + len(there)
            return there.count(b"\n") if block.startswith(there) else 0
        self._sizes[name] = size + len(block)
        return len(lines)

    async def _size(self, name: str) -> int:
        """How many bytes are in a blob, which is made if it isn't there."""
        if name not in self._sizes:
            blob = self._container.get_blob_client(name)
            with _ignored(_EXISTS):
                await self._container.create_container()
            with _ignored(_EXISTS):
                await blob.create_append_blob(match_condition=MatchConditions.IfMissing)
            self._sizes[name] = (await blob.get_blob_properties()).size
        return self._sizes[name]


@contextlib.contextmanager
def _ignored(statuses: tuple[int, ...]) -> Iterator[None]:
    try:
        yield
    except HttpResponseError as error:
        if error.status_code not in statuses:
            raise
