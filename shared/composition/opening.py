"""Opens the stores and builds all services from them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from shared.clock import Clock
from shared.composition.failures import failures_of, output_limits_of
from shared.composition.ingestion import agent_of, ingestion_of
from shared.composition.parts import open_parts
from shared.composition.polling import polling_of
from shared.domain.jobs.job_samples import JOB_SAMPLES
from shared.domain.pools.pool_samples import POOL_SAMPLES, PoolNumbers
from shared.domain.prices.price_settings import PriceSettings
from shared.domain.quotas.quota_settings import QuotaSettings
from shared.domain.tasks.tasks import TaskCounts
from shared.services.accounts.registry import Registry
from shared.services.agent.agent_offers import AgentOffers
from shared.services.agent.agent_reports import AgentReports
from shared.services.conditions.condition_queries import ConditionQueries
from shared.services.conditions.condition_service import ConditionService
from shared.services.cost.budget_queries import BudgetQueries
from shared.services.cost.cost_queries import CostQueries
from shared.services.cost.focus_queries import FocusQueries
from shared.services.cost.schedule_costs import ScheduleCostQueries
from shared.services.cost.todays_costs import TodaysCosts
from shared.services.cost.usage_rollups import UsageRollups
from shared.services.cost.waste_queries import WasteQueries
from shared.services.efficiency.account_efficiency import AccountEfficiencyQueries
from shared.services.efficiency.efficiency_digests import EfficiencyDigests
from shared.services.efficiency.efficiency_queries import EfficiencyQueries
from shared.services.efficiency.job_contexts import JobContextReader
from shared.services.efficiency.node_figures import NodeFigureReader
from shared.services.efficiency.pool_what_if import PoolWhatIfQueries
from shared.services.efficiency.replay_evidence import ReplayEvidence
from shared.services.efficiency.scaling_evidence import ScalingEvidence
from shared.services.efficiency.task_limits import TaskLimitReader
from shared.services.efficiency.what_if_queries import WhatIfQueries
from shared.services.events.event_queries import EventQueries
from shared.services.explain.dependency_snapshots import DependencySnapshots
from shared.services.explain.explanations import Explanations
from shared.services.explain.live_evidence import LiveEvidence
from shared.services.explain.pool_queues import PoolQueues
from shared.services.explain.request_budgets import RequestBudgets
from shared.services.explain.shared_evidence import SharedEvidence
from shared.services.explain.waiting_jobs import WaitingJobs
from shared.services.failures import FailureFollowUp
from shared.services.files.file_reader import FileReader
from shared.services.files.kept_outputs import KeptOutputs
from shared.services.files.kept_start_outputs import KeptStartOutputs
from shared.services.housekeeping import HousekeepingService
from shared.services.ingestion import Ingestion
from shared.services.jobs.job_records import JobRecords
from shared.services.polling.polling import PollingService
from shared.services.prices.price_queries import PriceQueries
from shared.services.prices.price_reader import PriceReader
from shared.services.queries.histories import Histories
from shared.services.queries.pool_queries import PoolQueries
from shared.services.queries.queries import Queries
from shared.services.queries.retirement_queries import Announcements, RetirementQueries
from shared.services.queries.schedule_queries import ScheduleQueries
from shared.services.queries.start_up_queries import StartUpQueries
from shared.services.queries.usage_queries import UsageQueries
from shared.services.queries.waited_histories import WaitedHistories
from shared.services.quotas.quota_queries import QuotaQueries
from shared.services.quotas.quota_reader import QuotaReader
from shared.services.tasks.leaf_reader import LeafReader
from shared.services.tasks.live_tasks import LiveTasks
from shared.services.tasks.node_sharing import NodeSharingService
from shared.services.tasks.task_comparisons import TaskComparisons
from shared.services.tasks.task_queries import TaskQueries
from shared.services.tasks.timelines import Timelines
from shared.services.telemetry.pool_telemetry import PoolTelemetryQueries
from shared.services.telemetry.pool_utilization import PoolUtilizationQueries
from shared.services.telemetry.task_telemetry import TaskTelemetryQueries
from shared.services.telemetry.telemetry_queries import TelemetryQueries
from shared.settings import Settings
from shared.stores.accounts.resource_manager import ResourceManager
from shared.stores.prices.retail_prices import RetailPrices


@dataclass(frozen=True, slots=True)
class Services:
    """The services that functions call; `table_writes` counts this process's completed writes to some or all tables."""

    polling: PollingService
    queries: Queries
    tasks: TaskQueries
    live_tasks: LiveTasks
    files: FileReader
    kept_outputs: KeptOutputs
    kept_start_outputs: KeptStartOutputs
    failures: FailureFollowUp
    timelines: Timelines
    comparisons: TaskComparisons
    explanations: Explanations
    dependencies: DependencySnapshots
    waiting_jobs: WaitingJobs
    histories: Histories[TaskCounts]
    pool_histories: Histories[PoolNumbers]
    waited_histories: WaitedHistories
    pools: PoolQueries
    pool_queues: PoolQueues
    start_ups: StartUpQueries
    retirements: RetirementQueries
    prices: PriceQueries
    quotas: QuotaQueries
    costs: CostQueries
    todays_costs: TodaysCosts
    budgets: BudgetQueries
    schedule_costs: ScheduleCostQueries
    focus: FocusQueries
    waste: WasteQueries
    efficiency: EfficiencyQueries
    what_if: WhatIfQueries
    pool_what_if: PoolWhatIfQueries
    account_efficiency: AccountEfficiencyQueries
    schedules: ScheduleQueries
    registry: Registry
    housekeeping: HousekeepingService
    ingestion: Ingestion
    conditions: ConditionQueries
    condition_evaluations: ConditionService
    events: EventQueries
    telemetry: TelemetryQueries
    task_telemetry: TaskTelemetryQueries
    pool_telemetry: PoolTelemetryQueries
    pool_utilization: PoolUtilizationQueries
    agent: AgentOffers
    agent_reports: AgentReports
    clock: Clock
    table_writes: Callable[[Collection[str] | None], int]


