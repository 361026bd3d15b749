"""One job with very many tasks; some run while more are added."""

import asyncio
import random
from collections.abc import Iterator
from itertools import batched

from azure.batch import models
from azure.batch.aio import BatchClient

from local.prove.load.raw_writes import post
from local.workload.target import open_client

JOB = "Crowd"
_PER_CALL = 100
_AT_ONCE = 4
_MAX_LENGTH = 20  # seconds that a task runs
_NODES, _SLOTS = 60, 4


class Crowd:
    """The job; `added` counts tasks. All requests wait while the emulator is paused."""

    def __init__(self, emulator: str, account: str, key: str, *, seed: int) -> None:
        self._client: BatchClient = open_client(emulator, account, key)
        self._chance = random.Random(seed)
        self.added = 0

    async def close(self) -> None:
        await self._client.close()

    async def create(self, tasks: int) -> None:
        """Creates a pool, and the job with `tasks` tasks."""
        size = models.BatchPoolCreateOptions(
            id="pool", vm_size="standard_d4s_v5", target_dedicated_nodes=_NODES, task_slots_per_node=_SLOTS
        )
        await self._client.create_pool(size)
        await self._client.create_job(
            models.BatchJobCreateOptions(id=JOB, pool_info=models.BatchPoolInfo(pool_id="pool"))
        )
        names = batched((f"task-{number:07}" for number in range(0, 2 * tasks, 2)), _PER_CALL, strict=False)
        await asyncio.gather(*(self._fill(names) for _ in range(_AT_ONCE)))

    async def keep_adding(self, per_second: float, among: int) -> None:
        """Adds tasks among and after the first `among` until cancelled; half of them sort between others."""
        while True:
            await asyncio.sleep(1 / per_second)
            number = 2 * self._chance.randrange(among) + 1
            await self._add((f"task-{number:07}-{self.added}",))

    async def _fill(self, names: Iterator[tuple[str, ...]]) -> None:
        for some in names:
            await self._add(some)

    async def _add(self, names: tuple[str, ...]) -> None:
        commands = [
            f"sleep {self._chance.randint(1, _MAX_LENGTH)}; exit {self._chance.choice((0, 0, 0, 1))}" for _ in names
        ]
        value = [{"id": name, "commandLine": command} for name, command in zip(names, commands, strict=True)]
        await post(self._client, f"/jobs/{JOB}/addtaskcollection", {"value": value})
        self.added += len(names)
