"""GET metrics: Prometheus text rendered from storage at each scrape, so that no series outlives its source."""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from functions.api.metrics.account_series import (
    ACCOUNT_FAMILIES,
    POOL_ROUND_FAMILIES,
    SCHEDULE_ROUND_FAMILIES,
    account_samples,
    round_samples,
)
from functions.api.metrics.condition_series import CONDITION_FAMILIES, condition_samples
from functions.api.metrics.cost_series import (
    ACCOUNT_COST_FAMILIES,
    BUDGET_FAMILIES,
    JOB_COST_FAMILIES,
    POOL_COST_FAMILIES,
    account_cost_samples,
    budget_samples,
    job_cost_samples,
    pool_cost_samples,
)
from functions.api.metrics.ingestion_series import INGESTION_FAMILIES, ingestion_samples
from functions.api.metrics.job_series import JOB_FAMILIES, job_samples
from functions.api.metrics.pool_series import POOL_FAMILIES, pool_samples
from functions.api.metrics.quota_series import QUOTA_FAMILIES, quota_samples
from functions.api.metrics.schedule_series import (
    SCHEDULE_FAMILIES,
    SCHEDULE_STATE_FAMILIES,
    schedule_samples,
    state_samples,
)
from functions.api.metrics.series import Families
from functions.api.metrics.utilization_series import (
    NODE_FAMILIES,
    UTILIZATION_FAMILIES,
    node_samples,
    utilization_samples,
)
from functions.http.handling import Query, RouteRequest, Routes
from functions.http.parameters import Ids
from shared.domain.blobs.sweeps import IngestionReport
from shared.domain.conditions.condition import OpenCounts
from shared.domain.core.keys import key_of
from shared.domain.cost.day_costs import DayCosts
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.quotas.account_quotas import Quota
from shared.domain.quotas.quota_use import active_jobs
from shared.domain.reports.reports import AccountReport, JobReport, PoolReport
from shared.domain.reports.schedule_reports import ScheduleReport
from shared.domain.telemetry.pools.pool_reports import PoolUtilization
from shared.errors import NotFoundError
from shared.services.cost.budget_queries import BudgetReport

if TYPE_CHECKING:  # the services are loaded by the first request
    from shared.composition.opening import Services

_LOOKS = re.compile(
    rb"^azbatch_(?:(?:job|pool|schedule|account_cost)_as_of_timestamp_seconds|job_task_read_\w+"
    rb"|collector_(?:duration_seconds|polled_jobs|\w*calls"
    rb"|(?:last_success|log_swept|telemetry_swept)_timestamp_seconds)){.*} .*$",
    re.MULTILINE,
)
"""Matches samples that depend only on when and how data was polled."""


_NONE: Mapping[str, None] = MappingProxyType({})
_NO_COSTS: Mapping[str, DayCosts] = MappingProxyType({})
_NO_CONDITIONS: Mapping[str, OpenCounts] = MappingProxyType({})
_NO_QUOTAS: Mapping[str, Sequence[Quota]] = MappingProxyType({})


_PoolIds = Annotated[
    Ids, Meta(description="Only series of the nodes of pools with these ids, in any case, with commas between them.")
]


class MetricsQuery(Query):
    """By default all series; with pools those of their nodes alone."""

    pool: _PoolIds = ()


def add_metrics(routes: Routes) -> None:
    @routes.route(
        "GET",
        "metrics",
        query=MetricsQuery,
        returns=str,
        media=CONTENT_TYPE_PLAIN_0_0_4,
        cacheable=True,
        looks=_LOOKS,
        refusals=(404,),
    )
    async def get_metrics(call: RouteRequest[MetricsQuery, None]) -> str:
        """Returns all series of the accounts that the caller may read, in the Prometheus text format.

        With `pool` it returns only series of the nodes of pools with these ids, at most 5,000 nodes each.
        """
        services = await call.services()
        if call.query.pool:
            return await _of_nodes(services, call.readable, call.query.pool)
        return await all_series(services, call.readable)


async def all_series(services: "Services", names: Collection[str]) -> str:
    """Returns the text of all series of accounts. Raises StorageError."""
    accounts = await services.queries.accounts(names)
    found = [await services.schedules.with_jobs(report.account.id) for report in accounts]
    ingestion = await services.events.all_ingestion(names)
    # Rendering 3,000 jobs takes a second, which would block the event loop.
    return await asyncio.to_thread(
        render,
        accounts,
        [job for own, _ in found for job in own],
        pools=[pool for report in accounts for pool in await _pools(services, report)],
        pool_rounds=await services.pools.last_rounds(names),
        schedules=[schedule for _, own in found for schedule in own],
        schedule_rounds=await services.schedules.last_rounds(names),
        ingestion=ingestion,
        utilization=await _utilization(services, ingestion),
        costs=await services.todays_costs.of_accounts([report.account for report in accounts]),
        budgets=await services.budgets.of_accounts([report.account for report in accounts]),
        quotas=await _quotas(services, accounts, [schedules for _, schedules in found]),
        conditions=await services.conditions.counts(names),
        now=await services.clock.now(),
    )


