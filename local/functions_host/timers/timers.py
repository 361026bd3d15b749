"""Timer triggers: one of all hosts fires a timer, one run at a time, and stores its status.

Several due times passed by a clock jump or during a run give one run, as in Azure. The status of timers that fire more
than once a minute isn't stored, so they are never past due.
"""

import asyncio
import contextlib
import json
import logging
from typing import Any

from azure.core.exceptions import AzureError

from local.functions_host.app.errors import FunctionFailedError
from local.functions_host.app.functions import Function
from local.functions_host.app.in_flight_tasks import InFlightTasks
from local.functions_host.app.invoker import Invoker
from local.functions_host.app.messages import TypedData
from local.functions_host.timers.clock import Clock
from local.functions_host.timers.leases import SingletonLease
from local.functions_host.timers.schedule import Schedule
from local.functions_host.timers.timer_status import TimerStatus, TimerStatusBlob, initial_status

_LOG = logging.getLogger("host.timers")


class TimerListener:
    def __init__(
        self,
        function: Function,
        schedule: Schedule,
        *,
        invoker: Invoker,
        clock: Clock,
        lease: SingletonLease,
        status_blob: TimerStatusBlob,
        in_flight: InFlightTasks,
    ) -> None:
        self._function, self._schedule = function, schedule
        self._invoker, self._clock, self._lease, self._in_flight = invoker, clock, lease, in_flight
        monitored = schedule.monitored and function.trigger.options.get("useMonitor", True)
        self._status_blob = status_blob if monitored else None
        self._run_lock = asyncio.Lock()

    async def listen(self, stopping: asyncio.Event) -> None:
        """Runs until cancelled. Once `stopping` is set no timer fires, but the lease is kept until the end."""
        while True:
            await self._lease.acquire()
            tasks = {asyncio.create_task(self._lease.keep()), asyncio.create_task(self._run_schedule(stopping))}
            try:
                ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                await self._lease.release()
            for task in ended:
                task.result()

    async def run_now(self) -> None:
        """Runs the function on demand; this is no scheduled run, so no status is stored."""
        async with self._run_lock:
            await self._run(timer_message(None, past_due=False))

    async def _run_schedule(self, stopping: asyncio.Event) -> None:
        async with self._run_lock:  # a run from before the lease was lost may still be active
            status = initial_status(await self._load(), self._schedule, await self._clock.now())
            await self._save(status)
        if status.next < await self._clock.now():
            status = await self._fire(status, stopping, past_due=True)
        elif self._function.trigger.options.get("runOnStartup"):
            status = await self._fire(status, stopping, past_due=False)
        while True:
            if await self._clock.sleep_until(status.next):
                status = await self._fire(status, stopping, past_due=False)
            else:
                status = initial_status(None, self._schedule, await self._clock.now())

    async def _fire(self, status: TimerStatus, stopping: asyncio.Event, *, past_due: bool) -> TimerStatus:
        """Fires in a separate task, so that losing the lease doesn't cancel the run."""
        if stopping.is_set():
            await asyncio.Event().wait()  # for ever: the listener will be cancelled
        return await asyncio.shield(self._in_flight.start(self._scheduled_run(status, past_due=past_due)))

    async def _scheduled_run(self, status: TimerStatus, *, past_due: bool) -> TimerStatus:
        async with self._run_lock:
            await self._run(timer_message(status if self._status_blob else None, past_due=past_due))
            now = await self._clock.now()
            next_status = TimerStatus(last=now, next=self._schedule.next_after(now), updated=now)
            if self._lease.is_held:
                await self._save(next_status)
            return next_status

    async def _run(self, message: TypedData) -> None:
        with contextlib.suppress(FunctionFailedError):  # already logged; a failure never stops the schedule
            await self._invoker.run(self._function, message)

    async def _load(self) -> TimerStatus | None:
        try:
            return await self._status_blob.load() if self._status_blob else None
        except AzureError as error:
            _LOG.warning("the last run of %s isn't known: %s", self._function.name, error)
            return None

    async def _save(self, status: TimerStatus) -> None:
        try:
            if self._status_blob:
                await self._status_blob.save(status)
        except AzureError as error:
            _LOG.warning("the last run of %s isn't remembered: %s", self._function.name, error)


def timer_message(status: TimerStatus | None, *, past_due: bool) -> TypedData:
    content: dict[str, Any] = {
        "Schedule": {"AdjustForDST": True},
        "ScheduleStatus": status.render() if status else None,
        "IsPastDue": past_due,
    }
    return TypedData(json=json.dumps(content))
