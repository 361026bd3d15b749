"""Jobs with very many tasks in all; some run at a time."""

import asyncio
from collections.abc import Sequence
from itertools import batched
from typing import Any

from azure.batch import models

from local.dev.running.stack import EmulatedAccount
from local.prove.load.raw_writes import post
from local.workload.target import open_client

_PER_CALL, _AT_ONCE = 100, 4


async def fill(emulator: str, account: EmulatedAccount, jobs: Sequence[str], tasks: int) -> None:
    """Creates a pool, and jobs with `tasks` tasks in all."""
    async with open_client(emulator, account.name, account.key) as client:
        size = models.BatchPoolCreateOptions(
            id="pool", vm_size="standard_d4s_v5", target_dedicated_nodes=20, task_slots_per_node=4
        )
        await client.create_pool(size)
        for job in jobs:
            pool = models.BatchPoolInfo(pool_id="pool")
            await client.create_job(models.BatchJobCreateOptions(id=job, pool_info=pool))
        names = batched(
            ((jobs[number % len(jobs)], number) for number in range(tasks)), _PER_CALL * len(jobs), strict=False
        )

        async def add() -> None:
            for some in names:
                for job in jobs:
                    value: list[dict[str, Any]] = [
                        {"id": f"task-{number:07}", "commandLine": f"sleep {1 + number % 20}; exit {number % 7 == 0:d}"}
                        for owner, number in some
                        if owner == job
                    ]
                    if value:
                        await post(client, f"/jobs/{job}/addtaskcollection", {"value": value})

        await asyncio.gather(*(add() for _ in range(_AT_ONCE)))