async def _pools(services: "Services", report: AccountReport) -> list[PoolReport]:
    """Returns an account's pools with the tasks of their jobs and their latest start-ups."""
    start_ups = await services.start_ups.latest(report.account.id)
    return [
        replace(pool, tasks=report.tasks.of_pool(pool.pool.key), start_ups=start_ups.get(pool.pool.key))
        for pool in await services.pools.pools(report.account.id)
    ]


async def _quotas(
    services: "Services", accounts: Sequence[AccountReport], schedules: Sequence[Sequence[ScheduleReport]]
) -> dict[str, Sequence[Quota]]:
    """Returns the quotas of accounts by id; `schedules` are those of each."""
    return {
        report.account.id: await services.quotas.with_active(
            report.account, active_jobs(report.jobs) + sum(one.schedule.is_live for one in own)
        )
        for report, own in zip(accounts, schedules, strict=True)
    }


async def _utilization(services: "Services", ingestion: Sequence[IngestionReport]) -> list[PoolUtilization]:
    """Returns the utilization of all pools of accounts with telemetry."""
    accounts = [report.account for report in ingestion if report.telemetry and report.telemetry.blobs]
    return [pool for account in accounts for pool in await services.pool_utilization.of_account(account)]


async def _of_nodes(services: "Services", names: Collection[str], pools: Collection[str]) -> str:
    """Returns the text of the nodes of pools with given ids. Raises NotFoundError where there is none."""
    keys = {key_of(pool): pool for pool in pools}
    own: dict[str, set[str]] = {}
    for report in await services.queries.accounts(names):
        known = {one.pool.key for one in await services.pools.pools(report.account.id)} & keys.keys()
        if known:
            own[report.account.id] = known
    if missing := keys.keys() - set().union(*own.values()):
        raise NotFoundError("pool", keys[min(missing)])
    found = [one for account in own for one in await services.pool_utilization.of_account(account)]
    return await asyncio.to_thread(render_nodes, [one for one in found if key_of(one.pool) in keys])


def render_nodes(pools: Sequence[PoolUtilization]) -> str:
    """Returns the exposition text of the nodes of pools."""
    parts = [(NODE_FAMILIES, ("account", "pool"), list(map(node_samples, pools)))]
    return generate_latest(Families(parts)).decode()


def render(
    accounts: Sequence[AccountReport],
    jobs: Sequence[JobReport],
    now: datetime,
    *,
    pools: Sequence[PoolReport] = (),
    pool_rounds: Mapping[str, PoolRound | None] = _NONE,
    schedules: Sequence[ScheduleReport] = (),
    schedule_rounds: Mapping[str, ScheduleRound | None] = _NONE,
    ingestion: Sequence[IngestionReport] = (),
    utilization: Sequence[PoolUtilization] = (),
    costs: Mapping[str, DayCosts] = _NO_COSTS,
    budgets: Sequence[BudgetReport] = (),
    quotas: Mapping[str, Sequence[Quota]] = _NO_QUOTAS,
    conditions: Mapping[str, OpenCounts] = _NO_CONDITIONS,
) -> str:
    """Returns the exposition text of all series; deleted jobs and jobs completed long ago have none."""
    account, job, pool = ("account",), ("account", "job"), ("account", "pool")
    of_jobs = [found for report in jobs if (found := job_samples(report, now))]
    parts = (
        (ACCOUNT_FAMILIES, account, [account_samples(report, now) for report in accounts]),
        (POOL_ROUND_FAMILIES, account, list(round_samples("pools", pool_rounds))),
        (INGESTION_FAMILIES, account, list(map(ingestion_samples, ingestion))),
        (ACCOUNT_COST_FAMILIES, account, list(account_cost_samples(costs))),
        (BUDGET_FAMILIES, ("account", "budget"), list(budget_samples(budgets))),
        (CONDITION_FAMILIES, account, list(condition_samples(conditions))),
        (QUOTA_FAMILIES, ("account", "quota", "family"), list(quota_samples(quotas))),
        (JOB_FAMILIES, job, of_jobs),
        (JOB_COST_FAMILIES, job, list(job_cost_samples(costs, {one.labels for one in of_jobs}))),
        (POOL_FAMILIES, pool, list(map(pool_samples, pools))),
        (POOL_COST_FAMILIES, pool, list(pool_cost_samples(costs))),
        (UTILIZATION_FAMILIES, pool, list(map(utilization_samples, utilization))),
        (SCHEDULE_ROUND_FAMILIES, account, list(round_samples("schedules", schedule_rounds))),
        (SCHEDULE_STATE_FAMILIES, account, list(state_samples(schedules))),
        (SCHEDULE_FAMILIES, ("account", "schedule"), list(map(schedule_samples, schedules))),
    )
    return generate_latest(Families(parts)).decode()
