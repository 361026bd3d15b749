"""Puts the services together, on clients that are opened once per process and inside the running loop.

Slow to import, as it needs all of them: `runtime` does so when somebody first asks for services.
"""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from azure.core.credentials_async import AsyncTokenCredential

from shared.clock import Clock, SteppedClock, SystemClock
from shared.runtime import Services
from shared.services.histories import Histories
from shared.services.housekeeping import Housekeeping, Retention
from shared.services.job_records import JobRecords
from shared.services.leaf_walk import LeafWalk
from shared.services.live_tasks import LiveTasks
from shared.services.long_reads import LongReads
from shared.services.polling import Polling
from shared.services.pool_queries import PoolQueries
from shared.services.pool_rounds import PoolRounds
from shared.services.queries import Queries
from shared.services.queued_jobs import QueuedJobs
from shared.services.registry import Registry
from shared.services.rounds import AccountRounds, RoundRules
from shared.services.task_poll import TaskPoll
from shared.services.task_queries import TaskQueries
from shared.services.timelines import Timelines
from shared.settings import Settings
from shared.stores.batch import BatchAccount
from shared.stores.batch_pools import BatchPools
from shared.stores.history import HistoryStore
from shared.stores.jobs import JobStore
from shared.stores.monitoring import MonitoringStore
from shared.stores.nodes import NodeStore
from shared.stores.operations import OperationStore
from shared.stores.pools import PoolStore
from shared.stores.read_plans import ReadPlanStore
from shared.stores.rounds import RoundStore
from shared.stores.stepped_time import SteppedTime
from shared.stores.tables import Tables
from shared.stores.task_cache import TaskCache


@dataclass(frozen=True, slots=True)
class _Parts:
    """What services are made of: settings and clock, the accounts, and a store for each kind of row."""

    settings: Settings
    clock: Clock
    tables: Tables
    sources: list[BatchAccount]
    cache: TaskCache
    jobs: JobStore
    rounds: RoundStore
    history: HistoryStore
    plans: ReadPlanStore
    monitoring: MonitoringStore
    operations: OperationStore
    records: JobRecords
    pools: PoolStore
    nodes: NodeStore


async def open_services(settings: Settings) -> Services:
    """Raises StorageError, with nothing left open."""
    clock = _clock(settings)
    async with AsyncExitStack() as opened:  # closed again unless all of it opens: the next caller opens anew
        credential = _credential(settings)
        if credential:
            opened.push_async_callback(credential.close)
        tables = _tables(settings, credential)
        opened.push_async_callback(tables.close)
        await tables.create()
        opened.pop_all()
    jobs, rounds, history = JobStore(tables), RoundStore(tables), HistoryStore(tables)
    return _services(
        _Parts(
            settings=settings,
            clock=clock,
            tables=tables,
            sources=_sources(settings, credential),
            cache=TaskCache(tables),
            jobs=jobs,
            rounds=rounds,
            history=history,
            plans=ReadPlanStore(tables),
            monitoring=MonitoringStore(tables),
            operations=OperationStore(tables),
            records=JobRecords(jobs, rounds, history, settings.history_retention),
            pools=PoolStore(tables),
            nodes=NodeStore(tables),
        )
    )


def _services(parts: _Parts) -> Services:
    settings, clock, monitoring = parts.settings, parts.clock, parts.monitoring
    accounts, interval = {account.id: account for account in settings.accounts}, settings.poll_interval
    queries = Queries(accounts, parts.jobs, monitoring, parts.cache, plans=parts.plans, clock=clock, interval=interval)
    walk = LeafWalk(queries, parts.cache)
    tasks = TaskQueries(walk)
    sources = {source.account.id: source for source in parts.sources}
    histories = Histories(
        accounts,
        jobs=parts.jobs,
        monitoring=monitoring,
        history=parts.history,
        clock=clock,
        interval=interval,
        retention=settings.history_retention,
    )
    return Services(
        polling=_polling(parts),
        queries=queries,
        tasks=tasks,
        live_tasks=LiveTasks(sources, queries, tasks, monitoring, clock),
        timelines=Timelines(queries, walk),
        histories=histories,
        pools=PoolQueries(accounts, parts.pools, parts.nodes, monitoring, clock=clock, interval=interval),
        registry=Registry(accounts, monitoring, clock, interval=interval),
        housekeeping=_housekeeping(parts),
        clock=clock,
        table_writes=lambda: parts.tables.writes,
    )


def _polling(parts: _Parts) -> Polling:
    settings, clock, rounds, monitoring = parts.settings, parts.clock, parts.rounds, parts.monitoring
    task_poll = TaskPoll(
        parts.cache, parts.records, parts.plans, overlap=settings.overlap, full_read_age=settings.full_read_age
    )
    long_reads = LongReads(parts.cache, parts.records, parts.plans, task_poll)
    rules = RoundRules(settings.overlap, settings.full_list_interval, settings.job_horizon)
    return Polling(
        {
            source.account.id: AccountRounds(
                source,
                records=parts.records,
                rounds=rounds,
                monitoring=monitoring,
                task_poll=task_poll,
                clock=clock,
                rules=rules,
                pools=_pool_rounds(parts, source),
            )
            for source in parts.sources
        },
        queued={
            source.account.id: QueuedJobs(
                source, long_reads=long_reads, rounds=rounds, monitoring=monitoring, clock=clock
            )
            for source in parts.sources
        },
        operations=parts.operations,
        monitoring=monitoring,
        clock=clock,
        interval=settings.poll_interval,
        budget=settings.tick_budget,
    )


def _pool_rounds(parts: _Parts, source: BatchAccount) -> PoolRounds:
    return PoolRounds(
        BatchPools(source),
        pools=parts.pools,
        nodes=parts.nodes,
        clock=parts.clock,
        overlap=parts.settings.overlap,
        full_list_interval=parts.settings.full_list_interval,
    )


def _housekeeping(parts: _Parts) -> Housekeeping:
    settings = parts.settings
    return Housekeeping(
        settings.accounts,
        records=parts.records,
        history=parts.history,
        cache=parts.cache,
        plans=parts.plans,
        operations=parts.operations,
        clock=parts.clock,
        retention=Retention(settings.deleted_job_retention, settings.operation_retention, settings.history_retention),
    )


def _clock(settings: Settings) -> Clock:
    if settings.clock_url is None:
        return SystemClock()
    return SteppedClock(SteppedTime(settings.clock_url).fetch)


def _credential(settings: Settings) -> AsyncTokenCredential | None:
    """The app's identity, where anything in Azure needs it; it keeps real time whatever the clock says."""
    if settings.connection_string and all(account.is_local for account in settings.accounts):
        return None
    from azure.identity.aio import DefaultAzureCredential  # slow to load, and of no use on a laptop

    return DefaultAzureCredential()


def _tables(settings: Settings, credential: AsyncTokenCredential | None) -> Tables:
    return Tables.connect(
        connection_string=settings.connection_string,
        endpoint=settings.table_endpoint,
        credential=credential,
        prefix=settings.table_prefix,
    )


def _sources(settings: Settings, credential: AsyncTokenCredential | None) -> list[BatchAccount]:
    return [
        BatchAccount.connect(
            account,
            key=settings.keys.get(account.name),
            credential=credential,
            calls_per_minute=settings.calls_per_minute,
        )
        for account in settings.accounts
    ]
