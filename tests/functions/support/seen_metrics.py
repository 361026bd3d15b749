"""Accounts and jobs with known metrics, and the exposition text parsed by the client library."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from functions.api.metrics.metrics import render
from shared.domain.accounts.accounts import Account
from shared.domain.accounts.monitoring import Monitoring
from shared.domain.blobs.sweeps import IngestionReport, PartitionSweep, Totals
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.budgets import Budget, BudgetState
from shared.domain.cost.day_costs import day_costs
from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.usage_days import JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay
from shared.domain.jobs.job_efficiency import JobEfficiency
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.jobs.verdicts import Verdict
from shared.domain.jobs.waiting_causes import WaitingCause
from shared.domain.nodes.interruptions import InterruptionCount, Interruptions
from shared.domain.nodes.nodes import NodeSummary
from shared.domain.nodes.start_ups import StartUp
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.polling.rounds import WHOLE, Mark, Round
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.pools.machine_settings import Machine, MachineSettings
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pool_settings import AutoScale, Problem
from shared.domain.pools.pools import NodesSnapshot, Pool
from shared.domain.pools.start_up_figures import figures_of
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable
from shared.domain.quotas.account_quotas import Quota
from shared.domain.quotas.quota_use import DEDICATED, SPOT, QuotaKey
from shared.domain.reports.pool_tasks import AccountTasks, PoolTasks
from shared.domain.reports.reports import AccountReport, JobReport, MonitoringReport, PoolReport
from shared.domain.reports.schedule_reports import report_of
from shared.domain.retirements.announcements import announcements
from shared.domain.schedules.schedules import Recurrence, ScheduleFacts, first_seen
from shared.domain.tasks.failure_categories import CATEGORIES
from shared.domain.tasks.histograms import Histogram
from shared.domain.tasks.job_statistics import JobStatistics, StoredJobStatistics
from shared.domain.tasks.task_counters import TaskCounters
from shared.domain.tasks.tasks import TaskCounts
from shared.domain.telemetry.pools.node_grid import NodeStatistics
from shared.domain.telemetry.pools.pool_reports import NodeReporting, PoolUtilization
from shared.domain.telemetry.rollups.intake_counts import TelemetryTotals
from shared.services.cost.budget_queries import BudgetReport

NOW = datetime(2026, 11, 21, 7, 30, tzinfo=UTC)  # 1795246200 seconds after 1970
MINUTE = timedelta(minutes=1)
ACCOUNT = Account("demo", "demo.westeurope", "demo", "westeurope", "https://demo.westeurope.batch.azure.com")
ROUND = Round(
    started_at=NOW - MINUTE,
    finished_at=NOW - MINUTE + timedelta(seconds=2.5),
    jobs_as_of=NOW - MINUTE,
    jobs_polled=7,
    jobs_failed=1,
    batch_calls=19,
    backoff_until=NOW + MINUTE,
    failures={"a": "refused", "b": "refused"},
    failed_rounds=0,
    queued={"c": Mark(NOW + MINUTE), "d": Mark(NOW), WHOLE: Mark(NOW + MINUTE)},
)
WATCH = MonitoringReport(Monitoring(poll_seconds=300), MINUTE)
TASKS = AccountTasks(
    {"render": PoolTasks({"userCode": 3}, TaskCounters(40, 31, 3, 6), {"slotsBusy": 7}, {"slotsBusy": 65_500})}
)
WATCHED = AccountReport(ACCOUNT, {"active": 3, "completed": 1}, TaskCounts(), ROUND, WATCH, tasks=TASKS)
STATISTICS = JobStatistics(
    waits=Histogram.of([0, 1023, 1024]),
    runs=Histogram.of([61_439, 61_440, 300_000_000]),
    completions=((int(NOW.timestamp()) // 60 - 1, 20),),
    retries=5,
    requeues=2,
    running_slots=8,
    preparing_slots=3,
    active_slots=30,
)
COUNTS = TaskCounts(active=30, preparing=2, running=8, completed=20, succeeded=19, failed=1)


_JAMMY = Machine(node_agent_sku_id="batch.node.ubuntu 22.04")
_START_UP = StartUp(
    *("node", 600_000, "standard_d4s_v5", "own", "awaited"),
    *(590_000, 640_000, 645_000, 675_000, 675_000, 680_000, 690_000),
    worked=True,
)
POOL = PoolReport(
    ACCOUNT,
    Pool(
        PoolFacts(
            *("render", NOW, "active", NOW, "standard_d4s_v5"),
            dedicated=Size(2, 3),
            spot=Size(0, 0),
            auto_scale=AutoScale("$TargetDedicatedNodes = 3;", evaluated_at=NOW, error=Problem("Unavailable")),
            settings=MachineSettings(
                virtual_machine_configuration=Machine(node_agent_sku_id="batch.node.ubuntu 22.04")
            ),
        ),
        seen_at=NOW,
        snapshot=NodesSnapshot(
            *(NOW, NOW, "delta", NodeSummary((("running", True, 2),), slots=8, used=6, free=2), ""),
            tally=InterruptionCount(to_milliseconds(NOW) - 1, Interruptions(total=7, unexplained=2)),
            flapping=((to_milliseconds(NOW), 4), (to_milliseconds(NOW) + 1, 3)),
        ),
    ),
    Verdict(NOW, "delta", "exact", "The node counts agree."),
    NOW,
    PoolTasks({"userCode": 3}, TaskCounters(39, 30, 2, 5), {"slotsBusy": 7}, {"slotsBusy": 64_500}),
    announcements(),
    start_ups={("standard_d4s_v5", "own"): figures_of([_START_UP])},
)
SCHEDULE = report_of(
    ACCOUNT,
    first_seen(
        ScheduleFacts(
            "nightly",
            NOW - MINUTE,
            NOW - MINUTE,
            "active",
            NOW - MINUTE,
            recurrence=Recurrence(interval="PT1M"),
            next_run_time=NOW + MINUTE,
            recent_job="nightly:job-1",
        ),
        NOW,
    ),
    Verdict(NOW, "fullRead", "exact", "The list tells all of it."),
    [
        JobReport(
            ACCOUNT,
            Job(JobFacts("nightly:job-1", NOW, "active", NOW), JobSnapshot("g", NOW, "delta", COUNTS, NOW, NOW, NOW)),
            Verdict(NOW, "delta", "exact", "Get Task Counts agrees."),
        )
    ],
)
SCHEDULE_ROUNDS = {ACCOUNT.id: ScheduleRound(NOW, NOW, batch_calls=1)}
POOL_ROUNDS = {ACCOUNT.id: PoolRound(NOW, NOW, batch_calls=3)}
INGESTION = IngestionReport(
    ACCOUNT.id,
    "insights-logs-servicelog",
    PartitionSweep(
        NOW, blobs=3, behind_blobs=1, behind_bytes=70, behind_since=NOW - MINUTE, problems=("It is broken.",)
    ),
    Totals(units=12, stored=9, repeats=2, refused=1, bytes=9000, latest=NOW - MINUTE),
    PartitionSweep(NOW, blobs=7, behind_blobs=1, behind_bytes=5, behind_since=NOW - MINUTE, up_to_date=4, latest=NOW),
    TelemetryTotals(NOW - MINUTE, 8000, 30, 40, 2, {"unknown": 3, "late": 1}),
)
UTILIZED = PoolUtilization(
    ACCOUNT.id,
    "render",
    NodeReporting(4, 3, {"n4": None}, has_any=True),
    [NodeStatistics(2, at + 0.25, 0.5, at + 0.5, at + 0.75) for at in range(7)],
    [{"n1": at + 0.25, "n2": at + 0.75} for at in range(7)],
)
_KIND, _LARGE = NodeKind("standard_d4s_v5", True), NodeKind("standard_x9", True)
_UNITS = {
    _KIND: {"succeeded": 5_400_000, "failed": 1_800_000, "idle": 3_600_000, "unwatched": 900_000, "preempted": 1},
    _LARGE: {"idle": 7_000},
}
_PRICES = PriceHistory(
    *("westeurope", "standard_d4s_v5"),
    {MeterKey("linux", "dedicated"): (PriceInterval(Decimal("0.2"), NOW - timedelta(days=9), None, "m"),)},
    {},
    NOW,
)
_HELD: dict[JobUsageKey, int] = {
    JobUsageKey("render", _KIND, "succeeded"): 5_400_000,
    JobUsageKey("render", _KIND, "failed"): 1_800_000,
}
COSTS = {
    ACCOUNT.id: day_costs(
        PricedDay(
            UsageDay(
                to_milliseconds(NOW) // 86_400_000,
                to_milliseconds(NOW - MINUTE),
                {"render": PoolDay("render", 1, "westeurope", "linux", "none", _UNITS)},
                jobs={"render": JobDay("render", _HELD)},
            ),
            PriceTable("USD", histories={_PRICES.place: _PRICES}),
        )
    )
}
_BUDGET = BudgetState(
    Budget("render", "pool", "render", Decimal(50), "USD", NOW), "within", spent=Decimal("12.25"), reason=""
)
_ELSEWHERE = BudgetState(Budget("old", "account", "", Decimal(70), "EUR", NOW), "unknown", reason="Another currency.")
BUDGETS = [BudgetReport(ACCOUNT, [_BUDGET, _ELSEWHERE])]

QUOTAS = {
    ACCOUNT.id: [
        Quota(DEDICATED, 24, 100),
        Quota(QuotaKey("familyCores", "standarddsv5family"), 16, 32),
        Quota(SPOT, 4, None, "userSubscription"),
    ]
}
CONDITIONS = {ACCOUNT.id: {("jobStuck", "firing"): 2, ("jobStuck", "pending"): 0}}


def job(name: str = "render", *, statistics: JobStatistics | None = STATISTICS, state: str = "active") -> JobReport:
    """Returns a live job, exact as of NOW."""
    stored = StoredJobStatistics.of(statistics, b"") if statistics else None
    facts = JobFacts(name, NOW - timedelta(days=1), state, NOW - timedelta(days=1))
    failed = dict[str, int](zip(CATEGORIES, range(10, 100), strict=False)) if statistics else None
    snapshot = JobSnapshot("g", NOW, "delta", COUNTS, NOW, NOW, NOW, statistics=stored, failed_tasks=failed)
    verdict = Verdict(NOW, "delta", "exact", "Get Task Counts agrees.")
    waiting = WaitingCause("slotsBusy", NOW) if statistics else None
    efficiency = JobEfficiency(24, int(NOW.timestamp()), 0.25, 0.125, 0.5) if statistics else None
    return JobReport(ACCOUNT, Job(facts, snapshot, efficiency=efficiency), verdict, waiting=waiting)


def changed(report: JobReport, **changes: object) -> JobReport:
    """Returns the report with fields of its job changed."""
    return replace(report, job=replace(report.job, **changes))  # type: ignore[arg-type]


def families(text: str) -> dict[str, Metric]:
    """Returns the families by name, as parsed by the client library."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def lines(*jobs: JobReport, of: str = "azbatch_") -> list[str]:
    """Returns the samples of jobs whose names begin with `of`."""
    return [line for line in render([], jobs, NOW).splitlines() if line.startswith(of)]
