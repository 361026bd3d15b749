"""The services that functions call, as one value."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

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

    polling: PollingService
    queries: Queries
    tasks: TaskQueries
    live_tasks: LiveTasks
    timelines: Timelines
    explanations: Explanations
    histories: Histories
    pool_histories: PoolHistories
    pools: PoolQueries
    schedules: ScheduleQueries
    registry: Registry
    housekeeping: HousekeepingService
    ingestion: Ingestion
    events: EventQueries
    telemetry: TelemetryQueries
    task_telemetry: TaskTelemetryQueries
    clock: Clock
    table_writes: Callable[[Collection[str] | None], int]
