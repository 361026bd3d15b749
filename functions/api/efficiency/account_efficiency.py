"""GET accounts/{account}/efficiency: efficiency and waste of jobs over weeks, and the most rewarding changes."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from functions.api.cost.account_cost import dates_of, rounded
from functions.api.efficiency.job_efficiency import UsedSharesAnswer, used_shares_answer
from functions.api.endpoints import ACCOUNT
from functions.api.jobs.history import Range, SpanAnswer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import BadRequestError, Format, Time, given
from shared.domain.core.stamps import format_duration
from shared.domain.cost.cost_groups import LabelGrouping
from shared.domain.findings.thresholds import MIN_MEASURED_RUNS
from shared.services.efficiency.account_efficiency import (
    AccountEfficiencyReport,
    EfficiencyGroup,
    EfficiencySum,
    JobGrouping,
)

_Step = Annotated[timedelta, Meta(description="Whole days, such as P1D or P7D.")]
_Grouping = Annotated[
    str,
    Meta(
        description="What each group is: prefix (of job ids, up to the first digit), schedule, or metadata:NAME or"
        " tag:NAME of a name in COST_LABELS."
    ),
]


class AccountEfficiencyQuery(Query):
    """The days (UTC), by default the last 30 with today, the step and the grouping."""

    since: Time | UnsetType = field(default=UNSET, name="from")
    until: Time | UnsetType = field(default=UNSET, name="to")
    step: _Step | UnsetType = UNSET
    group_by: _Grouping = field(default="prefix", name="groupBy")
    format: Format = "json"

    @property
    def range(self) -> Range:
        return Range(since=given(self.since), until=given(self.until), step=given(self.step))


class EfficiencySumAnswer(Answer):
    """What jobs cost with their share of idle time, what of it was wasted, and what measured runs used.

    Amounts are null where no time has a price, shares with fewer than 20 measured runs. `jobs` is the number of jobs
    with measured runs.
    """

    jobs: int
    measured_runs: int
    amount: Decimal | None
    wasted_amount: Decimal | None
    used_shares: UsedSharesAnswer


class EfficiencyStepAnswer(SpanAnswer):
    """The sums of a step."""

    sums: EfficiencySumAnswer


class EfficiencyGroupAnswer(Answer):
    """The sums of a group, in total and by step; `name` is empty for jobs without one, and for no job."""

    name: str
    sums: EfficiencySumAnswer
    steps: list[EfficiencyStepAnswer]


class SavingAnswer(Answer):
    """A finding's code and advice on a job or a pool; the other one is null.

    `heldAmount` is what the time that it concerns costs, `ownAmount` what of it the change would have saved by itself,
    `amount` what of that is left beside the changes before it. `vmSize` is empty where it isn't about one.
    """

    job: str | None
    pool: str | None
    code: str
    vm_size: str
    title: str
    advice: str
    held_amount: Decimal
    own_amount: Decimal
    amount: Decimal


class EfficiencyGroupLine(SpanAnswer):
    """The table columns: a line for each group and step."""

    group: str
    jobs: int
    measured_runs: int
    amount: Decimal | None
    wasted_amount: Decimal | None
    currency: str
    cpu: float | None
    memory: float | None
    gpu: float | None


class AccountEfficiencyAnswer(SpanAnswer):
    """Efficiency and waste of an account's jobs, the dearest groups first.

    `savings` are the ten changes that would have saved most; no money counts twice. Usage and use are summed up every
    hour: `asOf` is the time of the last usage, null without any. `missingDays` have no stored usage. `labels` are the
    names in COST_LABELS.
    """

    account: str
    currency: str
    as_of: datetime | None
    group_by: str
    step: str
    value: list[EfficiencyGroupAnswer]
    savings: list[SavingAnswer]
    missing_days: list[date]
    labels: list[str]


def add_account_efficiency(routes: Routes) -> None:
    @routes.route(
        "GET",
        f"{ACCOUNT}/efficiency",
        query=AccountEfficiencyQuery,
        returns=AccountEfficiencyAnswer,
        cacheable=True,
        depends_on_tables=("usage", "prices", "attempts"),
        reuse_seconds=60.0,
    )
    async def get_account_efficiency(
        call: RouteRequest[AccountEfficiencyQuery, None],
    ) -> AccountEfficiencyAnswer | RouteResponse:
        """Returns what an account's jobs used of what their slots offer, what was wasted, and what would save most."""
        services, query = await call.services(), call.query
        found = await services.account_efficiency.of_account(
            call.path["account"], _grouping(query.group_by), **query.range
        )
        if query.format == "csv":
            return csv_reply(Page(value=list(_table(found))), EfficiencyGroupLine)
        return _answer(found, query.group_by)


