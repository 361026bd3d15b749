"""Builds the polling of each account: its rounds over jobs, pools and schedules, and its queued reads."""

from shared.composition.parts import Parts
from shared.services.jobs.job_records import JobRecords
from shared.services.polling.polling import PollingService
from shared.services.polling.queued_jobs import QueuedJobs
from shared.services.polling.rounds import AccountRounds
from shared.services.pools.image_reader import ImageReader
from shared.services.pools.pool_records import PoolRecords
from shared.services.pools.pool_rounds import PoolRounds
from shared.services.reading.long_reads import LongReads
from shared.services.reading.task_poll import TaskPoll
from shared.services.round.resource_state import RoundRules
from shared.services.schedules.schedule_rounds import ScheduleRounds
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_images import BatchImages
from shared.stores.batch.batch_pools import BatchPools, NodeListCache
from shared.stores.batch.batch_schedules import BatchSchedules


def polling_of(parts: Parts, records: JobRecords) -> PollingService:
    """Returns the polling of all watched accounts."""
    settings, stores, clock = parts.settings, parts.stores, parts.clock
    rules = RoundRules(settings.overlap, settings.full_list_interval, settings.job_horizon, settings.poll_interval)
    pool_records = PoolRecords(stores.pools, stores.pool_history, settings.history_retention)
    node_lists = NodeListCache()

    def polls_of(source: BatchAccount) -> tuple[AccountRounds, QueuedJobs]:
        task_poll = TaskPoll(source, stores, records, overlap=rules.overlap, full_read_age=settings.full_read_age)
        images = ImageReader(BatchImages(source), stores.images)
        pools = PoolRounds(
            BatchPools(source, node_lists), stores, pool_records, clock=clock, rules=rules, images=images
        )
        schedules = ScheduleRounds(BatchSchedules(source), stores.schedules, clock, rules)
        rounds = AccountRounds(
            source, stores, records, task_poll, clock=clock, rules=rules, pools=pools, schedules=schedules
        )
        return rounds, QueuedJobs(source, LongReads(source, stores, records, task_poll), stores, clock)

    polls = {source.account.id: polls_of(source) for source in parts.sources}
    return PollingService(
        {account: rounds for account, (rounds, _) in polls.items()},
        {account: queued for account, (_, queued) in polls.items()},
        stores,
        clock,
        settings.poll_interval,
        settings.tick_budget,
    )
