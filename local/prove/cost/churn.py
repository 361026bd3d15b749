"""A seeded day of work: pools that are resized, jobs that come and go, tasks that fail, nodes that restart.

What is done follows from the seed and the minute alone. Requests that the service refuses, as the resource is gone or
busy, are left out, and nothing is repeated.
"""

import random
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from azure.batch import models
from azure.batch.aio import BatchClient
from azure.core.exceptions import HttpResponseError

from local.prove.cost.rig import Rig
from local.prove.cost.usage import usage
from local.workload.scenario import PoolPlan
from local.workload.wire import pool_options

POOLS = {
    plan.id: plan
    for plan in (
        PoolPlan(id="steady", vm_size="standard_d2s_v5", dedicated=6),
        PoolPlan(id="wide", vm_size="standard_d8s_v5", dedicated=3, slots=4),
        PoolPlan(id="spot", vm_size="standard_d4s_v5", spot=6, slots=2),
        PoolPlan(id="elastic", vm_size="standard_d4s_v5", dedicated=2, spot=1, start_task="/bin/sh -c 'sleep 45'"),
        PoolPlan(id="broken", vm_size="standard_d2s_v5", dedicated=2, start_task="/bin/sh -c 'sleep 20; exit 1'"),
        PoolPlan(id="brief", vm_size="standard_d2s_v5", dedicated=3),
        PoolPlan(id="connected", vm_size="standard_d4s_v5", dedicated=6),
        PoolPlan(id="connected-spot", vm_size="standard_d4s_v5", spot=5),
    )
}
_CONNECTED = ("connected", "connected-spot")  # which run multi-instance tasks; the app takes all nodes of one for alike
_ALWAYS = ("steady", "wide", "spot", "elastic", *_CONNECTED)
_JOBS_RUN_IN = ("steady", "steady", "wide", "wide", "spot", "spot", "elastic", *_CONNECTED, *_CONNECTED)
_REFUSED = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
_SOMETIMES = (("broken", 130, 175), ("broken", 900, 930), ("brief", 300, 333), ("brief", 610, 700))  # and minutes
_NEW_JOB, _MEDDLE_JOB, _MEDDLE_POOL = 0.12, 0.12, 0.04  # chances a minute
_COORDINATION = "/bin/sh -c 'sleep 5'"
_QUIET = ("steady", "wide")  # whose nodes are left alone around outages


@dataclass(slots=True)
class _Job:
    name: str
    pool: str
    tasks: list[str] = field(default_factory=list)


