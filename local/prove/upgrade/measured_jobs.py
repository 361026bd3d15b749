"""Jobs whose runs are measured: 0.1.0 stores no measured runs, so this version must find them as it left them.

From the upgrade on, each turn runs such a job on a pool of its own, and appends the records of its runs to a blob of
each node, as the node agent does. The job never changes afterwards, so its efficiency may not change either. Runs whose
records 0.1.0 reads aren't measured.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any
from urllib.parse import quote

from azure.batch import models
from azure.batch.aio import BatchClient
from azure.core.exceptions import ResourceExistsError
from azure.storage.blob.aio import ContainerClient

from local.dev.system.console import Failure
from local.prove.stack.api import Stack, call
from local.prove.upgrade.answers import Answers, Get
from local.prove.upgrade.later_rows import Credentials
from local.workload.scenario import PoolPlan
from local.workload.target import open_client
from local.workload.wire import pool_options

_POOL = PoolPlan(id="Measured-pool", vm_size="standard_d4s_v5", dedicated=3, slots=2, has_agent=True)
_TASKS = 24
_COMMAND = "/bin/sh -c 'sleep 40'"
_CORES, _MEMORY = 0.9, 1 << 30
_CONTAINER = "telemetry"
_SECONDS = 120


@dataclass(slots=True)
class MeasuredJobs:
    """The jobs of this version's turns, on an emulated account whose nodes write to `storage`."""

    credentials: Credentials
    storage: str
    ids: list[str] = field(default_factory=list)
    since: datetime = field(default_factory=lambda: datetime.now(UTC))

    def run(self, job: str) -> None:
        """Runs a job, and appends the records of its runs. The emulator must not be paused. Raises Failure."""
        asyncio.run(self._run(job))

    def problems(self, stack: Stack, job: str) -> list[str]:
        """Has a job's runs summed up; returns which jobs lack some, two minutes later at the latest."""
        self.ids.append(job)
        if unread := _lasting(lambda: self._unread(stack)):
            return unread
        call("POST", f"{stack.api.removesuffix('/api')}/admin/functions/housekeeping", {"input": ""})
        return _lasting(lambda: self._not_summed_up(stack))

    def answers(self, get: Get) -> Answers:
        """Returns the answers about efficiency: of these jobs, and of the account."""
        return {path: get(path) for path in self._paths}

    def changed(self, before: Answers, after: Answers) -> Iterator[str]:
        """Yields which answers about efficiency aren't as they were, also in the row of the list of jobs."""
        for path in before.keys() & self._paths:
            yield from _changed(path, before[path], after[path])
        for job in self.ids:
            path = self._job(job)
            if path in before:
                yield from _changed(path, before[path]["efficiency"], after[path]["efficiency"])

    @property
    def _paths(self) -> list[str]:
        span = f"from={self.since:%Y-%m-%d}T00:00:00Z"
        return [f"{self._account}/efficiency?{span}", *(f"{self._job(job)}/efficiency" for job in self.ids)]

    @property
    def _account(self) -> str:
        return f"/accounts/{quote(self.credentials[1])}"

    def _job(self, job: str) -> str:
        return f"{self._account}/jobs/{job}"

    def _unread(self, stack: Stack) -> Iterator[str]:
        for job in self.ids:
            runs = stack.get(f"{self._job(job)}/efficiency")["runs"]
            if runs != _TASKS:
                yield f"{runs} of the {_TASKS} runs of {job} were read"

    def _not_summed_up(self, stack: Stack) -> Iterator[str]:
        for job in self.ids:
            found = stack.get(self._job(job))["efficiency"]
            if found is None or found["measuredRuns"] != _TASKS:
                yield f"the {_TASKS} runs of {job} aren't summed up, but {found}"

    async def _run(self, job: str) -> None:
        async with open_client(*self.credentials) as client:
            with suppress(ResourceExistsError):
                await client.create_pool(pool_options(_POOL))
            where = models.BatchPoolInfo(pool_id=_POOL.id)
            await client.create_job(models.BatchJobCreateOptions(id=job, pool_info=where))
            tasks = [models.BatchTaskCreateOptions(id=f"task-{n}", command_line=_COMMAND) for n in range(_TASKS)]
            await client.create_task_collection(job, models.BatchTaskGroup(task_values=tasks))
            runs = await _ended(client, job)
        async with ContainerClient.from_connection_string(self.storage, _CONTAINER) as container:
            for node, own in groupby(sorted(runs, key=_node_of), key=_node_of):
                folder = f"accounts/{self.credentials[1]}/pools/{_POOL.id}/nodes/{node}"
                blob = container.get_blob_client(f"{folder}/runs.lp")
                if not await blob.exists():
                    await blob.create_append_blob()
                await blob.append_block((_about() + "".join(_record_of(job, task) for task in own)).encode())


def _lasting(find: Callable[[], Iterable[str]]) -> list[str]:
    """Returns the problems that are left after two minutes, none as soon as there are none."""
    until = time.monotonic() + _SECONDS
    while (found := list(find())) and time.monotonic() < until:
        time.sleep(1)
    return found


async def _ended(client: BatchClient, job: str) -> list[Any]:
    for _ in range(_SECONDS):
        tasks = [task async for task in client.list_tasks(job)]
        if all(task.state == "completed" for task in tasks):
            return tasks
        await asyncio.sleep(1)
    raise Failure(f"The tasks of {job} haven't ended after {_SECONDS} seconds.")


def _node_of(task: Any) -> str:
    return str(task.node_info.node_id)


def _about() -> str:
    """Returns a startup record and a sample, without which 0.1.0 doesn't show a node."""
    at = time.time_ns()
    size = f'imds_metadata,vm_monitor_collection=once vm_size="{_POOL.vm_size}" {at}\n'
    return f"{size}cpu,cpu=cpu-total usage_user=45,usage_idle=55 {at}\n"


def _record_of(job: str, task: Any) -> str:
    run = task.execution_info
    start, seconds = int(run.start_time.timestamp()), (run.end_time - run.start_time) / timedelta(seconds=1)
    named = f"job_id={job},task_id={task.id},task_attempt={start}"
    used = f"duration={seconds},cpu_time_user={seconds * _CORES},cpu_time_system=0,memory_peak={_MEMORY}i"
    return f"batchscope_task_attempt,{named} {used} {int(run.end_time.timestamp() * 1e9)}\n"


def _changed(path: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Iterator[str]:
    if before != after:
        names = sorted(name for name in before or {} if before and after and before[name] != after.get(name))
        yield f"{path}: {', '.join(names) or 'all'} was {str(before)[:300]}, is {str(after)[:300]}"
