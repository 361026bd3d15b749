"""Accounts with many jobs whose tasks change from time to time, created and changed through the official SDK."""

import asyncio
import random
from collections.abc import Callable, Sequence
from itertools import batched, cycle, product

from azure.batch import models
from azure.batch.aio import BatchClient

from local.prove.load.raw_writes import post
from local.workload.target import open_client

_ACCOUNTS_AT_ONCE = 6
_SHORTEST, _MAX_LENGTH = 60, 240  # seconds that a task runs, divided by the emulator's speed
_SLOTS = 2

type Note = Callable[[str, str], None]


class Fleet:
    """Accounts (`keys` by name) on one emulator, each with the same jobs and a pool of `nodes` nodes.

    `added` counts tasks that were added later and acknowledged.
    """

    def __init__(self, emulator: str, keys: dict[str, str], *, jobs: int, nodes: int = 2, seed: int = 1) -> None:
        self._clients = {name: open_client(emulator, name, key) for name, key in keys.items()}
        self._jobs = [f"job-{number:02}" for number in range(jobs)]
        self._nodes = nodes
        self._chance = random.Random(seed)
        self.added = self._later = 0

    @property
    def accounts(self) -> list[str]:
        return list(self._clients)

    async def close(self) -> None:
        await asyncio.gather(*(client.close() for client in self._clients.values()))

    async def fill(self, tasks: int) -> None:
        """Creates a pool, and jobs of `tasks` tasks each, in every account."""
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

    async def keep_going(self, per_second: float, note: Note | None = None) -> None:
        """Adds a task to `per_second` jobs a second until cancelled, regardless of the duration of each addition.

        Jobs of all accounts take turns in a random order, so none comes again before all others. `note` gets the
        account and the job before the task is sent. Raises an ExceptionGroup if Batch refuses one.
        """
        turns = list(product(self._clients, self._jobs))
        self._chance.shuffle(turns)
        time = asyncio.get_running_loop().time
        due = time()
        async with asyncio.TaskGroup() as under_way:
            for account, job in cycle(turns):
                due += 1 / per_second
                await asyncio.sleep(due - time())
                under_way.create_task(self._add_one(account, job, note))

    async def _add_one(self, account: str, job: str, note: Note | None) -> None:
        if note:
            note(account, job)
        self._later += 1
        await self._add(self._clients[account], job, [f"later-{self._later:06}"])
        self.added += 1

    async def _add(self, client: BatchClient, job: str, names: Sequence[str]) -> None:
        for some in batched(names, 100, strict=False):
            seconds = self._chance.randint(_SHORTEST, _MAX_LENGTH)
            tasks = [{"id": name, "commandLine": f"sleep {seconds}"} for name in some]
            await post(client, f"/jobs/{job}/addtaskcollection", {"value": tasks})
