"""One running app: the real code with its own memory, on storage and a Batch account in memory."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, override

from shared.clock import SharedClock
from shared.domain.accounts.accounts import Account
from shared.domain.history.grains import HistoryRetention
from shared.domain.jobs.job_samples import JOB_SAMPLES
from shared.domain.prices.price_settings import PriceSettings
from shared.domain.quotas.quota_settings import QuotaSettings
from shared.services.accounts.registry import Registry
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.cost.usage_rollups import UsageRollups
from shared.services.housekeeping import HousekeepingService
from shared.services.jobs.job_records import JobRecords
from shared.services.polling.polling import PollingService
from shared.services.polling.queued_jobs import QueuedJobs
from shared.services.polling.rounds import AccountRounds
from shared.services.prices.price_reader import PriceReader
from shared.services.queries.histories import Histories
from shared.services.queries.queries import Queries
from shared.services.quotas.quota_reader import QuotaReader
from shared.services.reading.long_reads import LongReads
from shared.services.reading.task_poll import TaskPoll
from shared.services.round.resource_state import RoundRules
from shared.services.tasks.leaf_reader import LeafReader
from shared.services.tasks.task_queries import TaskQueries
from shared.settings import read_settings
from shared.stores.accounts.resource_manager import ResourceManager
from shared.stores.jobs.task_cache import TaskCache
from shared.stores.prices.retail_prices import RetailPrices
from shared.stores.stores import Stores
from tests.services.fakes.fake_batch import FakeBatch, Service
from tests.services.fakes.memory_tables import Connection, MemoryTables, Storage
from tests.services.worlds.efficiency_digests import digests_of

OVERLAP = timedelta(seconds=30)
INTERVAL = timedelta(minutes=1)
BUDGET = timedelta(days=1)
HISTORY = HistoryRetention(minutes=timedelta(days=7), quarters=timedelta(days=90))


def local_account(name: str) -> Account:
    return Account(name, name, name, None, "http://127.0.0.1:1")


ACCOUNT = local_account("demo")
_SETTINGS = read_settings({})
NO_QUOTAS = QuotaSettings(reads=False)
NO_PRICES = PriceSettings("off", "USD", _SETTINGS.price_url, {}, ())


class LoopClock(SharedClock):
    """The app's clock; `ahead` is the error of its host's clock."""

    def __init__(self, now: Callable[[], datetime], ahead: timedelta = timedelta()) -> None:
        self.ahead = ahead
        super().__init__(lambda: now() + self.ahead)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parts of a process; planted bugs replace one."""

    batch: type[FakeBatch] = FakeBatch
    cache: type[TaskCache] = TaskCache
    task_poll: type[TaskPoll] = TaskPoll
    clock: type[LoopClock] = LoopClock
    overlap: timedelta = OVERLAP


class WatchedRounds(AccountRounds):
    """Rounds of an account; `ended` is the result of the last one."""

    ended: Any = None

    @override
    async def _run(self, *args: Any, **options: Any) -> Any:
        self.ended = None
        self.ended = await super()._run(*args, **options)
        return self.ended


class Process:
    """One running app with its own memory, which polls one account; its host's clock is `ahead`."""

    def __init__(
        self,
        recipe: Recipe,
        service: Service,
        storage: Storage,
        account: Account = ACCOUNT,
        *,
        ahead: timedelta = timedelta(),
    ) -> None:
        self.clock = recipe.clock(service.now, ahead)
        self.connection = Connection(storage, self.clock)
        tables = MemoryTables(self.connection)
        self.service = service
        self.batch = recipe.batch(account, service, self.connection)
        self.stores = Stores(tables)
        self.cache = self.stores.cache = recipe.cache(tables)
        self.jobs, self.round_store, self.plans = self.stores.jobs, self.stores.rounds, self.stores.plans
        self.monitoring = self.stores.monitoring
        self.records = JobRecords(self.jobs, self.round_store, self.stores.history, HISTORY)
        self.task_poll = recipe.task_poll(
            self.batch,
            self.stores,
            self.records,
            overlap=recipe.overlap,
            full_read_age=timedelta(days=1),
            short_read=service.short_read,
        )
        rules = RoundRules(recipe.overlap, timedelta(minutes=15), timedelta(days=7))
        self.rounds = WatchedRounds(
            self.batch, self.stores, self.records, self.task_poll, clock=self.clock, rules=rules
        )
        long_reads = LongReads(self.batch, self.stores, self.records, self.task_poll)
        self.queued = QueuedJobs(self.batch, long_reads, self.stores, self.clock)
        self.polling = PollingService(
            {account.id: self.rounds}, {account.id: self.queued}, self.stores, self.clock, INTERVAL, BUDGET
        )
        self.registry = Registry({account.id: account}, self.monitoring, self.clock, INTERVAL)
        ingestion = IngestionStores.of(tables)
        self.housekeeping = HousekeepingService(
            [account],
            self.records,
            self.stores,
            ingestion,
            PriceReader([account], self.stores, RetailPrices(NO_PRICES.url), NO_PRICES),
            QuotaReader([account], self.stores, ResourceManager(NO_QUOTAS, None), NO_QUOTAS),
            UsageRollups(self.stores, LeafReader(Queries(self.registry, self.stores), self.cache), NO_PRICES),
            digests_of(self.registry, self.stores, ingestion, self.records, NO_PRICES),
            self.clock,
            _SETTINGS,
        )
        self.queries = Queries(replace(self.registry, interval=timedelta(hours=1)), self.stores)
        self.task_queries = TaskQueries(LeafReader(self.queries, self.cache))
        recent = Queries(self.registry, self.stores).recent_samples
        self.histories = Histories(self.registry, JOB_SAMPLES, recent, self.stores.history, HISTORY)

    async def poll(self, *, full: bool = False) -> None:
        """Runs a round of all jobs now."""
        if full:
            await self.rounds.run_now(None, budget=BUDGET)
        else:
            await self.rounds.run_if_due(timedelta(), budget=BUDGET)
