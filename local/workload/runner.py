"""Runs a scenario: every job is created, filled, ended and deleted again and again, independently of the others.

The only state is the number of the run: a step whose work is done is skipped. So the workload resumes after it was
stopped, and after the emulator was restarted, empty or not. A new epoch of the emulator restarts the scenario.
"""

import asyncio
import logging

from azure.core.exceptions import AzureError

from local.workload.retries import cause_of
from local.workload.scenario import EndingKind, JobPlan, PoolPlan, ScenarioPlan, plan_tasks
from local.workload.schedule_handler import ScheduleHandler
from local.workload.service import Service

LOG = logging.getLogger("workload")
_POLL_SECONDS = 2.0
_MIN_REST = 6.0  # real seconds, so that ended jobs stay visible for a while
_MIN_ABSENCE = 3.0
_RETRY_SECONDS = 3.0
_PROGRESS = 5_000


class ScenarioRunner:
    """Runs a scenario; `speed` shortens the pauses after a job's end, the emulator shortens everything else."""

    def __init__(self, service: Service, scenario: ScenarioPlan, *, seed: int, speed: float) -> None:
        self._service = service
        self._scenario = scenario
        self._seed = seed
        self._speed = speed
        self._pools = {pool.id: pool for pool in scenario.pools}

    async def run(self) -> None:
        """Runs until it is cancelled."""
        while True:
            epoch = await self._epoch()
            LOG.info("The scenario '%s' begins (epoch %d).", self._scenario.name, epoch)
            tasks = [asyncio.create_task(handler.run()) for handler in self._schedule_handlers()]
            tasks += [asyncio.create_task(self._run_job(job)) for job in self._scenario.jobs]
            try:
                await self._wait_for_reset(epoch)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            LOG.info("The emulator was reset.")

    def _schedule_handlers(self) -> list[ScheduleHandler]:
        plans = self._scenario.schedules
        return [ScheduleHandler(self._service, plan, self._pools[plan.job.pool], seed=self._seed) for plan in plans]

    async def _wait_for_reset(self, epoch: int) -> None:
        """Returns when the epoch ends."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            if await self._epoch() != epoch:
                return

    async def _epoch(self) -> int:
        while True:
            try:
                return await self._service.epoch()
            except AzureError as error:
                LOG.warning("Couldn't ask for the emulator's epoch: %s.", cause_of(error))
                await asyncio.sleep(_RETRY_SECONDS)

    async def _run_job(self, job: JobPlan) -> None:
        """Runs one job repeatedly. A permanent failure is logged, and the run resumes from the job's current state."""
        run = 0
        while True:
            try:
                await self._run_job_once(job, run)
                run += 1
            except AzureError as error:
                LOG.warning("%s: %s; taking it up again.", job.id, cause_of(error))
                await asyncio.sleep(_RETRY_SECONDS)

    async def _run_job_once(self, job: JobPlan, run: int) -> None:
        await self._ensure_pool(self._pools[job.pool])
        created = await self._service.ensure_job(job)
        LOG.info("%s: %s.", job.id, f"created (life {run + 1})" if created else "is there already")
        if await self._service.state_of(job.id) == "active":
            await self._add_tasks(job, run)
        if job.ending is EndingKind.STOPPED:
            await self._stop_after_delay(job)
        if not await self._wait_until_ended(job):
            LOG.info("%s: somebody deleted it.", job.id)
            return
        LOG.info("%s: has ended.", job.id)
        await asyncio.sleep(max(job.rest / self._speed, _MIN_REST))
        await self._service.delete(job.id)
        await self._wait_until_deleted(job)
        LOG.info("%s: deleted.", job.id)
        await asyncio.sleep(max(job.rest / 4 / self._speed, _MIN_ABSENCE))

    async def _ensure_pool(self, pool: PoolPlan) -> None:
        if await self._service.ensure_pool(pool):
            nodes = pool.dedicated + pool.spot
            LOG.info("%s: pool of %d %s nodes created.", pool.id, nodes, "spot" if pool.spot else "dedicated")

    async def _add_tasks(self, job: JobPlan, run: int) -> None:
        added = 0

        def on_added(number: int) -> None:
            nonlocal added
            added += number
            if added % _PROGRESS < number or added == job.tasks:
                LOG.info("%s: %s of %s tasks added.", job.id, f"{added:,}", f"{job.tasks:,}")

        tasks = plan_tasks(job, seed=self._seed, run=run)
        await self._service.add_tasks(job.id, tasks, on_added, per_second=job.adds_per_second)
        if job.ending is EndingKind.COMPLETES:
            await self._service.end_when_done(job.id)

    async def _stop_after_delay(self, job: JobPlan) -> None:
        await asyncio.sleep(max(job.stop_after / self._speed, _MIN_REST))
        if await self._service.state_of(job.id) == "active":
            await self._service.stop(job.id, job.stop_reason)

    async def _wait_until_ended(self, job: JobPlan) -> bool:
        """Waits until the job has completed (True), or is deleted or being deleted (False)."""
        while True:
            state = await self._service.state_of(job.id)
            if state == "completed":
                return True
            if state in (None, "deleting"):
                await self._wait_until_deleted(job)
                return False
            await asyncio.sleep(_POLL_SECONDS)

    async def _wait_until_deleted(self, job: JobPlan) -> None:
        while True:
            if await self._service.state_of(job.id) is None:
                return
            await asyncio.sleep(_POLL_SECONDS / 2)
