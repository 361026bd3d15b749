"""GET accounts/{account}/quotas: what an account may have and uses of cores, pools, and active jobs and schedules."""

from datetime import datetime
from typing import Literal

from functions.api.endpoints import ACCOUNT
from functions.api.jobs.explanation import FindingAnswer, finding_answer
from functions.http.answers import Answer, utc
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format
from shared.domain.quotas.account_quotas import NO_LIMIT, NoLimitReason, Quota
from shared.services.quotas.quota_queries import QuotasReport


class QuotasQuery(Query):
    """JSON or a table."""

    format: Format = "json"


class QuotaAnswer(Answer):
    """A quota; `family` names the VM family of `familyCores`. `limit` is null for the reason `noLimit`.

    `share` is the used part of the limit. `reachedAt` is when the limit is reached at the rate of the last days; null
    before three days are known, where use doesn't grow, and where that takes more than a year.
    """

    quota: Literal["dedicatedCores", "spotCores", "familyCores", "pools", "activeJobsAndSchedules"]
    family: str | None
    limit: int | None
    used: int
    share: float | None
    reached_at: datetime | None
    no_limit: NoLimitReason | None
    detail: str | None


class QuotasAnswer(Answer):
    """An account's quotas: limits as of `asOf`, null where they were never read, and the use that is stored now.

    `problem` is a sentence where the last read failed; known limits go on. Cores of `unknownNodes` are in no use.
    """

    account: str
    as_of: datetime | None
    problem: str | None
    allocation_mode: str | None
    unknown_nodes: int
    value: list[QuotaAnswer]
    findings: list[FindingAnswer]


def add_quotas(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/quotas", query=QuotasQuery, returns=QuotasAnswer, cacheable=True)
    async def list_quotas(call: RouteRequest[QuotasQuery, None]) -> QuotasAnswer | RouteResponse:
        """Lists an account's quotas with their limits, what is used, and when a limit will be reached."""
        services = await call.services()
        found = await services.quotas.of_account(call.path["account"])
        if call.query.format == "csv":
            return csv_reply(Page(value=list(map(_quota, found.quotas))), QuotaAnswer)
        return _answer(found)


def _answer(report: QuotasReport) -> QuotasAnswer:
    limits = report.stored.limits
    return QuotasAnswer(
        account=report.account.id,
        as_of=utc(report.as_of),
        problem=report.stored.problem or None,
        allocation_mode=limits.allocation_mode or None if limits else None,
        unknown_nodes=report.unknown_nodes,
        value=list(map(_quota, report.quotas)),
        findings=list(map(finding_answer, report.findings)),
    )


def _quota(quota: Quota) -> QuotaAnswer:
    share = quota.share
    return QuotaAnswer(
        quota=quota.key.name,
        family=quota.key.family or None,
        limit=quota.limit,
        used=quota.used,
        share=None if share is None else round(share, 4),
        reached_at=utc(quota.reached_at),
        no_limit=quota.no_limit,
        detail=NO_LIMIT[quota.no_limit] if quota.no_limit else None,
    )
