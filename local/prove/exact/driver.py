"""Changes the emulator's resources through the official SDK until it is closed.

Jobs with odd ids are created, filled, run, modified and sometimes ended. They are deleted and created again under the
same id, usually immediately and sometimes in other letter case. `pool_changes` changes pools and schedules. All choices
come from the seed; the timing doesn't. Every write waits while the emulator is paused, so that a pause has one truth.
"""

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from azure.batch import models
from azure.batch.aio import BatchClient
from azure.core.exceptions import HttpResponseError

from local.dev.system.console import Failure
from local.prove.exact.counted_job import CountedJob, Rest
from local.prove.exact.ids import JOBS, odd_case, task_id
from local.prove.exact.pool_changes import PoolChanges
from local.workload.scenario import PoolPlan
from local.workload.target import open_client
from local.workload.wire import pool_options

_POOLS = (
    PoolPlan(id="Steady_Pool-1", vm_size="standard_d4s_v5", dedicated=12, slots=4),
    PoolPlan(id="spot-pool", vm_size="standard_d2s_v5", spot=20, slots=2),
    PoolPlan(id="BROKEN", vm_size="standard_d2s_v5", dedicated=2, start_task="/bin/sh -c 'sleep 1; exit 1'"),
)
_RUN_IN = ("Steady_Pool-1", "Steady_Pool-1", "spot-pool", "spot-pool", "BROKEN", "no-such-pool")
_MIN_TASKS, _MAX_TASKS, _PER_CALL = 20, 3000, 100
_EXPECTED = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)  # it deletes and terminates without checking the state
_STAYING = 3  # jobs that never end; they change less often
_AT_ONCE = 0.7
_PATIENCE = 1000


@dataclass(slots=True)
class _Life:
    """One life of a job; `tasks` are all tasks added to it, including deleted ones."""

    name: str
    chance: random.Random
    stays: bool
    tasks: list[str] = field(default_factory=list)


