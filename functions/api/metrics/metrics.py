"""GET metrics: Prometheus text rendered from storage at each scrape, so that no series outlives its source."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from functions.api.metrics.account_series import ACCOUNT_SERIES, SeenAccount
from functions.api.metrics.ingestion_series import INGESTION_SERIES
from functions.api.metrics.job_series import JOB_SERIES, SeenJob
from functions.api.metrics.pool_series import POOL_ROUND_SERIES, POOL_SERIES, SeenPoolRound
from functions.api.metrics.schedule_series import (
    SCHEDULE_ROUND_SERIES,
    SCHEDULE_SERIES,
    SCHEDULE_STATE_SERIES,
    SeenScheduleRound,
    by_state,
)
from functions.http.handling import Query, RouteRequest, Routes
from shared.domain.blobs.sweeps import IngestionReport
from shared.domain.reports.reports import AccountReport, JobReport, PoolReport
from shared.domain.reports.schedule_reports import ScheduleReport

_LOOKS = re.compile(
    rb"^azbatch_(?:(?:job|pool|schedule)_as_of_timestamp_seconds|job_task_read_\w+"
    rb"|collector_(?:duration_seconds|polled_jobs|\w*calls"
    rb"|(?:last_success|log_swept|telemetry_swept)_timestamp_seconds)){.*} .*$",
    re.MULTILINE,
)
"""Matches samples that depend only on when and how data was polled."""


class _Families(Collector):
    """Yields one metric family after the other, as those of thousands of jobs together would take much memory."""

    def __init__(
        self,
        accounts: Sequence[SeenAccount],
        jobs: Sequence[SeenJob],
        pools: Sequence[PoolReport],
        over_pools: Sequence[SeenPoolRound],
        *,
        schedules: Sequence[ScheduleReport],
        over_schedules: Sequence[SeenScheduleRound],
        taken_in: Sequence[IngestionReport],
    ) -> None:
        self._accounts, self._jobs = accounts, jobs
        self._pools, self._over_pools = pools, over_pools
        self._schedules, self._over_schedules = schedules, over_schedules
        self._taken_in = taken_in

    def collect(self) -> Iterator[Metric]:
        yield from (series.family(self._accounts) for series in ACCOUNT_SERIES)
        yield from (series.family(self._over_pools) for series in POOL_ROUND_SERIES)
        yield from (series.family(self._taken_in) for series in INGESTION_SERIES)
        yield from (series.family(self._jobs) for series in JOB_SERIES)
        yield from (series.family(self._pools) for series in POOL_SERIES)
        yield from (series.family(self._over_schedules) for series in SCHEDULE_ROUND_SERIES)
        yield from (series.family(by_state(self._schedules)) for series in SCHEDULE_STATE_SERIES)
        yield from (series.family(self._schedules) for series in SCHEDULE_SERIES)


def add_metrics(routes: Routes) -> None:
    @routes.route("GET", "metrics", returns=str, media=CONTENT_TYPE_PLAIN_0_0_4, repeats=True, looks=_LOOKS)
    async def get_metrics(call: RouteRequest[Query, None]) -> str:
        """Returns all series of the accounts that the caller may read, in the Prometheus text format."""
        services = await call.services()
        accounts = await services.queries.accounts(call.readable)
        found = [await services.schedules.with_jobs(report.account.id) for report in accounts]
        jobs = [job for own, _ in found for job in own]
        schedules = [schedule for _, own in found for schedule in own]
        pools = [pool for report in accounts for pool in await services.pools.pools(report.account.id)]
        rounds = await services.pools.last_rounds(call.readable)
        over_pools = [SeenPoolRound(account, last) for account, last in rounds.items() if last]
        looks = await services.schedules.last_rounds(call.readable)
        over_schedules = [SeenScheduleRound(account, last) for account, last in looks.items() if last]
        taken_in = await services.events.all_ingestion(call.readable)
        now = await services.clock.now()
        # Rendering 3,000 jobs takes a second, which would block the event loop.
        return await asyncio.to_thread(
            render,
            accounts,
            jobs,
            now,
            pools=pools,
            over_pools=over_pools,
            schedules=schedules,
            over_schedules=over_schedules,
            taken_in=taken_in,
        )


def render(
    accounts: Sequence[AccountReport],
    jobs: Sequence[JobReport],
    now: datetime,
    *,
    pools: Sequence[PoolReport] = (),
    over_pools: Sequence[SeenPoolRound] = (),
    schedules: Sequence[ScheduleReport] = (),
    over_schedules: Sequence[SeenScheduleRound] = (),
    taken_in: Sequence[IngestionReport] = (),
) -> str:
    """Returns the exposition text of all series; deleted jobs and jobs completed long ago have none."""
    seen = [job for report in jobs if (job := SeenJob.of(report, now))]
    watched = [SeenAccount(report, now) for report in accounts]
    families = _Families(
        watched, seen, pools, over_pools, schedules=schedules, over_schedules=over_schedules, taken_in=taken_in
    )
    return generate_latest(families).decode()
