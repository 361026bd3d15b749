"""Runs the workloads of all cases at once on pools of their own, in stepped time, watched by the app."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import batched
from typing import Any

from azure.batch import models
from azure.batch.aio import BatchClient
from azure.storage.blob.aio import ContainerClient

from local.dev.system.console import Failure, say
from local.prove.cost.rig import Rig
from local.prove.whatif.cases import Case, CaseTask, Setting
from local.workload.scenario import PoolPlan
from local.workload.wire import pool_options

_STEP = 4  # minutes
_TICK = 8  # minutes between two polls: what is between them, the app has only from stamps
_READY = 8  # minutes in which nodes start
_LAST_ADDED = 8  # minutes
_MAX_MINUTES = 400
_AT_ONCE = 8
_COLLECTION = 100  # tasks


@dataclass(frozen=True, slots=True)
class Truth:
    """When a workload began and ended, in Batch's own list of tasks, and the runs of its tasks."""

    begin: datetime
    end: datetime
    tasks: Sequence[models.BatchTask]

    @property
    def seconds(self) -> float:
        return (self.end - self.begin).total_seconds()


class Runs:
    """Runs workloads; jobs and pools are named by a letter and the case's number."""

    def __init__(self, rig: Rig, client: BatchClient, cases: Sequence[Case]) -> None:
        self._rig = rig
        self._client = client
        self._cases = cases
        self._minutes = 0

    async def run(self, letter: str) -> Mapping[int, Truth]:
        """Runs all cases to their ends, and returns the truth by case.

        For the letter `a` they run under their first settings, and the app watches.
        """
        settings = {case.number: case.before if letter == "a" else case.after for case in self._cases}
        ready = [case for case in self._cases if not settings[case.number].is_new]
        await self._each(ready, lambda case: self._add_pool(name_of(letter, case), settings[case.number]))
        is_watched = letter == "a"
        await self._pass(_READY, watched=is_watched)
        if is_watched:
            await asyncio.to_thread(self._rig.watchers[0].fire, "housekeeping")  # reads prices
        await self._each(self._cases, lambda case: self._begin(letter, case, settings[case.number]))
        minute = 0
        while minute <= _LAST_ADDED or not await self._are_over(letter):
            await self._each(self._cases, lambda case, now=minute: self._add(letter, case, settings[case.number], now))
            await self._pass(_STEP, watched=is_watched)
            minute += _STEP
            if minute > _MAX_MINUTES:
                raise Failure(f"Some jobs haven't ended after {minute} minutes of stepped time.")
        if is_watched:
            await self._pass(_TICK, watched=True)
        say(f"  all jobs of '{letter}' have ended after {minute} minutes of stepped time")
        return {case.number: await self._truth(name_of(letter, case)) for case in self._cases}

    async def _each(self, cases: Iterable[Case], do: Any) -> None:
        for some in batched(cases, _AT_ONCE, strict=False):
            await asyncio.gather(*(do(case) for case in some))

    async def _pass(self, minutes: int, *, watched: bool) -> None:
        for _ in range(0, minutes, _STEP):
            await asyncio.to_thread(self._rig.advance, _STEP * 60)
            self._minutes += _STEP
            if not watched or self._minutes % _TICK:
                continue
            answer = await asyncio.to_thread(self._rig.watchers[0].fire, "tick")
            if not answer["ok"]:
                raise Failure(f"A tick failed: {answer['error']}")

    async def _add_pool(self, name: str, setting: Setting) -> None:
        dedicated, spot = (0, setting.nodes) if setting.spot else (setting.nodes, 0)
        plan = PoolPlan(
            id=name, vm_size=setting.vm_size, dedicated=dedicated, spot=spot, slots=setting.slots, has_agent=True
        )
        await self._client.create_pool(pool_options(plan))

    async def _begin(self, letter: str, case: Case, setting: Setting) -> None:
        name = name_of(letter, case)
        if setting.is_new:
            await self._add_pool(name, setting)
        await self._client.create_job(
            models.BatchJobCreateOptions(
                id=name,
                pool_info=models.BatchPoolInfo(pool_id=name),
                constraints=models.BatchJobConstraints(max_task_retry_count=case.retries),
                uses_task_dependencies=case.uses_dependencies,
            )
        )

    async def _add(self, letter: str, case: Case, setting: Setting, minute: int) -> None:
        due = [task for task in case.tasks if minute <= task.minute < minute + _STEP]
        for some in batched(due, _COLLECTION, strict=False):
            made = [_task(task, case.stretch(setting)) for task in some]
            group = models.BatchTaskGroup(task_values=made)
            await self._client.create_task_collection(name_of(letter, case), group)

    async def _are_over(self, letter: str) -> bool:
        truth = await asyncio.to_thread(self._rig.control, "GET", "truth")
        jobs = truth["accounts"][self._rig.account.name]["jobs"]
        return all(jobs[name_of(letter, case)]["completed"] == len(case.tasks) for case in self._cases)

    async def _truth(self, name: str) -> Truth:
        tasks = [task async for task in self._client.list_tasks(name)]
        runs = [task.execution_info for task in tasks]
        begin = min(task.creation_time for task in tasks if task.creation_time)
        return Truth(begin, max(run.end_time for run in runs if run and run.end_time), tasks)


async def write_use(container: ContainerClient, account: str, case: Case, truth: Truth) -> None:
    """Writes the records of a case's runs, by node, as the node agent would."""
    nodes = defaultdict[str, list[str]](list)
    pool = name_of("a", case)
    for task in truth.tasks:
        run, node = task.execution_info, task.node_info
        if not run or not node or not run.start_time or not run.end_time:
            continue
        seconds = (run.end_time - run.start_time) / timedelta(seconds=1)
        start = int(run.start_time.timestamp())
        named = f"job_id={pool},task_id={task.id},task_attempt={start}"
        cpu_time = seconds * (case.busy or 0) / case.stretch(case.before)
        used = f"duration={seconds},cpu_time_user={cpu_time},cpu_time_system=0,memory_peak=1000000i"
        if case.threads:
            used += f",max_threads={case.threads}i"
        line = f"batchscope_task_attempt,{named} {used} {int(run.end_time.timestamp() * 1e9)}\n"
        nodes[str(node.node_id)].append(line)
    size = case.before.vm_size
    for name, lines in nodes.items():
        at = int(truth.begin.timestamp() * 1e9)
        about = f'imds_metadata,vm_monitor_collection=once vm_size="{size}" {at}\n'
        blob = f"accounts/{account}/pools/{pool}/nodes/{name}/use.lp"
        await container.upload_blob(blob, about + "".join(lines), blob_type="AppendBlob")


def _task(task: CaseTask, stretch: float) -> models.BatchTaskCreateOptions:
    needs = models.BatchTaskDependencies(task_ids=list(task.needs)) if task.needs else None
    return models.BatchTaskCreateOptions(
        id=task.id,
        command_line=f"/bin/sh -c 'sleep {task.seconds * stretch:.1f}; exit {task.exit_code}'",
        required_slots=task.slots,
        depends_on=needs,
    )


def name_of(letter: str, case: Case) -> str:
    """Returns the name of a case's job and pool."""
    return f"{letter}-{case.number:03}"
