"""GET metrics: Prometheus text, rendered from what is stored at each scrape, so that nothing outlives its source."""

from collections.abc import Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from functions.api.pool_metrics import pool_families, pool_round_families
from functions.http import Call, Query, Routes
from shared.domain.pool_rounds import PoolRound
from shared.domain.reports import AccountReport, JobReport, PoolReport
from shared.domain.tasks import STATES


class _Rendered:
    """A collector of families that are made already, as the library's exposition wants one."""

    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        return iter(self._families)


def add_metrics(routes: Routes) -> None:
    @routes.route("GET", "metrics", returns=str, media=CONTENT_TYPE_PLAIN_0_0_4, repeats=True)
    async def get_metrics(call: Call[Query, None]) -> str:
        """All series in the Prometheus text format."""
        services = await call.services()
        accounts = await services.queries.accounts()
        jobs = [job for report in accounts for job in await services.queries.jobs(report.account.id)]
        pools = [pool for report in accounts for pool in await services.pools.pools(report.account.id)]
        return render(accounts, jobs, pools, await services.pools.last_rounds())


def render(
    accounts: Sequence[AccountReport],
    jobs: Sequence[JobReport],
    pools: Sequence[PoolReport],
    pool_rounds: Mapping[str, PoolRound | None],
) -> str:
    """The exposition text of every series. Deleted jobs have none."""
    registry = CollectorRegistry()
    over_pools = [*pool_round_families(pool_rounds), *pool_families(pools)]
    registry.register(_Rendered([*_account_families(accounts), *_job_families(jobs), *over_pools]))
    return generate_latest(registry).decode()


def _account_families(accounts: Sequence[AccountReport]) -> list[Metric]:
    jobs = GaugeMetricFamily("azbatch_jobs", "Jobs by state.", labels=["account", "state"])
    success = GaugeMetricFamily(
        "azbatch_collector_last_success_timestamp_seconds", "Date of the last complete job list.", labels=["account"]
    )
    watched = GaugeMetricFamily(
        "azbatch_collector_enabled", "1 if monitoring of the account is switched on.", labels=["account"]
    )
    up = GaugeMetricFamily("azbatch_collector_up", "1 if the last round of the account succeeded.", labels=["account"])
    duration = GaugeMetricFamily(
        "azbatch_collector_duration_seconds", "How long the last round took.", labels=["account"]
    )
    calls = GaugeMetricFamily(
        "azbatch_collector_calls", "Requests to Batch in the last round over jobs.", labels=["account"]
    )
    for report in accounts:
        name, last = report.account.id, report.last_round
        for state, count in sorted(report.jobs.items()):
            jobs.add_metric([name, state], count)
        watched.add_metric([name], 1 if report.watch.monitoring.enabled else 0)
        up.add_metric([name], 1 if last and last.succeeded else 0)
        if last:
            duration.add_metric([name], (last.finished_at - last.started_at).total_seconds())
            calls.add_metric([name], last.batch_calls)
        if last and last.jobs_as_of:
            success.add_metric([name], last.jobs_as_of.timestamp())
    return [jobs, success, watched, up, duration, calls]


def _job_families(jobs: Sequence[JobReport]) -> list[Metric]:
    tasks = GaugeMetricFamily("azbatch_job_tasks", "Tasks of a job by state.", labels=["account", "job", "state"])
    results = GaugeMetricFamily(
        "azbatch_job_completed_tasks", "Completed tasks of a job by result.", labels=["account", "job", "result"]
    )
    as_of = GaugeMetricFamily(
        "azbatch_job_as_of_timestamp_seconds", "As of when a job's counts are.", labels=["account", "job"]
    )
    exact = GaugeMetricFamily("azbatch_job_exact", "1 if a job's counts are exact.", labels=["account", "job"])
    for report in jobs:
        picture = report.job.picture
        if report.job.deleted or picture is None:
            continue
        labels = [report.account.id, report.job.facts.id]
        for state in STATES:
            tasks.add_metric([*labels, state], getattr(picture.counts, state))
        results.add_metric([*labels, "success"], picture.counts.succeeded)
        results.add_metric([*labels, "failure"], picture.counts.failed)
        as_of.add_metric(labels, (report.verdict.as_of or picture.as_of).timestamp())
        exact.add_metric(labels, 1 if report.verdict.level == "exact" else 0)
    return [tasks, results, as_of, exact]
