"""Writes the telemetry of all accounts' nodes to storage, as agents on them would.

The simulation never waits for it: it leaves samples, a thread packs them into blocks, and failed writes are retried in
order. If an outage outlasts the queue, the oldest blocks are lost and a message says so.
"""

import asyncio
import contextlib
import sys
from collections import deque
from dataclasses import dataclass, field
from typing import Self

from azure.core.exceptions import AzureError
from azure.storage.blob.aio import BlobServiceClient

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.exports.telemetry_blobs import TelemetryBlobs
from local.batch_emulator.exports.telemetry_blocks import Block, Packer
from local.batch_emulator.telemetry.samplers import MAX_SAMPLED_NODES, PERIOD_SECONDS, NodeSampler

CONTAINER = "telemetry"
_SECONDS = 1.0
_MAX_WAITING = 10_000  # blocks of an account, some 20 MB: more than half an hour of MAX_NODES
_AT_ONCE = 8


@dataclass(slots=True)
class _Desk:
    """An account's unwritten blocks, by folder."""

    sampler: NodeSampler
    packer: Packer
    waiting: dict[str, deque[Block]] = field(default_factory=dict)

    def add(self, blocks: list[Block], max_blocks: int) -> None:
        for block in blocks:
            self.waiting.setdefault(block.folder, deque()).append(block)
        while sum(map(len, self.waiting.values())) > max_blocks:
            longest = max(self.waiting.values(), key=len)
            longest.popleft()
            self.sampler.written.lost += 1


class TelemetryWriter:
    """The writer: `async with TelemetryWriter(emulator, connection_string) as writer` starts telemetry.

    Samples of a node are `period` seconds apart. At the end all agents flush their data.
    """

    def __init__(
        self,
        emulator: Emulator,
        connection_string: str,
        container: str = CONTAINER,
        *,
        period: float = PERIOD_SECONDS,
        max_waiting: int = _MAX_WAITING,
    ) -> None:
        self._emulator = emulator
        self._service = BlobServiceClient.from_connection_string(
            connection_string, retry_total=0, connection_timeout=5, read_timeout=20
        )
        self._blobs = TelemetryBlobs(self._service.get_container_client(container))
        self._period = period
        self._max_waiting = max_waiting
        self._desks: dict[str, _Desk] = {}
        self._said: set[str] = set()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._emulator.sample_nodes(self._period)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        if self._task:  # not cancelled, which would lose taken samples
            await self._task
        await self.flush()
        self._emulator.sample_nodes(0)
        for desk in self._desks.values():
            desk.add(desk.packer.close(), self._max_waiting)
            await self._write(desk)
        await self._service.close()

    def start(self) -> None:
        """Starts writing every second, until closed."""
        self._task = asyncio.create_task(self._run())

    async def flush(self) -> None:
        """Writes everything due, or prints a failure once."""
        for name, sampler in self._emulator.samplers.items():
            desk = self._desks.get(name)
            if desk is None or desk.sampler is not sampler:
                desk = self._desks[name] = _Desk(sampler, Packer(name, str(self._emulator.seed), self._period))
            desk.add(await asyncio.to_thread(desk.packer.pack, sampler.drain()), self._max_waiting)
            await self._write(desk)
            self._record(sampler)

    async def _run(self) -> None:
        """Writes until the writer is closed. A defect ends telemetry, not the emulator, and is printed immediately."""
        try:
            while not self._closing.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), _SECONDS)
                await self.flush()
        except Exception as error:
            self._say("defect", f"Telemetry of nodes isn't written any more: {error!r}")
            raise

    async def _write(self, desk: _Desk) -> None:
        turns = asyncio.Semaphore(_AT_ONCE)

        async def write(folder: str, blocks: deque[Block]) -> None:
            async with turns:
                await self._write_folder(desk, folder, blocks)

        await asyncio.gather(*(write(folder, blocks) for folder, blocks in desk.waiting.items()))
        desk.waiting = {folder: blocks for folder, blocks in desk.waiting.items() if blocks}

    async def _write_folder(self, desk: _Desk, folder: str, blocks: deque[Block]) -> None:
        try:
            while blocks:
                block = blocks[0]
                blob = await self._blobs.append(folder, block.frame)
                blocks.popleft()
                desk.sampler.written.add(block.origin, block.records, len(block.frame), blob)
                self._said.discard("storage")
        except AzureError as error:
            self._say("storage", f"Telemetry can't be written now, and waits: {str(error).splitlines()[0]}")

    def _record(self, sampler: NodeSampler) -> None:
        if sampler.unseen:
            self._say(
                "nodes",
                f"Telemetry is written of {MAX_SAMPLED_NODES} nodes at a time; {sampler.unseen} more have none.",
            )
        if sampler.written.lost or sampler.lost:
            self._say("lost", "Some telemetry of nodes is lost: storage didn't take it in time. It shows as a gap.")

    def _say(self, subject: str, sentence: str) -> None:
        """Prints a sentence, unless one on the same subject was already printed."""
        if subject not in self._said:
            print(sentence, file=sys.stderr, flush=True)
        self._said.add(subject)