def _grouping(text: str) -> JobGrouping:
    """Returns what groups are. Raises BadRequestError."""
    source, _, name = text.partition(":")
    if text == "prefix":
        return "prefix"
    if text == "schedule":
        return "schedule"
    if name and source == "tag":
        return LabelGrouping("tag", name)
    if name and source == "metadata":
        return LabelGrouping("metadata", name)
    raise BadRequestError(
        f"The query parameter 'groupBy' can't be '{text}'; it is one of prefix, schedule, metadata:NAME or tag:NAME.",
        target="groupBy",
    )


def _answer(report: AccountEfficiencyReport, group_by: str) -> AccountEfficiencyAnswer:
    totals = {name: group.total for name, group in report.groups.items()}
    return AccountEfficiencyAnswer(
        account=report.account.id,
        currency=report.currency,
        as_of=report.as_of,
        since=report.wanted.since,
        until=report.wanted.until,
        group_by=group_by,
        step=format_duration(report.wanted.step),
        value=[
            EfficiencyGroupAnswer(name=name, sums=_sums(totals[name]), steps=list(_steps(report.groups[name], report)))
            for name in sorted(totals, key=lambda name: (-(totals[name].cost.amount or 0), name))
        ],
        savings=[
            SavingAnswer(
                job=one.scope.id if one.scope.kind == "job" else None,
                pool=one.scope.id if one.scope.kind == "pool" else None,
                code=one.code,
                vm_size=one.vm_size,
                title=one.title,
                advice=one.advice,
                held_amount=rounded(one.cost),
                own_amount=rounded(one.own_amount),
                amount=rounded(one.amount),
            )
            for one in report.savings
        ],
        missing_days=dates_of(report.missing),
        labels=list(report.labels),
    )


def _steps(group: EfficiencyGroup, report: AccountEfficiencyReport) -> Iterator[EfficiencyStepAnswer]:
    for at, found in sorted(group.steps.items()):
        yield EfficiencyStepAnswer(since=at.astimezone(UTC), until=report.wanted.end_of(at), sums=_sums(found))


def _sums(found: EfficiencySum) -> EfficiencySumAnswer:
    amount = found.cost.amount
    is_priced = amount is not None and bool(found.cost.times)
    return EfficiencySumAnswer(
        jobs=len(found.jobs),
        measured_runs=found.shares.runs,
        amount=rounded(amount) if amount is not None and is_priced else None,
        wasted_amount=rounded(found.cost.wasted) if is_priced else None,
        used_shares=used_shares_answer(found.shares, enough=found.shares.runs >= MIN_MEASURED_RUNS),
    )


def _table(report: AccountEfficiencyReport) -> Iterator[EfficiencyGroupLine]:
    for name, group in sorted(report.groups.items()):
        for step in _steps(group, report):
            sums = step.sums
            yield EfficiencyGroupLine(
                since=step.since,
                until=step.until,
                group=name,
                jobs=sums.jobs,
                measured_runs=sums.measured_runs,
                amount=sums.amount,
                wasted_amount=sums.wasted_amount,
                currency=report.currency,
                cpu=sums.used_shares.cpu,
                memory=sums.used_shares.memory,
                gpu=sums.used_shares.gpu,
            )