async def open_services(settings: Settings) -> Services:
    """Opens the stores and builds the services. Raises StorageError, with nothing left open."""
    parts = await open_parts(settings)
    stores, clock, retention = parts.stores, parts.clock, settings.history_retention
    accounts = {account.id: account for account in settings.accounts}
    sources = {source.account.id: source for source in parts.sources}
    registry = Registry(accounts, stores.monitoring, clock, settings.poll_interval)
    records = JobRecords(stores.jobs, stores.rounds, stores.history, retention)
    announced = Announcements(registry, stores.images, settings.retirements)
    queries, pools = Queries(registry, stores), PoolQueries(registry, stores, announced)
    walk = LeafReader(queries, stores.cache)
    tasks, sharing = TaskQueries(walk), NodeSharingService(stores.jobs, walk)
    live, brief = LiveEvidence(tasks, registry, stores.rounds), LiveEvidence(tasks, registry, stores.rounds, seconds=5)
    polling = polling_of(parts, records)
    container = settings.resource_log_container if settings.ingestion_enabled else None
    events = EventQueries(registry, parts.ingestion, container=container, retention=settings.event_retention)
    budgets = RequestBudgets(registry)
    output_limits = output_limits_of(settings)
    starts = KeptStartOutputs(accounts, registry, pools, stores.outputs, output_limits)
    prices = PriceSettings(
        *(settings.price_source, settings.price_currency, settings.price_url),
        *(settings.price_regions, settings.price_entries),
    )
    reader = PriceReader(settings.accounts, stores, RetailPrices(prices.url), prices)
    quota_settings = QuotaSettings(settings.reads_quotas, settings.account_ids, settings.arm_url, settings.cost_labels)
    quotas = QuotaQueries(registry, stores, quota_settings)
    quota_reader = QuotaReader(
        settings.accounts, stores, ResourceManager(quota_settings, parts.credential), quota_settings
    )
    usage = UsageQueries(registry, pools, stores.nodes)
    schedules = ScheduleQueries(registry, queries, stores.schedules, idle=settings.full_list_interval)
    pool_histories = Histories(registry, POOL_SAMPLES, pools.recent_samples, stores.pool_history, retention)
    price_queries = PriceQueries(registry, stores, prices)
    costs = CostQueries(
        registry, queries, usage, stores.usage_days, price_queries, leaves=walk, labels=settings.cost_labels
    )
    log = parts.ingestion.events if settings.ingestion_enabled else None
    rollups = UsageRollups(stores, walk, prices, log, settings.cost_labels)

    def explaining(shared: SharedEvidence | None = None) -> Explanations:
        return Explanations(
            sources, queries, tasks, pools, live=replace(live, shared=shared), events=events, quotas=quotas
        )

    telemetry = TelemetryQueries(
        accounts,
        parts.ingestion,
        stores.pools,
        clock=clock,
        minutes=settings.telemetry_retention,
        hours=settings.telemetry_hour_retention,
    )
    nodes, limits = NodeFigureReader(pools, parts.ingestion.pool_telemetry), TaskLimitReader(sources, registry)
    contexts = JobContextReader(events, nodes, limits)
    efficiency = EfficiencyQueries(costs, tasks, stores.pools, parts.ingestion.attempts, contexts)
    digests = EfficiencyDigests(queries, efficiency, price_queries, stores.jobs, records, parts.ingestion.day_use)
    return Services(
        polling=polling,
        queries=queries,
        tasks=tasks,
        live_tasks=LiveTasks(sources, queries, tasks, registry),
        files=FileReader(sources, queries, tasks, registry, stores.outputs, starts),
        kept_outputs=KeptOutputs(accounts, registry, queries, tasks, stores.outputs, output_limits),
        kept_start_outputs=starts,
        failures=failures_of(parts, polling, registry, records, walk),
        timelines=Timelines(queries, walk),
        comparisons=TaskComparisons(queries, walk, stores, parts.ingestion.attempts),
        explanations=explaining(),
        dependencies=DependencySnapshots(sources, queries, tasks, stores.dependencies, live=brief, budgets=budgets),
        waiting_jobs=WaitingJobs(registry, stores, sources, explaining, budgets, retention),
        histories=Histories(registry, JOB_SAMPLES, queries.recent_samples, stores.history, retention),
        pool_histories=pool_histories,
        waited_histories=WaitedHistories(registry, stores.waiting_causes, stores.pool_history),
        pools=pools,
        pool_queues=PoolQueues(queries, tasks, pools, stores.dependencies),
        start_ups=StartUpQueries(registry, pools, events, stores),
        retirements=RetirementQueries(registry, stores, announced, settings.functions_host),
        prices=price_queries,
        costs=costs,
        quotas=quotas,
        todays_costs=TodaysCosts(stores.usage_days, price_queries, clock),
        schedule_costs=ScheduleCostQueries(registry, schedules, stores.usage_days, price_queries),
        focus=FocusQueries(registry, stores.usage_days, price_queries),
        budgets=BudgetQueries(registry, stores.budgets, stores.usage_days, price_queries),
        waste=WasteQueries(registry, stores, price_queries, pool_histories),
        efficiency=efficiency,
        what_if=WhatIfQueries(queries, ReplayEvidence(walk, stores, price_queries, parts.ingestion.attempts)),
        pool_what_if=PoolWhatIfQueries(
            ScalingEvidence((queries, pools, events), walk, pool_histories, stores, price_queries),
        ),
        account_efficiency=AccountEfficiencyQueries(
            *(registry, stores.usage_days, parts.ingestion.day_use, stores.pools, price_queries),
            labels=settings.cost_labels,
        ),
        schedules=schedules,
        registry=registry,
        housekeeping=HousekeepingService(
            *(settings.accounts, records, stores, parts.ingestion, reader, quota_reader, rollups, digests),
            *(clock, settings),
        ),
        ingestion=ingestion_of(parts, polling),
        conditions=ConditionQueries(registry, stores.conditions),
        condition_evaluations=ConditionService(registry, pools, schedules, stores.conditions, parts.ingestion.events),
        events=events,
        telemetry=telemetry,
        task_telemetry=TaskTelemetryQueries(queries, tasks, events, sharing, telemetry, clock=clock),
        pool_telemetry=PoolTelemetryQueries(pools, parts.ingestion.pool_telemetry, settings.telemetry_retention),
        pool_utilization=PoolUtilizationQueries(pools, parts.ingestion.pool_telemetry, clock),
        agent=agent_of(parts, pools),
        agent_reports=AgentReports(pools, parts.ingestion),
        clock=clock,
        table_writes=parts.tables.writes,
    )
