"""The composition root: opens clients once per process, inside the running loop, and builds the services on them.

Nothing is opened at import: an app with wrong or no settings loads, and says what is wrong when it is asked.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.settings import Settings

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential

    from shared.clock import Clock
    from shared.services.housekeeping import Housekeeping
    from shared.services.polling import Polling
    from shared.services.pool_queries import PoolQueries
    from shared.services.queries import Queries
    from shared.services.registry import Registry
    from shared.stores.batch import BatchAccount
    from shared.stores.tables import Tables


@dataclass(frozen=True, slots=True)
class Services:
    """What the functions call."""

    polling: "Polling"
    queries: "Queries"
    pools: "PoolQueries"
    registry: "Registry"
    housekeeping: "Housekeeping"
    clock: "Clock"


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
    from shared.services.housekeeping import Housekeeping, Retention
    from shared.services.long_reads import LongReads
    from shared.services.polling import Polling
    from shared.services.pool_queries import PoolQueries
    from shared.services.pool_rounds import PoolRounds
    from shared.services.queries import Queries
    from shared.services.queued_jobs import QueuedJobs
    from shared.services.registry import Registry
    from shared.services.rounds import AccountRounds, RoundRules
    from shared.services.task_poll import TaskPoll
    from shared.stores.batch_pools import BatchPools
    from shared.stores.jobs import JobStore
    from shared.stores.monitoring import MonitoringStore
    from shared.stores.nodes import NodeStore
    from shared.stores.operations import OperationStore
    from shared.stores.pools import PoolStore
    from shared.stores.read_plans import ReadPlanStore
    from shared.stores.rounds import RoundStore
    from shared.stores.task_cache import TaskCache

    clock = _clock(settings)
    async with AsyncExitStack() as opened:  # closed again unless all of it opens: the next caller opens anew
        credential = _credential(settings)
        if credential:
            opened.push_async_callback(credential.close)
        tables = _tables(settings, credential)
        opened.push_async_callback(tables.close)
        await tables.create()
        opened.pop_all()
    jobs, rounds, cache = JobStore(tables), RoundStore(tables), TaskCache(tables)
    monitoring = MonitoringStore(tables)
    plans = ReadPlanStore(tables)
    task_poll = TaskPoll(cache, jobs, plans, overlap=settings.overlap, full_read_age=settings.full_read_age)
    long_reads = LongReads(cache, jobs, plans, task_poll)
    rules = RoundRules(settings.overlap, settings.full_list_interval, settings.job_horizon)
    sources = _sources(settings, credential)
    pools, nodes = PoolStore(tables), NodeStore(tables)
    accounts = {
        source.account.id: AccountRounds(
            source,
            jobs=jobs,
            rounds=rounds,
            monitoring=monitoring,
            task_poll=task_poll,
            clock=clock,
            rules=rules,
            pools=PoolRounds(
                BatchPools(source),
                pools=pools,
                nodes=nodes,
                clock=clock,
                overlap=settings.overlap,
                full_list_interval=settings.full_list_interval,
            ),
        )
        for source in sources
    }
    queued = {
        source.account.id: QueuedJobs(source, long_reads=long_reads, rounds=rounds, monitoring=monitoring, clock=clock)
        for source in sources
    }
    operations = OperationStore(tables)
    polling = Polling(
        accounts,
        queued=queued,
        operations=operations,
        monitoring=monitoring,
        clock=clock,
        interval=settings.poll_interval,
        budget=settings.tick_budget,
    )
    by_id = {account.id: account for account in settings.accounts}
    queries = Queries(by_id, jobs, monitoring, cache, plans=plans, clock=clock, interval=settings.poll_interval)
    pool_queries = PoolQueries(by_id, pools, nodes, monitoring, clock=clock, interval=settings.poll_interval)
    registry = Registry(by_id, monitoring, clock, interval=settings.poll_interval)
    retention = Retention(settings.deleted_job_retention, settings.operation_retention)
    housekeeping = Housekeeping(
        settings.accounts, jobs=jobs, cache=cache, plans=plans, operations=operations, clock=clock, retention=retention
    )
    return Services(polling, queries, pool_queries, registry, housekeeping, clock)


def _clock(settings: Settings) -> "Clock":
    from shared.clock import SteppedClock, SystemClock

    if settings.clock_url is None:
        return SystemClock()
    from shared.stores.stepped_time import SteppedTime

    return SteppedClock(SteppedTime(settings.clock_url).fetch)


def _credential(settings: Settings) -> "AsyncTokenCredential | None":
    """The app's identity, where anything in Azure needs it; it keeps real time whatever the clock says."""
    if settings.connection_string and all(account.is_local for account in settings.accounts):
        return None
    from azure.identity.aio import DefaultAzureCredential

    return DefaultAzureCredential()


def _tables(settings: Settings, credential: "AsyncTokenCredential | None") -> "Tables":
    from shared.stores.tables import Tables

    return Tables.connect(
        connection_string=settings.connection_string,
        endpoint=settings.table_endpoint,
        credential=credential,
        prefix=settings.table_prefix,
    )


def _sources(settings: Settings, credential: "AsyncTokenCredential | None") -> "list[BatchAccount]":
    from shared.stores.batch import BatchAccount

    return [
        BatchAccount.connect(
            account,
            key=settings.keys.get(account.name),
            credential=credential,
            calls_per_minute=settings.calls_per_minute,
        )
        for account in settings.accounts
    ]
