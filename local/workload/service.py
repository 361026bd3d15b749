"""The few things that the workload asks of Batch, each safe to repeat: what exists already or is gone is no error.

What fails for a while (no connection, 429, 5xx, a job still being deleted) is tried again until it works, with a line
in the log; anything else is raised.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import batched

from azure.batch import models
from azure.batch.aio import BatchClient
from azure.core.exceptions import HttpResponseError, ServiceRequestError, ServiceResponseError
from azure.core.rest import HttpRequest

from local.workload.scenario import JobPlan, PoolPlan, TaskPlan

LOG = logging.getLogger("workload")
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 5.0
_PASSING = {408, 429, 500, 502, 503, 504}
_SETTLING = {"JobBeingDeleted", "PoolBeingDeleted", "OperationInvalidForCurrentState"}
_MOST_TASKS = 100
_ADDS_AT_ONCE = 4


class Service:
    """Batch, as the workload uses it, through one client."""

    def __init__(self, client: BatchClient) -> None:
        self._client = client

    async def epoch(self) -> int:
        """How often the emulator was reset."""
        response = await _persist("ask for the time", lambda: self._client.send_request(_clock_request()))
        response.raise_for_status()
        return int(response.json()["epoch"])

    async def check_key(self) -> None:
        """Raises HttpResponseError 401 or 403 where the account or key is wrong."""
        await _persist("reach the emulator", lambda: _first(self._client.list_jobs(max_results=1)))

    async def ensure_pool(self, plan: PoolPlan) -> bool:
        """True if it was created."""
        return await self._create(f"create the pool {plan.id}", lambda: self._client.create_pool(_pool(plan)))

    async def ensure_job(self, plan: JobPlan) -> bool:
        """True if it was created."""
        return await self._create(f"create the job {plan.id}", lambda: self._client.create_job(_job(plan)))

    async def _create(self, what: str, call: Callable[[], Awaitable[None]]) -> bool:
        try:
            await _persist(what, call)
        except HttpResponseError as error:
            if error.error is not None and error.error.code in ("PoolExists", "JobExists"):
                return False
            raise
        return True

    async def add_tasks(self, job: str, tasks: Iterable[TaskPlan], told: Callable[[int], None]) -> None:
        """Adds all, a hundred a call, a few calls at once; `told` hears how many each call has added."""
        batches = iter(batched(tasks, _MOST_TASKS, strict=False))

        async def add_next() -> None:
            for batch in batches:
                await self._add(job, batch)
                told(len(batch))

        async with asyncio.TaskGroup() as group:
            for _ in range(_ADDS_AT_ONCE):
                group.create_task(add_next())

    async def _add(self, job: str, tasks: Sequence[TaskPlan]) -> None:
        left = [_task(task) for task in tasks]
        while left:
            group = models.BatchTaskGroup(task_values=left)
            result = await _persist(
                f"add tasks to {job}", lambda group=group: self._client.create_task_collection(job, group)
            )
            refused = {
                row.task_id: row.error
                for row in result.result_values or ()
                if row.error is not None and row.error.code != "TaskExists"
            }
            left = [task for task in left if task.id in refused]
            if left:
                code = next(iter(refused.values())).code
                LOG.warning("%s: %d tasks were refused (%s); trying again.", job, len(left), code)
                await asyncio.sleep(_LONGEST_WAIT)

    async def end_when_done(self, job: str) -> None:
        """From now on the job ends with its last task. Said after adding: an empty job would end at once."""
        mode = models.BatchAllTasksCompleteMode.TERMINATE_JOB
        options = models.BatchJobUpdateOptions(all_tasks_complete_mode=mode)
        await _persist(f"let {job} end", lambda: self._client.update_job(job, options))

    async def stop(self, job: str, reason: str) -> None:
        """Somebody stops the job; one that has ended meanwhile stays ended."""
        options = models.BatchJobTerminateOptions(termination_reason=reason)
        try:
            await _persist(f"stop {job}", lambda: self._client.begin_terminate_job(job, options))
        except HttpResponseError as error:
            if error.status_code != 409:  # noqa: PLR2004 - HTTP's own number
                raise

    async def delete(self, job: str) -> None:
        """Asks for the deletion; the job is gone a little later."""
        try:
            await _persist(f"delete {job}", lambda: self._client.begin_delete_job(job))
        except HttpResponseError as error:
            if error.status_code != 404:  # noqa: PLR2004 - HTTP's own number
                raise

    async def state_of(self, job: str) -> str | None:
        """The job's state; None when there is no such job."""
        try:
            found = await _persist(f"look at {job}", lambda: self._client.get_job(job, select=["id", "state"]))
        except HttpResponseError as error:
            if error.status_code == 404:  # noqa: PLR2004 - HTTP's own number
                return None
            raise
        return str(found.state) if found.state else None
