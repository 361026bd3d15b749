"""Writes the telemetry of all accounts' nodes to storage, as agents on them would.

The simulation never waits for it: it queues samples, a thread packs them into blocks, and failed writes are retried in
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
from local.batch_emulator.exports.telemetry_blocks import Block, BlockBuilder
from local.batch_emulator.telemetry.samplers import MAX_SAMPLED_NODES, PERIOD_SECONDS, NodeSampler

CONTAINER = "telemetry"
_SECONDS = 1.0
_MAX_WAITING = 10_000  # blocks of an account, some 20 MB: more than half an hour of MAX_SAMPLED_NODES
_PARALLEL_WRITES = 8


@dataclass(slots=True)
class _BlockQueue:
    """An account's unwritten blocks, by folder."""

    sampler: NodeSampler
    builder: BlockBuilder
    waiting: dict[str, deque[Block]] = field(default_factory=dict)

    def add(self, blocks: list[Block], max_blocks: int) -> None:
        for block in blocks:
            self.waiting.setdefault(block.folder, deque()).append(block)
        while sum(map(len, self.waiting.values())) > max_blocks:
            longest_queue = max(self.waiting.values(), key=len)
            longest_queue.popleft()
            self.sampler.written_totals.lost += 1


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
        self._queues: dict[str, _BlockQueue] = {}
        self._printed: set[str] = set()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._emulator.sample_nodes(self._period)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        if self._task:  # not cancelled, which would lose drained samples
            await self._task
        await self.flush()
        self._emulator.sample_nodes(0)
        for queue in self._queues.values():
            queue.add(queue.builder.close(), self._max_waiting)
            await self._write(queue)
        await self._service.close()

    def start(self) -> None:
        """Starts writing every second, until closed."""
        self._task = asyncio.create_task(self._run())

    async def flush(self) -> None:
        """Writes everything due, or prints a failure once."""
        for name, sampler in self._emulator.samplers.items():
            queue = self._queues.get(name)
            if queue is None or queue.sampler is not sampler:
                queue = self._queues[name] = _BlockQueue(
                    sampler, BlockBuilder(name, str(self._emulator.seed), self._period)
                )
            queue.add(await asyncio.to_thread(queue.builder.build, sampler.drain()), self._max_waiting)
            await self._write(queue)
            self._report_losses(sampler)

    async def _run(self) -> None:
        """Writes until the writer is closed. A defect ends telemetry, not the emulator, and is printed immediately."""
        try:
            while not self._closing.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), _SECONDS)
                await self.flush()
        except Exception as error:
            self._print_once("defect", f"Telemetry of nodes isn't written any more: {error!r}")
            raise

    async def _write(self, queue: _BlockQueue) -> None:
        slots = asyncio.Semaphore(_PARALLEL_WRITES)

        async def write(folder: str, blocks: deque[Block]) -> None:
            async with slots:
                await self._write_folder(queue, folder, blocks)

        await asyncio.gather(*(write(folder, blocks) for folder, blocks in queue.waiting.items()))
        queue.waiting = {folder: blocks for folder, blocks in queue.waiting.items() if blocks}

    async def _write_folder(self, queue: _BlockQueue, folder: str, blocks: deque[Block]) -> None:
        try:
            while blocks:
                block = blocks[0]
                blob = await self._blobs.append(folder, block.frame, begins_blob=block.begins_blob)
                blocks.popleft()
                queue.sampler.written_totals.add(block.session, block.records, len(block.frame), blob)
                self._printed.discard("storage")
        except AzureError as error:
            self._print_once("storage", f"Telemetry can't be written now, and waits: {str(error).splitlines()[0]}")

    def _report_losses(self, sampler: NodeSampler) -> None:
        if sampler.unsampled:
            self._print_once(
                "nodes",
                f"Telemetry is written of {MAX_SAMPLED_NODES} nodes at a time; {sampler.unsampled} more have none.",
            )
        if sampler.written_totals.lost or sampler.lost:
            self._print_once(
                "lost", "Some telemetry of nodes is lost: storage didn't take it in time. It shows as a gap."
            )

    def _print_once(self, subject: str, sentence: str) -> None:
        """Prints a sentence, unless one on the same subject was already printed."""
        if subject not in self._printed:
            print(sentence, file=sys.stderr, flush=True)
        self._printed.add(subject)
