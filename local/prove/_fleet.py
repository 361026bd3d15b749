"""Accounts full of jobs whose tasks change now and then, made and kept going through the official SDK."""

import asyncio
import random
from collections.abc import Sequence
from itertools import batched

from azure.batch import models
from azure.batch.aio import BatchClient

from local.prove._raw_writes import post
from local.workload.target import open_client

_ACCOUNTS_AT_ONCE = 6
_SHORTEST, _LONGEST = 60, 240  # seconds that a task runs, divided by the emulator's speed
_SLOTS = 2


class Fleet:
    """`keys` by account name, all on one emulator; every account has the same jobs, and a pool of so many `nodes`."""

    def __init__(self, emulator: str, keys: dict[str, str], *, jobs: int, nodes: int = 2, seed: int = 1) -> None:
        self._clients = {name: open_client(emulator, name, key) for name, key in keys.items()}
        self._jobs = [f"job-{number:02}" for number in range(jobs)]
        self._nodes = nodes
        self._chance = random.Random(seed)
        self.added = 0

    async def close(self) -> None:
        await asyncio.gather(*(client.close() for client in self._clients.values()))

    async def fill(self, tasks: int) -> None:
        """A pool, and jobs of so many tasks each, in every account."""
        gate = asyncio.Semaphore(_ACCOUNTS_AT_ONCE)

        async def fill(client: BatchClient) -> None:
            async with gate:
                await client.create_pool(
                    models.BatchPoolCreateOptions(
                        id="pool",
                        vm_size="standard_d2s_v5",
                        target_dedicated_nodes=self._nodes,
                        task_slots_per_node=_SLOTS,
                    )
                )
                for job in self._jobs:
                    await post(client, "/jobs", {"id": job, "poolInfo": {"poolId": "pool"}})
                    await self._add(client, job, [f"task-{number:04}" for number in range(tasks)])

        await asyncio.gather(*map(fill, self._clients.values()))

    async def keep_going(self, per_second: float) -> None:
        """Adds tasks to jobs of chance accounts, so many a second in all, until cancelled."""
        while True:
            await asyncio.sleep(1 / per_second)
            client, job = self._chance.choice(list(self._clients.values())), self._chance.choice(self._jobs)
            self.added += 1
            await self._add(client, job, [f"later-{self.added:06}"])

    async def _add(self, client: BatchClient, job: str, names: Sequence[str]) -> None:
        for some in batched(names, 100, strict=False):
            seconds = self._chance.randint(_SHORTEST, _LONGEST)
            tasks = [{"id": name, "commandLine": f"sleep {seconds}"} for name in some]
            await post(client, f"/jobs/{job}/addtaskcollection", {"value": tasks})
