"""Writes the resource logs of all accounts to storage as Azure Monitor does: one append blob per account and hour.

Failed writes are retried later; the emulator doesn't wait for storage.
"""

import asyncio
import contextlib
import sys
from itertools import groupby, takewhile
from typing import Self

import orjson
from azure.core.exceptions import AzureError, HttpResponseError
from azure.storage.blob.aio import BlobServiceClient

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.exports.append_blobs import EXISTS_STATUSES, AppendBlob, ignore_statuses, is_changed
from local.batch_emulator.state.event_log import EventLog, hour_of

CONTAINER = "insights-logs-servicelog"
_SECONDS = 1.0
_MAX_BLOCK_RECORDS = 5_000  # records per block, some 4 MB of at most 100


class LogWriter:
    """The writer: `async with LogWriter(emulator, connection_string) as writer` starts logging."""

    def __init__(self, emulator: Emulator, connection_string: str, container: str = CONTAINER) -> None:
        self._emulator = emulator
        self._service = BlobServiceClient.from_connection_string(
            connection_string, retry_total=0, connection_timeout=5, read_timeout=20
        )
        self._container = self._service.get_container_client(container)
        self._blobs: dict[str, AppendBlob] = {}
        self._failed = False
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._emulator.log_events()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        if self._task:  # not cancelled, which would lose drained records
            await self._task
        await self.flush()
        await self._service.close()

    def start(self) -> None:
        """Starts writing every second, until closed."""
        self._task = asyncio.create_task(self._run())

    async def flush(self) -> None:
        """Writes all events so far, or prints a failure once."""
        for log in self._emulator.logs:
            records = log.drain()
            try:
                while records:
                    written = await self._write(log, records)
                    records = records[written:]
                self._failed = False
            except AzureError as error:
                log.put_back(records)
                if not self._failed:
                    print(f"The log can't be written: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
                self._failed = True

    async def _run(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), _SECONDS)
            await self.flush()

    async def _write(self, log: EventLog, records: list[Json]) -> int:
        """Writes the first records, as many as belong to one hour and fit into a block; returns their number."""
        _, first = next(iter(groupby(records[:_MAX_BLOCK_RECORDS], hour_of)))
        block = list(first)
        name = f"resourceId={log.resource}/{hour_of(block[0])}/PT1H.json"
        lines = [orjson.dumps(record) + b"\n" for record in block]
        blob = await self._blob(name)
        try:
            existing = await blob.append(b"".join(lines))
        except HttpResponseError as error:
            if is_changed(error):
                del self._blobs[name]
            raise
        return _written_lines(lines, existing) if existing else len(lines)

    async def _blob(self, name: str) -> AppendBlob:
        if name not in self._blobs:
            with ignore_statuses(EXISTS_STATUSES):
                await self._container.create_container()
            self._blobs[name] = await AppendBlob.open(self._container.get_blob_client(name))
        return self._blobs[name]


def _written_lines(lines: list[bytes], existing: bytes) -> int:
    """Returns how many of the first lines an earlier append has already written."""
    pairs = zip(lines, existing.splitlines(keepends=True), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
