"""Handles the jobs of one schedule: adds their tasks, and deletes all but the latest few."""

import asyncio
import logging
from dataclasses import replace

from azure.core.exceptions import AzureError

from local.workload.retries import cause_of
from local.workload.scenario import PoolPlan, SchedulePlan, plan_tasks
from local.workload.service import Service

LOG = logging.getLogger("workload")
_POLL_SECONDS = 2.0
_RETRY_SECONDS = 3.0
_KEPT_JOBS = 3  # jobs, for the dashboard


class ScheduleHandler:
    """The handler of one schedule. It remembers only the last job with added tasks: adding them again does nothing."""

    def __init__(self, service: Service, plan: SchedulePlan, pool: PoolPlan, *, seed: int) -> None:
        self._service = service
        self._plan = plan
        self._pool = pool
        self._seed = seed
        self._last_job = ""

    async def run(self) -> None:
        """Runs until cancelled. A permanent failure is logged, and the work restarts."""
        while True:
            try:
                await self._begin()
                while True:
                    await self._poll()
                    await asyncio.sleep(_POLL_SECONDS)
            except AzureError as error:
                LOG.warning("%s: %s; taking it up again.", self._plan.id, cause_of(error))
                await asyncio.sleep(_RETRY_SECONDS)

    async def _begin(self) -> None:
        await self._service.ensure_pool(self._pool)
        if await self._service.ensure_schedule(self._plan):
            LOG.info("%s: schedule created.", self._plan.id)

    async def _poll(self) -> None:
        jobs = await self._service.jobs_of(self._plan.id)
        for job, state in jobs.items():
            if state == "active" and job != self._last_job:
                await self._add_tasks(job)
        for job in list(jobs)[_KEPT_JOBS:]:
            if jobs[job] == "completed":
                await self._service.delete(job)

    async def _add_tasks(self, job: str) -> None:
        number = int(job.rpartition("-")[2])
        tasks = plan_tasks(replace(self._plan.job, id=job), seed=self._seed, run=number)
        await self._service.add_tasks(job, tasks, lambda _: None, per_second=self._plan.job.adds_per_second)
        await self._service.end_when_done(job)
        self._last_job = job
        LOG.info("%s: its tasks added.", job)
