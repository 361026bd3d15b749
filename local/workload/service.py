"""The workload's requests to Batch, each safe to repeat: existing or deleted resources are no error."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from http import HTTPStatus
from itertools import batched
from typing import Any

from azure.batch import models
from azure.batch.aio import BatchClient
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest

from local.workload.retries import code_of, retry
from local.workload.scenario import JobPlan, PoolPlan, SchedulePlan, TaskPlan
from local.workload.wire import job_options, pool_options, schedule_options, task_options

LOG = logging.getLogger("workload")
_MAX_TASKS = 100
_PARALLEL_CALLS = 4
_REFUSED_RETRY_SECONDS = 5.0


class Service:
    """Batch as the workload uses it, through one client. Transient failures are retried."""

    def __init__(self, client: BatchClient) -> None:
        self._client = client

    async def epoch(self) -> int:
        """Returns how often the emulator was reset."""
        request = HttpRequest("GET", "/_emulator/clock")
        response = await retry("ask for the emulator's epoch", lambda: self._client.send_request(request))
        return int(response.json()["epoch"])

    async def check_key(self) -> None:
        """Raises HttpResponseError 401 or 403 if the account or its key is wrong."""

        async def send() -> None:
            async for _ in self._client.list_jobs(max_results=1):
                return

        await retry("reach the emulator", send)

    async def ensure_pool(self, plan: PoolPlan) -> bool:
        """Returns True if the pool was created."""
        return await _create(f"create the pool {plan.id}", lambda: self._client.create_pool(pool_options(plan)))

    async def ensure_job(self, plan: JobPlan) -> bool:
        """Returns True if the job was created."""
        return await _create(f"create {plan.id}", lambda: self._client.create_job(job_options(plan)))

    async def ensure_schedule(self, plan: SchedulePlan) -> bool:
        """Returns True if the schedule was created."""
        options = schedule_options(plan)
        return await _create(f"create the schedule {plan.id}", lambda: self._client.create_job_schedule(options))

    async def jobs_of(self, schedule: str) -> dict[str, str]:
        """Returns the states of a schedule's jobs, latest first."""

        async def send() -> dict[str, str]:
            found = self._client.list_jobs_from_schedule(schedule)
            jobs = sorted([job async for job in found], key=lambda job: job.creation_time, reverse=True)
            return {str(job.id): str(job["state"]) for job in jobs}

        return await retry(f"list the jobs of {schedule}", send)

    async def add_tasks(
        self, job: str, tasks: Iterable[TaskPlan], on_added: Callable[[int], None], *, per_second: float
    ) -> None:
        """Adds all tasks, a hundred per call, in a few parallel calls; the callback gets the number added by each call.

        No call begins before the tasks of earlier calls were due at `per_second`.
        """
        batches = iter(batched(tasks, _MAX_TASKS, strict=False))
        now = asyncio.get_running_loop().time
        due = now()

        async def add_next() -> None:
            nonlocal due
            for batch in batches:
                begin = max(due, now())
                due = begin + len(batch) / per_second
                await asyncio.sleep(begin - now())
                await self._add(job, batch)
                on_added(len(batch))

        adders = [asyncio.create_task(add_next()) for _ in range(_PARALLEL_CALLS)]
        try:
            await asyncio.gather(*adders)
        finally:
            for adder in adders:
                adder.cancel()

    async def _add(self, job: str, tasks: Sequence[TaskPlan]) -> None:
        remaining = [task_options(task) for task in tasks]
        while remaining:
            refused = await self._add_once(job, remaining)
            remaining = [task for task in remaining if task.id in refused]
            if remaining:
                LOG.warning(
                    "%s: %d tasks were refused (%s); trying again.", job, len(remaining), refused[remaining[0].id]
                )
                await asyncio.sleep(_REFUSED_RETRY_SECONDS)

    async def _add_once(self, job: str, tasks: list[models.BatchTaskCreateOptions]) -> dict[str, str]:
        """Returns the ids of refused tasks, with the code; existing tasks count as added.

        It checks the entry's error, not its status, which the service spells in two ways.
        """
        group = models.BatchTaskGroup(task_values=tasks)
        result = await retry(f"add tasks to {job}", lambda: self._client.create_task_collection(job, group))
        errors = {row.task_id: row.error.code or "" for row in result.result_values or () if row.error is not None}
        return {task: code for task, code in errors.items() if code != "TaskExists"}

    async def end_when_done(self, job: str) -> None:
        """Lets the job end with its last task. Called after adding, as an empty job would end immediately."""
        options = models.BatchJobUpdateOptions(all_tasks_complete_mode=models.BatchAllTasksCompleteMode.TERMINATE_JOB)
        await retry(f"let {job} end", lambda: self._client.update_job(job, options))

    async def stop(self, job: str, reason: str) -> None:
        """Stops the job; one that has already ended stays ended."""
        options: Any = {"terminateReason": reason}  # the SDK doesn't export the model, and fails without options
        try:
            await retry(f"stop {job}", lambda: self._client.begin_terminate_job(job, options))
        except HttpResponseError as error:
            if error.status_code != HTTPStatus.CONFLICT:
                raise

    async def delete(self, job: str) -> None:
        """Requests the deletion; the job disappears a little later."""
        try:
            await retry(f"delete {job}", lambda: self._client.begin_delete_job(job))
        except HttpResponseError as error:
            if error.status_code != HTTPStatus.NOT_FOUND:
                raise

    async def state_of(self, job: str) -> str | None:
        """Returns the job's state; None if it doesn't exist."""
        try:
            found = await retry(f"look at {job}", lambda: self._client.get_job(job, select=["id", "state"]))
        except HttpResponseError as error:
            if error.status_code == HTTPStatus.NOT_FOUND:
                return None
            raise
        return str(found["state"])


async def _create(action: str, call: Callable[[], Awaitable[None]]) -> bool:
    try:
        await retry(action, call)
    except HttpResponseError as error:
        if code_of(error) in {"PoolExists", "JobExists", "JobScheduleExists"}:
            return False
        raise
    return True