class Churn:
    """The changes; `done` counts those that the service accepted, `deleted` are pools and when they were deleted."""

    def __init__(self, rig: Rig, client: BatchClient, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self.deleted: list[tuple[str, datetime]] = []
        self._rig = rig
        self._client = client
        self._chance = random.Random(f"{seed}/churn")
        self._jobs: list[_Job] = []
        self._number = 0
        self._away: list[tuple[str, str]] = []  # nodes that take no tasks

    async def begin(self) -> None:
        for name in _ALWAYS:
            await self._do("pools created", self._client.create_pool(_pool_options(name)))

    async def minute(self, number: int, *, calm: bool) -> None:
        """Makes the changes of a minute of the day; `calm` ones leave the nodes of quiet pools alone."""
        chance = self._chance
        if chance.random() < _NEW_JOB:
            await self._new_job()
        if chance.random() < _MEDDLE_JOB and self._jobs:
            await self._meddle_job(chance.choice(self._jobs))
        if chance.random() < _MEDDLE_POOL:
            await self._meddle_pool(chance.choice(_ALWAYS), calm=calm)
        for pool, node in self._away[: 1 if number % 7 == 0 else 0]:
            await self._do("nodes opened again", self._client.enable_node_scheduling(pool, node))
            self._away.remove((pool, node))
        for name, begins, ends in _SOMETIMES:
            if number == begins:
                await self._do("pools created", self._client.create_pool(_pool_options(name)))
            if number == ends:
                self.deleted.append((name, self._rig.now()))
                await self._do("pools deleted", self._client.begin_delete_pool(name))
            if number == begins + 5 and name == "brief":
                await self._new_job(name)

    async def _new_job(self, pool: str = "") -> None:
        chance = self._chance
        self._number += 1
        job = _Job(f"Job-{self._number:03}", pool or chance.choice(_JOBS_RUN_IN))
        constraints = models.BatchJobConstraints(max_task_retry_count=chance.choice((0, 0, 1, 3)))
        made = models.BatchJobCreateOptions(
            id=job.name, pool_info=models.BatchPoolInfo(pool_id=job.pool), constraints=constraints
        )
        await self._do("jobs created", self._client.create_job(made))
        self._jobs.append(job)
        longest, most = chance.choice(((120, 40), (400, 40), (1500, 16)))  # seconds, tasks
        await self._add(job, chance.randint(3, most), longest)

    async def _add(self, job: _Job, count: int, longest: float) -> None:
        tasks = [self._task(job, len(job.tasks) + number, longest) for number in range(count)]
        group = models.BatchTaskGroup(task_values=tasks)
        if await self._do("", self._client.create_task_collection(job.name, group)):
            job.tasks += [str(task.id) for task in tasks]
            self.done["tasks added"] += count
            self.done["multi-instance ones"] += sum(task.multi_instance_settings is not None for task in tasks)

    def _task(self, job: _Job, number: int, longest: float) -> models.BatchTaskCreateOptions:
        chance = self._chance
        seconds, code = chance.uniform(longest / 3, longest), chance.choice((0, 0, 0, 0, 0, 1))
        instances = chance.choice((1, 2, 2, 3, 4)) if job.pool in _CONNECTED else 1
        several = models.MultiInstanceSettings(coordination_command_line=_COORDINATION, number_of_instances=instances)
        return models.BatchTaskCreateOptions(
            id=f"t{number:04}",
            command_line=f"/bin/sh -c 'sleep {seconds:.1f}; exit {code}'",
            required_slots=chance.choice((1, 1, 2)) if POOLS[job.pool].slots > 1 else 1,
            multi_instance_settings=several if instances > 1 else None,
        )

    async def _meddle_job(self, job: _Job) -> None:
        chance, client = self._chance, self._client
        some = chance.sample(job.tasks, min(len(job.tasks), chance.choice((1, 2, 6))))
        match chance.randrange(8):
            case 0 | 1:
                for task in some:
                    await self._do("tasks terminated", client.terminate_task(job.name, task))
            case 2:
                for task in some:
                    await self._do("tasks deleted", client.delete_task(job.name, task))
            case 3:
                for task in some:
                    await self._do("tasks reactivated", client.reactivate_task(job.name, task))
            case 4:
                how = models.BatchJobDisableOptions(disable_tasks=chance.choice(list(models.DisableBatchJobOption)))
                await self._do("jobs disabled", client.begin_disable_job(job.name, how))
            case 5:
                await self._do("jobs enabled", client.begin_enable_job(job.name))
            case 6:
                await self._add(job, chance.randint(1, 10), 300)
            case _:
                await self._do("jobs deleted", client.begin_delete_job(job.name))
                self._jobs.remove(job)

    async def _meddle_pool(self, pool: str, *, calm: bool) -> None:
        chance, client, plan = self._chance, self._client, POOLS[pool]
        kind, more = chance.randrange(4), chance.randint(-2, 3)
        how = chance.choice(list(models.BatchNodeDisableSchedulingOption))
        options = chance.choice(("requeue", "terminate", "taskcompletion"))
        nodes = self._nodes_of(pool)
        node = chance.choice(nodes) if nodes else None
        if node is None or (calm and pool in _QUIET):
            return
        match kind:
            case 0 | 1:
                size = models.BatchPoolResizeOptions(
                    target_dedicated_nodes=max(plan.dedicated + more, 0) if plan.dedicated else 0,
                    target_low_priority_nodes=max(plan.spot + more, 0) if plan.spot else 0,
                    node_deallocation_option=models.BatchNodeDeallocationOption(options),
                )
                await self._do("pools resized", client.begin_resize_pool(pool, size))
            case 2:
                reboot: Any = {"nodeRebootOption": options}
                await self._do("nodes rebooted", client.begin_reboot_node(pool, node, reboot))
            case _:
                shut = models.BatchNodeDisableSchedulingOptions(node_disable_scheduling_option=how)
                if await self._do("nodes shut", client.disable_node_scheduling(pool, node, shut)):
                    self._away.append((pool, node))

    def _nodes_of(self, pool: str) -> list[str]:
        """Returns the pool's nodes from the emulator's ledger, as the service may answer nothing now."""
        now = self._rig.now()
        rows = usage(self._rig, now - timedelta(seconds=1), now)["nodes"]
        return sorted({row["node"] for row in rows if row["pool"] == pool})

    async def _do(self, what: str, call: Awaitable[object]) -> bool:
        try:
            await call
        except HttpResponseError as error:
            if error.status_code not in _REFUSED:
                raise
            return False
        if what:
            self.done[what] += 1
        return True


def _pool_options(name: str) -> models.BatchPoolCreateOptions:
    options = pool_options(POOLS[name])
    options.enable_inter_node_communication = name in _CONNECTED
    return options
