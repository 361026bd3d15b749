"""Housekeeping in a world of pools."""

from datetime import timedelta

from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.housekeeping import HousekeepingService, Retention
from shared.services.jobs.job_records import JobRecords
from shared.services.pools.stray_nodes import StrayNodes
from shared.stores.accounts.operations import OperationStore
from shared.stores.accounts.rounds import RoundStore
from shared.stores.history import JOB_HISTORY, POOL_HISTORY, HistoryStore
from shared.stores.jobs.jobs import JobStore
from shared.stores.jobs.read_plans import ReadPlanStore
from shared.stores.jobs.task_cache import TaskCache
from shared.stores.pools.nodes import NodeStore
from shared.stores.pools.pools import PoolStore
from shared.stores.schedules import ScheduleStore
from tests.services.fakes.memory_tables import Connection, MemoryTables
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import ACCOUNT, HISTORY, LoopClock

_DAY = timedelta(days=1)


def housekeeping(world: PoolWorld) -> None:
    tables = MemoryTables(Connection(world.storage))
    jobs, rounds, history = JobStore(tables), RoundStore(tables), HistoryStore(tables, JOB_HISTORY)
    keeper = HousekeepingService(
        [ACCOUNT],
        records=JobRecords(jobs, rounds, history, HISTORY),
        jobs=jobs,
        histories=[history, HistoryStore(tables, POOL_HISTORY)],
        cache=TaskCache(tables),
        plans=ReadPlanStore(tables),
        operations=OperationStore(tables),
        schedules=ScheduleStore(tables),
        stray_nodes=StrayNodes(PoolStore(tables), NodeStore(tables)),
        ingestion=IngestionStores.of(tables),
        clock=LoopClock(world.now),
        retention=Retention(_DAY, _DAY, HISTORY, _DAY, _DAY, _DAY),
    )
    world.run(keeper.run())
