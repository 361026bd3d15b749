"""Jobs that go on as usual beside the failing one: tasks are added, run for a while, and few of them fail."""

import asyncio
import random
from collections.abc import Sequence
from itertools import cycle

from azure.batch import models
from azure.batch.aio import BatchClient

from local.prove.load.raw_writes import post

_POOL = "usual"
_NODES, _SLOTS = 30, 4
_SHORTEST, _LONGEST = 5, 40  # seconds that a task runs
_FAILS = 0.02  # share of the tasks
_FIRST = 200  # tasks of each job


class UsualJobs:
    """The jobs, with their tasks on one pool; `added` counts tasks."""

    def __init__(self, client: BatchClient, jobs: int, *, seed: int) -> None:
        self._client = client
        self._chance = random.Random(f"{seed}/usual")
        self.jobs: Sequence[str] = [f"usual-{number}" for number in range(jobs)]
        self.added = 0

    async def create(self) -> None:
        """Creates the pool, and the jobs with their first tasks."""
        size = models.BatchPoolCreateOptions(
            id=_POOL, vm_size="standard_d4s_v5", target_dedicated_nodes=_NODES, task_slots_per_node=_SLOTS
        )
        await self._client.create_pool(size)
        for job in self.jobs:
            where = models.BatchPoolInfo(pool_id=_POOL)
            await self._client.create_job(models.BatchJobCreateOptions(id=job, pool_info=where))
            for _ in range(0, _FIRST, 100):
                await self._add(job, 100)

    async def keep_adding(self, per_second: float) -> None:
        """Adds tasks to the jobs in turns until cancelled, regardless of how long an addition takes."""
        moment = asyncio.get_running_loop().time
        due = moment()
        for job in cycle(self.jobs):
            due += 1 / per_second
            await asyncio.sleep(due - moment())
            await self._add(job, 1)

    async def _add(self, job: str, number: int) -> None:
        tasks = [{"id": f"task-{self.added + at:06}", "commandLine": self._command_line()} for at in range(number)]
        self.added += number
        await post(self._client, f"/jobs/{job}/addtaskcollection", {"value": tasks})

    def _command_line(self) -> str:
        end = "; emulate failure name-resolution; exit 3" if self._chance.random() < _FAILS else ""
        return f"/bin/sh -c 'sleep {self._chance.randint(_SHORTEST, _LONGEST)}{end}'"
