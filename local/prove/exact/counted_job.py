"""A job on a pool of its own, whose every start, end and retry leaves a trace for the next poll.

Its tasks run, fail, are retried and preempted at any time. What leaves no trace (deleting or reactivating a task, the
end of the job and the next one of its id) waits for a rest, at which all polls had seen its tasks. So counters of its
pool must equal the emulator's at each rest, through all faults in between.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from azure.batch import models
from azure.batch.aio import BatchClient

from local.dev.system.console import Failure
from local.workload.scenario import PoolPlan
from local.workload.wire import pool_options

COUNTED_POOL = "counted-pool"
COUNTED_JOB = "Counted_Job"
_PLAN = PoolPlan(id=COUNTED_POOL, vm_size="standard_d2s_v5", dedicated=4, spot=8, slots=2)
_TASKS = (20, 60)
_CHANGED = 6  # tasks a rest
_PATIENCE = 1000
_MORE, _AGAIN = 0.5, 0.6  # shares

type Try = Callable[[Awaitable[object]], Awaitable[bool]]
type Rest = Mapping[str, bool | None]
"""The tasks of the job at a rest: whether each failed, None for one that hadn't completed."""


class CountedJob:
    """The job; `tries` makes a call and returns whether the service accepted it, `done` counts actions."""

    def __init__(self, client: BatchClient, tries: Try, done: Counter[str], *, seed: int) -> None:
        self.rests: asyncio.Queue[Rest] = asyncio.Queue()
        self._client = client
        self._try = tries
        self._done = done
        self._chance = random.Random(f"{seed}/counted")
        self._added = 0

    async def live(self) -> None:
        """Runs job after job under one id; each changes at rests until all of its tasks have completed at one."""
        await self._client.create_pool(pool_options(_PLAN))
        while True:
            await self._create()
            await self._add()
            while None in (rest := await self._next_rest()).values():
                await self._change(rest)
                if self._chance.random() < _MORE:
                    await self._add()
            await self._try(self._client.begin_delete_job(COUNTED_JOB))

    async def _create(self) -> None:
        """Creates the job; retries while its predecessor is being deleted."""
        pool = models.BatchPoolInfo(pool_id=COUNTED_POOL)
        limit = models.BatchJobConstraints(max_task_retry_count=2)
        options = models.BatchJobCreateOptions(id=COUNTED_JOB, pool_info=pool, constraints=limit)
        for _ in range(_PATIENCE):
            if await self._try(self._client.create_job(options)):
                self._done["counted jobs created"] += 1
                return
            await asyncio.sleep(0.1)
        raise Failure(f"The job {COUNTED_JOB} couldn't be created.")

    async def _add(self) -> None:
        number = self._chance.randint(*_TASKS)
        tasks = [
            models.BatchTaskCreateOptions(id=f"counted-{self._added + at:05}", command_line=self._command())
            for at in range(1, number + 1)
        ]
        self._added += number
        await self._client.create_task_collection(COUNTED_JOB, models.BatchTaskGroup(task_values=tasks))

    def _command(self) -> str:
        chance = self._chance
        return f"/bin/sh -c 'sleep {chance.uniform(1, 30):.1f}; exit {chance.choice((0, 0, 0, 1, 137))}'"

    async def _next_rest(self) -> Rest:
        """Returns the next rest that saw the tasks added last, so one that began after they were added."""
        while True:
            rest = await self.rests.get()
            if f"counted-{self._added:05}" in rest:
                return rest

    async def _change(self, rest: Rest) -> None:
        """Deletes and reactivates tasks that had completed at a rest, but not the one added last."""
        last = f"counted-{self._added:05}"
        ended = sorted(name for name, failed in rest.items() if failed is not None and name != last)
        for name in self._chance.sample(ended, min(len(ended), _CHANGED)):
            if rest[name] and self._chance.random() < _AGAIN:
                self._done["counted tasks reactivated"] += await self._try(
                    self._client.reactivate_task(COUNTED_JOB, name)
                )
            else:
                self._done["counted tasks deleted"] += await self._try(self._client.delete_task(COUNTED_JOB, name))
