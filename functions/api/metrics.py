"""GET metrics: Prometheus text, rendered from what is stored at each scrape, so that nothing outlives its source."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from functions.api.account_series import ACCOUNT_SERIES, SeenAccount
from functions.api.job_series import JOB_SERIES, SeenJob
from functions.http import Call, Query, Routes
from shared.domain.reports import AccountReport, JobReport


class _Families(Collector):
    """One family after the other: of thousands of jobs all of them at once would take a lot of memory."""

    def __init__(self, accounts: Sequence[SeenAccount], jobs: Sequence[SeenJob]) -> None:
        self._accounts = accounts
        self._jobs = jobs

    def collect(self) -> Iterator[Metric]:
        yield from (series.family(self._accounts) for series in ACCOUNT_SERIES)
        yield from (series.family(self._jobs) for series in JOB_SERIES)


def add_metrics(routes: Routes) -> None:
    @routes.route("GET", "metrics", returns=str, media=CONTENT_TYPE_PLAIN_0_0_4, repeats=True)
    async def get_metrics(call: Call[Query, None]) -> str:
        """All series in the Prometheus text format."""
        services = await call.services()
        accounts = await services.queries.accounts()
        jobs = [job for report in accounts for job in await services.queries.jobs(report.account.id)]
        now = await services.clock.now()
        return await asyncio.to_thread(render, accounts, jobs, now)  # a second for 3,000 jobs: others shan't wait


def render(accounts: Sequence[AccountReport], jobs: Sequence[JobReport], now: datetime) -> str:
    """The exposition text of every series. Jobs that are deleted, or over for long, have none."""
    seen = [job for report in jobs if (job := SeenJob.of(report, now))]
    return generate_latest(_Families([SeenAccount(report, now) for report in accounts], seen)).decode()
