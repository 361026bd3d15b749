"""Agents that write telemetry to blobs, each by its plan, until they are stopped."""

import asyncio
import random
from collections.abc import Callable

from azure.storage.blob.aio import ContainerClient

from local.prove.ingest.book import BlobLife, WrittenData
from local.prove.ingest.pens import Plan, SimulatedAgent
from local.prove.ingest.stream import Stream

_PAUSE = (0.3, 2.5)  # seconds between appends
_QUIET = (8.0, 40.0)
_QUIET_SHARE, _NEXT_SHARE = 0.2, 0.07  # shares of appends followed by a long pause, or by another blob or session
_TICK = 0.5


class Writer:
    def __init__(self, plan: Plan, container: ContainerClient, book: WrittenData, *, seed: int, begin: int) -> None:
        self._plan, self._container, self._book = plan, container, book
        self._chance = random.Random(f"{seed} {plan.name}")
        self._pen = SimulatedAgent(plan, self._chance, begin)
        self._lives = 0

    async def run(self, goes_on: Callable[[], bool]) -> None:
        """Writes while `goes_on` returns True, then completes the last unit."""
        await self._open()
        while goes_on():
            await self._append()
            if self._chance.random() < _NEXT_SHARE:
                await self._next()
            await self._pause(goes_on)
        await self._append()
        await self._stream.close(sealed=False)

    async def _open(self) -> None:
        name = self._plan.blob(self._lives)
        self._stream, self._life = Stream(self._container, name, self._chance), BlobLife(name, self._lives)
        self._lives += 1
        await self._stream.create()
        self._book.lives.append(self._life)

    async def _append(self) -> None:
        content = self._pen.written(self._life, self._stream.size)
        await self._stream.append(content)
        self._life.size = self._stream.size

    async def _next(self) -> None:
        """Starts another blob, another life of the same blob, or another session, as planned."""
        if self._plan.is_retried:
            self._pen.start_anew()
        if self._plan.is_remade:
            self._life.is_over = True
            if self._chance.random() < 0.5:  # noqa: PLR2004
                await self._stream.delete()
            await self._open()
        if self._plan.rolls:
            end = self._pen.end(self._life, self._stream.size)
            await self._stream.close(left=end, sealed=True)
            self._life.size, self._life.is_sealed = self._stream.size, True
            await self._open()

    async def _pause(self, goes_on: Callable[[], bool]) -> None:
        is_long = self._plan.is_quiet and self._chance.random() < _QUIET_SHARE
        left = self._chance.uniform(*(_QUIET if is_long else _PAUSE))
        while left > 0 and goes_on():
            await asyncio.sleep(min(left, _TICK))
            left -= _TICK
