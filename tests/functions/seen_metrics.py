"""Accounts and jobs whose metrics are known, and the exposition text read back by the client library's parser."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from functions.api.metrics import render
from functions.api.pool_series import SeenPoolRound
from shared.domain.accounts import Account
from shared.domain.histograms import Histogram
from shared.domain.insight import Insight, StoredInsight
from shared.domain.jobs import Job, JobFacts, Picture
from shared.domain.monitoring import Monitoring
from shared.domain.nodes import NodeSummary
from shared.domain.pool_rounds import PoolRound
from shared.domain.pools import NodesPicture, Pool, PoolFacts, Size
from shared.domain.reports import AccountReport, JobReport, MonitoringReport, PoolReport
from shared.domain.rounds import WHOLE, Mark, Round
from shared.domain.tasks import TaskCounts
from shared.domain.verdicts import Verdict

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
WATCHED = AccountReport(ACCOUNT, {"active": 3, "completed": 1}, TaskCounts(), ROUND, WATCH)
INSIGHT = Insight(
    waits=Histogram.of([0, 1023, 1024]),
    runs=Histogram.of([61_439, 61_440, 300_000_000]),
    completions=((int(NOW.timestamp()) // 60 - 1, 20),),
    retries=5,
    requeues=2,
    running_slots=8,
    active_slots=30,
)
COUNTS = TaskCounts(active=30, preparing=2, running=8, completed=20, succeeded=19, failed=1)


POOL = PoolReport(
    ACCOUNT,
    Pool(
        PoolFacts("render", NOW, "active", NOW, "standard_d4s_v5", dedicated=Size(2, 3), spot=Size(0, 0)),
        seen_at=NOW,
        picture=NodesPicture(NOW, NOW, "delta", NodeSummary((("running", True, 2),), slots=8, used=6, free=2), ""),
    ),
    Verdict(NOW, "delta", "exact", "The node counts agree."),
)
OVER_POOLS = SeenPoolRound(ACCOUNT.id, PoolRound(NOW, NOW, batch_calls=3))


def job(name: str = "render", *, insight: Insight | None = INSIGHT, state: str = "active") -> JobReport:
    """A live job, exact as of NOW."""
    stored = StoredInsight.of(insight, b"") if insight else None
    facts = JobFacts(name, NOW - timedelta(days=1), state, NOW - timedelta(days=1))
    picture = Picture("g", NOW, "delta", COUNTS, NOW, NOW, NOW, insight=stored)
    return JobReport(ACCOUNT, Job(facts, picture), Verdict(NOW, "delta", "exact", "Get Task Counts agrees."))


def changed(report: JobReport, **changes: object) -> JobReport:
    """The report of the job with fields changed."""
    return replace(report, job=replace(report.job, **changes))  # type: ignore[arg-type]


def families(text: str) -> dict[str, Metric]:
    """By name, as the client library reads them."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def lines(*jobs: JobReport, of: str = "azbatch_") -> list[str]:
    """The samples of jobs whose names begin so."""
    return [line for line in render([], jobs, NOW).splitlines() if line.startswith(of)]
