"""Changes pools, their nodes and job schedules, in parallel with jobs, until cancelled.

Pools with jobs are resized, and their nodes are modified. Other pools and schedules are created, left for a while,
deleted and re-created under their ids. A scheduled job ends with its only task.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any

from azure.batch import models
from azure.batch.aio import BatchClient
from azure.core.exceptions import HttpResponseError

from local.dev.system.console import Failure
from local.prove.exact.ids import odd_case
from local.workload.scenario import PoolPlan
from local.workload.wire import pool_options

_BUSY = {"Steady_Pool-1": (8, 0), "spot-pool": (0, 14)}  # minimum of dedicated and spot nodes
_MORE = 6
_RESTING = ("Churn-1", "churn_2", "9POOL")
_SCHEDULES = ("Every-Minute", "SOMETIMES_2")
_MAX_NODES = 3
_PATIENCE = 600
_PAUSES = (0.5, 4.0)  # seconds between two changes of one resource

type Try = Callable[[Awaitable[object]], Awaitable[bool]]


class PoolChanges:
    """The changes; `tries` makes a call and returns whether the service accepted it, `done` counts actions."""

    def __init__(self, client: BatchClient, tries: Try, done: Counter[str], *, seed: int) -> None:
        self._client = client
        self._try = tries
        self._done = done
        self._seed = seed

    def lives(self) -> list[Coroutine[Any, Any, None]]:
        """Returns the parallel activities."""
        busy = [self._busy(name, self._chance(name)) for name in _BUSY]
        resting = [self._resting(name, self._chance(name)) for name in _RESTING]
        return [*busy, *resting, *(self._schedule(name, self._chance(name)) for name in _SCHEDULES)]

    def _chance(self, name: str) -> random.Random:
        return random.Random(f"{self._seed}/{name}")

    async def _busy(self, name: str, chance: random.Random) -> None:
        while True:
            await asyncio.sleep(chance.uniform(*_PAUSES))
            dedicated, spot = (least + chance.randint(0, _MORE) if least else 0 for least in _BUSY[name])
            await self._meddle(odd_case(name, chance), chance, dedicated, spot)

    async def _resting(self, name: str, chance: random.Random) -> None:
        """Creates, changes and deletes a pool without jobs, again and again under the same id."""
        while True:
            shown = odd_case(name, chance)
            plan = PoolPlan(
                id=shown, vm_size="standard_d2s_v5", dedicated=chance.randint(0, _MAX_NODES), spot=chance.randint(0, 2)
            )
            await self._created("pools created", lambda plan=plan: self._client.create_pool(pool_options(plan)))
            for _ in range(chance.randint(2, 12)):
                await asyncio.sleep(chance.uniform(*_PAUSES))
                await self._meddle(name, chance, chance.randint(0, _MAX_NODES), chance.randint(0, 2))
            await self._count("pools deleted", self._client.begin_delete_pool(name))

    async def _meddle(self, pool: str, chance: random.Random, dedicated: int, spot: int) -> None:
        client = self._client
        if chance.random() < 0.4:  # noqa: PLR2004 - a share
            size = models.BatchPoolResizeOptions(target_dedicated_nodes=dedicated, target_low_priority_nodes=spot)
            await self._count("pools resized", client.begin_resize_pool(pool, size))
            return
        node = await self._drawn(pool, chance)
        if node is None:
            return
        match chance.randrange(4):
            case 0:
                reboot: Any = {"nodeRebootOption": "requeue"}  # the SDK fails without one
                await self._count("nodes rebooted", client.begin_reboot_node(pool, node, reboot))
            case 1:
                gone = models.BatchNodeRemoveOptions(node_ids=[node])
                await self._count("nodes removed", client.begin_remove_nodes(pool, gone))
            case _:
                how = models.BatchNodeDisableSchedulingOptions(
                    node_disable_scheduling_option=chance.choice(list(models.BatchNodeDisableSchedulingOption))
                )
                await self._count("nodes shut for a while", client.disable_node_scheduling(pool, node, how))
                await asyncio.sleep(chance.uniform(0.0, 2.0))
                await self._try(client.enable_node_scheduling(pool, node))

    async def _drawn(self, pool: str, chance: random.Random) -> str | None:
        """Returns one of a pool's nodes; None if there are none, or no answer."""
        try:
            names = [node.id async for node in self._client.list_nodes(pool, select=["id"])]
        except (HttpResponseError, OSError):
            return None
        return chance.choice(names) if names else None

    async def _schedule(self, name: str, chance: random.Random) -> None:
        client = self._client
        while True:
            options = _schedule_options(odd_case(name, chance), chance)
            await self._created("schedules created", lambda options=options: client.create_job_schedule(options))
            for _ in range(chance.randint(2, 8)):
                await asyncio.sleep(chance.uniform(*_PAUSES))
                await self._count("schedules disabled", client.disable_job_schedule(name))
                await asyncio.sleep(chance.uniform(0.0, 2.0))
                await self._try(client.enable_job_schedule(name))
            await self._count("schedules deleted", client.begin_delete_job_schedule(name))

    async def _created(self, what: str, create: Callable[..., Awaitable[object]]) -> None:
        """Creates a resource; retries while its predecessor is being deleted."""
        for _ in range(_PATIENCE):
            if await self._try(create()):
                break
            await asyncio.sleep(0.1)
        else:
            raise Failure(f"One of the {what} couldn't be.")
        self._done[what] += 1

    async def _count(self, what: str, call: Awaitable[object]) -> None:
        self._done[what] += await self._try(call)


def _schedule_options(name: str, chance: random.Random) -> models.BatchJobScheduleCreateOptions:
    manager = models.BatchJobManagerTask(
        id="manager", command_line=f"/bin/sh -c 'sleep {chance.uniform(1, 90):.1f}'", kill_job_on_completion=True
    )
    pool = models.BatchPoolInfo(pool_id="Steady_Pool-1")
    return models.BatchJobScheduleCreateOptions(
        id=name,
        schedule=models.BatchJobScheduleConfiguration(recurrence_interval=timedelta(minutes=1)),
        job_specification=models.BatchJobSpecification(pool_info=pool, job_manager_task=manager),
    )
