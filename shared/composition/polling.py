"""Builds the polling of each account: its rounds over jobs, pools and schedules, and its queued reads."""

from shared.composition.parts import Parts
from shared.services.jobs.job_records import JobRecords
from shared.services.polling.polling import PollingService
from shared.services.polling.queued_jobs import QueuedJobs
from shared.services.polling.rounds import AccountRounds, RoundRules
from shared.services.pools.pool_records import PoolRecords
from shared.services.pools.pool_rounds import PoolRounds
from shared.services.reading.long_reads import LongReads
from shared.services.reading.task_poll import TaskPoll
from shared.services.schedules.schedule_rounds import ScheduleRounds
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_pools import BatchPools
from shared.stores.batch.batch_schedules import BatchSchedules


def polling_of(parts: Parts, records: JobRecords) -> PollingService:
    """Returns the polling of all watched accounts."""
    settings, clock, rounds, monitoring = parts.settings, parts.clock, parts.rounds, parts.monitoring
    task_poll = TaskPoll(
        parts.cache, records, parts.plans, overlap=settings.overlap, full_read_age=settings.full_read_age
    )
    long_reads = LongReads(parts.cache, records, parts.plans, task_poll)
    return PollingService(
        {source.account.id: _account_rounds(parts, records, task_poll, source) for source in parts.sources},
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


def _account_rounds(parts: Parts, records: JobRecords, task_poll: TaskPoll, source: BatchAccount) -> AccountRounds:
    settings = parts.settings
    return AccountRounds(
        source,
        records=records,
        rounds=parts.rounds,
        monitoring=parts.monitoring,
        task_poll=task_poll,
        plans=parts.plans,
        clock=parts.clock,
        rules=RoundRules(settings.overlap, settings.full_list_interval, settings.job_horizon),
        pools=PoolRounds(
            BatchPools(source, parts.node_lists),
            pools=parts.pools,
            records=PoolRecords(parts.pools, parts.pool_history, settings.history_retention),
            nodes=parts.nodes,
            clock=parts.clock,
            overlap=settings.overlap,
            full_list_interval=settings.full_list_interval,
        ),
        schedules=ScheduleRounds(
            BatchSchedules(source),
            parts.schedules,
            parts.clock,
            idle=settings.full_list_interval,
            horizon=settings.job_horizon,
        ),
    )