class Driver:
    """The driver; `done` counts its actions. Task deletions begin when allowed."""

    def __init__(self, address: str, account: str, key: str, *, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self._open = (address, account, key)
        self._seed = seed
        self._deleting = 0
        self._may_delete = False
        self._failure: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._counted: CountedJob | None = None
        self._thread = threading.Thread(target=self._run, name="driver", daemon=True)
        self._thread.start()

    def allow_deletions(self) -> None:
        """Allows deletions of single tasks."""
        self._may_delete = True

    def end_deletions(self) -> None:
        """Ends task deletions before it returns. The emulator must not be paused."""
        self._may_delete = False
        time.sleep(0.1)
        while self._deleting and not self._failure:
            time.sleep(0.05)

    def rest(self, tasks: Rest) -> None:
        """Marks a rest for the counted job: all hosts have seen these tasks of it."""
        if self._counted:
            self._loop.call_soon_threadsafe(self._counted.rests.put_nowait, tasks)

    def check(self) -> None:
        """Raises Failure if the driver has failed."""
        if self._failure:
            raise Failure(f"The driver of changes failed: {self._failure!r}.")

    def close(self) -> None:
        """Stops the driver. The emulator must not be paused, or this blocks on its pending requests."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._drive())
        except Exception as error:
            self._failure = error

    async def _drive(self) -> None:
        async with open_client(*self._open) as client:
            for pool in _POOLS:
                await client.create_pool(pool_options(pool))
            beside = PoolChanges(client, self._try, self.done, seed=self._seed).lives()
            self._counted = CountedJob(client, self._try, self.done, seed=self._seed)
            works = [self._counted.live(), *(self._live(client, number) for number in range(len(JOBS))), *beside]
            lives = [asyncio.create_task(work) for work in works]
            closing = asyncio.create_task(self._closing.wait())
            done, left = await asyncio.wait({*lives, closing}, return_when=asyncio.FIRST_COMPLETED)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            for task in done:
                task.result()

    async def _live(self, client: BatchClient, number: int) -> None:
        chance = random.Random(f"{self._seed}/{number}")
        await asyncio.sleep(chance.uniform(0, 3))
        name = JOBS[number]
        while True:
            life = _Life(name, chance, stays=number < _STAYING)
            await self._create(client, life)
            await self._fill(client, life)
            for _ in range(chance.randint(5, 30)):
                await asyncio.sleep(chance.uniform(0.2, 6.0 if life.stays else 1.2))
                await self._meddle(client, life)
            while life.stays:
                await asyncio.sleep(chance.uniform(0.5, 8.0))
                await self._meddle(client, life)
            await self._end(client, life)
            name = odd_case(JOBS[number], chance)

    async def _create(self, client: BatchClient, life: _Life) -> None:
        """Creates a job; retries while its predecessor is being deleted."""
        pool = models.BatchPoolInfo(pool_id=life.chance.choice(_RUN_IN))
        constraints = models.BatchJobConstraints(max_task_retry_count=life.chance.choice((0, 0, 1, 3)))
        options = models.BatchJobCreateOptions(id=life.name, pool_info=pool, constraints=constraints)
        for _ in range(_PATIENCE):
            if await self._try(client.create_job(options)):
                break
            await asyncio.sleep(0.02)
        else:
            raise Failure(f"The job {life.name} couldn't be created.")
        self.done["jobs created"] += 1

    async def _fill(self, client: BatchClient, life: _Life) -> None:
        size = round(_MIN_TASKS * (_MAX_TASKS / _MIN_TASKS) ** life.chance.random())
        style = life.chance.randrange(1000)
        for start in range(0, size, _PER_CALL):
            names = [task_id(style, number, life.chance) for number in range(start, min(start + _PER_CALL, size))]
            await self._add(client, life, names)
            await asyncio.sleep(life.chance.uniform(0.0, 0.6))
            if life.chance.random() < 0.4:  # noqa: PLR2004 - a share
                await self._meddle(client, life)

    async def _add(self, client: BatchClient, life: _Life, names: list[str]) -> None:
        group = models.BatchTaskGroup(
            task_values=[models.BatchTaskCreateOptions(id=name, command_line=_command(life.chance)) for name in names]
        )
        try:
            rows = (await client.create_task_collection(life.name, group)).result_values or []
        except HttpResponseError as error:
            if error.status_code not in _EXPECTED:
                raise
            return
        life.tasks += names
        self.done["tasks added"] += sum(row.error is None for row in rows)

    async def _meddle(self, client: BatchClient, life: _Life) -> None:
        job, chance = odd_case(life.name, life.chance), life.chance
        some = [odd_case(name, chance) for name in _drawn(life, (1, 1, 8))]
        match chance.randrange(9):
            case 8:
                await self._flash(client, life)
            case 0 | 1 | 2:
                await self._delete_tasks(client, job, some)
            case 3 | 4:
                await self._each("tasks terminated", *(client.terminate_task(job, task) for task in some))
            case 5:
                await self._each("tasks reactivated", *(client.reactivate_task(job, task) for task in some))
            case 6:
                await self._add(client, life, [task_id(chance.randrange(1000), 5000 + len(life.tasks), chance)])
            case _:
                how = chance.choice(list(models.DisableBatchJobOption))
                options = models.BatchJobDisableOptions(disable_tasks=how)
                await self._each("jobs disabled", client.begin_disable_job(job, options))
                await asyncio.sleep(chance.uniform(0.0, 1.0))
                await self._try(client.begin_enable_job(job))

    async def _flash(self, client: BatchClient, life: _Life) -> None:
        """Adds tasks and soon deletes them, so that some reads see them and others don't."""
        start = 10_000 + len(life.tasks)
        names = [task_id(0, number, life.chance) for number in range(start, start + life.chance.randint(1, 3))]
        if self._may_delete:
            await self._add(client, life, names)
            await asyncio.sleep(life.chance.uniform(0.05, 1.5))
            await self._delete_tasks(client, life.name, names)

    async def _delete_tasks(self, client: BatchClient, job: str, tasks: list[str]) -> None:
        if not self._may_delete:
            return
        self._deleting += 1
        try:
            await self._each("tasks deleted", *(client.delete_task(job, task) for task in tasks))
        finally:
            self._deleting -= 1

    async def _end(self, client: BatchClient, life: _Life) -> None:
        """Ends a job: by termination, after its tasks, or by deletion while it runs."""
        chance = life.chance
        match chance.randrange(3):
            case 0:
                reason: Any = {"terminateReason": "Enough"}  # the SDK doesn't export the model, and fails without one
                await self._each("jobs terminated", client.begin_terminate_job(life.name, reason))
            case 1:
                mode = models.BatchAllTasksCompleteMode.TERMINATE_JOB
                options = models.BatchJobUpdateOptions(all_tasks_complete_mode=mode)
                await self._each("jobs let end by themselves", client.update_job(life.name, options))
        for _ in range(chance.randint(0, 6)):
            await asyncio.sleep(chance.uniform(0.5, 3.0))
            if chance.random() < 0.4:  # noqa: PLR2004 - a share
                await self._delete_tasks(client, life.name, _drawn(life, (1, 3, 20)))
        await self._each("jobs deleted", client.begin_delete_job(life.name))
        if chance.random() > _AT_ONCE:
            await asyncio.sleep(chance.uniform(0.5, 6.0))

    async def _each(self, what: str, *calls: Awaitable[object]) -> None:
        self.done[what] += sum(await asyncio.gather(*map(self._try, calls)))

    async def _try(self, call: Awaitable[object]) -> bool:
        """Returns False if the resource is deleted or in a state that doesn't allow the call."""
        try:
            await call
        except HttpResponseError as error:
            if error.status_code not in _EXPECTED:
                raise
            return False
        return True


def _drawn(life: _Life, numbers: tuple[int, ...]) -> list[str]:
    """Returns a sample of the job's tasks, of a size drawn from `numbers`."""
    return life.chance.sample(life.tasks, min(len(life.tasks), life.chance.choice(numbers)))


def _command(chance: random.Random) -> str:
    exit_code = chance.choice((0, 0, 0, 0, 1, 137))
    return f"/bin/sh -c 'sleep {chance.uniform(1, 40):.1f}; exit {exit_code}'"
