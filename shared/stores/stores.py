"""All stores of one storage account, which services share."""

from shared.stores.accounts.budgets import BudgetStore
from shared.stores.accounts.conditions import ConditionStore
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.accounts.operations import OperationStore
from shared.stores.accounts.quotas import QuotaStore
from shared.stores.accounts.rounds import RoundStore
from shared.stores.accounts.supported_images import SupportedImageStore
from shared.stores.events import EventStore
from shared.stores.history import JOB_HISTORY, POOL_HISTORY, HistoryStore
from shared.stores.jobs.deleted_job_counters import DeletedJobCounterStore
from shared.stores.jobs.dependencies import DependencyStore
from shared.stores.jobs.jobs import JobStore
from shared.stores.jobs.outputs import OutputStore
from shared.stores.jobs.read_plans import ReadPlanStore
from shared.stores.jobs.task_cache import TaskCache
from shared.stores.jobs.waiting_causes import WaitingCauseStore
from shared.stores.pools.nodes import NodeStore
from shared.stores.pools.pools import PoolStore
from shared.stores.pools.start_ups import StartUpStore
from shared.stores.prices.price_rows import PriceStore
from shared.stores.schedules import ScheduleStore
from shared.stores.tables.tables import Tables
from shared.stores.usage_days import UsageDayStore


class Stores:
    """A store for each kind of row, except those of ingested blobs."""

    def __init__(self, tables: Tables) -> None:
        self.monitoring = MonitoringStore(tables)
        self.budgets = BudgetStore(tables)
        self.rounds = RoundStore(tables)
        self.operations = OperationStore(tables)
        self.quotas = QuotaStore(tables)
        self.conditions = ConditionStore(tables)
        self.jobs = JobStore(tables)
        self.waiting_causes = WaitingCauseStore(tables)
        self.deleted_job_counters = DeletedJobCounterStore(tables)
        self.history = HistoryStore(tables, JOB_HISTORY)
        self.cache = TaskCache(tables)
        self.plans = ReadPlanStore(tables)
        self.dependencies = DependencyStore(tables)
        self.outputs = OutputStore(tables)
        self.pools = PoolStore(tables)
        self.pool_history = HistoryStore(tables, POOL_HISTORY)
        self.nodes = NodeStore(tables)
        self.start_ups = StartUpStore(tables)
        self.images = SupportedImageStore(tables)
        self.prices = PriceStore(tables)
        self.schedules = ScheduleStore(tables)
        self.usage_days = UsageDayStore(tables)
        self.events = EventStore(tables)
