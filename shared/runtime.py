"""The services for functions, opened once per process on first use, inside the running loop.

Importing opens nothing: an app with wrong or missing settings loads, and reports the problems on request.
"""

import asyncio
from contextvars import Context
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from shared.errors import StorageUnavailableError
from shared.garbage import collect_rarely
from shared.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from shared.clock import Clock
    from shared.services.accounts.registry import Registry
    from shared.services.events.event_queries import EventQueries
    from shared.services.explain.explanations import Explanations
    from shared.services.housekeeping import HousekeepingService
    from shared.services.ingestion import Ingestion
    from shared.services.polling.polling import PollingService
    from shared.services.queries.histories import Histories
    from shared.services.queries.pool_histories import PoolHistories
    from shared.services.queries.pool_queries import PoolQueries
    from shared.services.queries.queries import Queries
    from shared.services.queries.schedule_queries import ScheduleQueries
    from shared.services.tasks.live_tasks import LiveTasks
    from shared.services.tasks.task_queries import TaskQueries
    from shared.services.tasks.timelines import Timelines
    from shared.services.telemetry.task_telemetry import TaskTelemetryQueries
    from shared.services.telemetry.telemetry_queries import TelemetryQueries


@dataclass(frozen=True, slots=True)
class Services:
    """The services that functions call; `table_writes` counts this process's completed writes to some or all tables."""

    polling: "PollingService"
    queries: "Queries"
    tasks: "TaskQueries"
    live_tasks: "LiveTasks"
    timelines: "Timelines"
    explanations: "Explanations"
    histories: "Histories"
    pool_histories: "PoolHistories"
    pools: "PoolQueries"
    schedules: "ScheduleQueries"
    registry: "Registry"
    housekeeping: "HousekeepingService"
    ingestion: "Ingestion"
    events: "EventQueries"
    telemetry: "TelemetryQueries"
    task_telemetry: "TaskTelemetryQueries"
    clock: "Clock"
    table_writes: "Callable[[Collection[str] | None], int]"


class Runtime:
    """Settings now, services on first use. Slow imports happen then, too, to keep cold starts fast."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._services: Services | None = None
        self._opening: asyncio.Task[Services] | None = None

    async def services(self, *, patience: timedelta | None = None) -> Services:
        """Returns the services, opened by the first caller; opening continues after one caller's `patience` ends.

        Raises SettingsError, naming every problem, and StorageError.
        """
        self.settings.require()
        if self._services is None:
            opening = self._opening or self._begun()
            self._services = await _within(patience, opening)
        return self._services

    def _begun(self) -> "asyncio.Task[Services]":
        from shared.composition import open_services  # slow, so before any caller's patience begins

        collect_rarely()
        self._opening = asyncio.create_task(open_services(self.settings), context=Context())
        self._opening.add_done_callback(self._ended)
        return self._opening

    def _ended(self, opening: "asyncio.Task[Services]") -> None:
        """Allows the next caller to open the services again after a failure."""
        self._opening = None
        if not opening.cancelled():
            opening.exception()  # marks it as retrieved; its callers received it


async def _within(patience: timedelta | None, opening: "asyncio.Task[Services]") -> Services:
    try:
        async with asyncio.timeout(patience.total_seconds() if patience else None):
            return await asyncio.shield(opening)
    except TimeoutError as error:
        raise StorageUnavailableError("open the tables", "no answer, or no token for it, in time") from error
