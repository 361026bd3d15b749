"""Services for the functions: opened once per process, by the first who asks, inside the running loop.

Nothing is opened at import: an app with wrong or no settings loads, and says what is wrong when it is asked.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.garbage import collect_rarely
from shared.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from shared.clock import Clock
    from shared.services.event_queries import EventQueries
    from shared.services.explanations import Explanations
    from shared.services.histories import Histories
    from shared.services.housekeeping import Housekeeping
    from shared.services.ingestion import Ingestion
    from shared.services.live_tasks import LiveTasks
    from shared.services.polling import Polling
    from shared.services.pool_histories import PoolHistories
    from shared.services.pool_queries import PoolQueries
    from shared.services.queries import Queries
    from shared.services.registry import Registry
    from shared.services.schedule_queries import ScheduleQueries
    from shared.services.task_queries import TaskQueries
    from shared.services.task_telemetry import TaskTelemetryQueries
    from shared.services.telemetry_queries import TelemetryQueries
    from shared.services.timelines import Timelines


@dataclass(frozen=True, slots=True)
class Services:
    """What the functions call; `table_writes` tells how many writes of this process (to some tables) were answered."""

    polling: "Polling"
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
    housekeeping: "Housekeeping"
    ingestion: "Ingestion"
    events: "EventQueries"
    telemetry: "TelemetryQueries"
    task_telemetry: "TaskTelemetryQueries"
    clock: "Clock"
    table_writes: "Callable[[Collection[str] | None], int]"


class Runtime:
    """Settings now, services on first use. Libraries that are slow to import load then, too: starts stay cold-fast."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._services: Services | None = None
        self._opening: asyncio.Lock | None = None

    async def services(self) -> Services:
        """The services, opened by the first caller. Raises SettingsError, naming every problem, and StorageError."""
        self.settings.require()
        if self._services is None:
            self._opening = self._opening or asyncio.Lock()
            async with self._opening:
                self._services = self._services or await _open(self.settings)
        return self._services


async def _open(settings: Settings) -> Services:
    from shared.composition import open_services

    collect_rarely()
    return await open_services(settings)
