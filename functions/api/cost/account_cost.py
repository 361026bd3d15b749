"""GET accounts/{account}/cost: what an account's nodes cost, by pool, job, schedule, VM size, class or day."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from functions.api.endpoints import ACCOUNT
from functions.api.jobs.history import Range, SpanAnswer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import BadRequestError, Format, Time, given
from shared.domain.core.stamps import format_duration
from shared.domain.cost.cost_groups import GROUPINGS, CostGroup, CostSum, Grouping, LabelGrouping
from shared.domain.cost.cost_ranges import CostRange
from shared.domain.cost.priced_days import Sharing
from shared.domain.prices.price_keys import NO_PRICE, NoPriceReason
from shared.services.cost.cost_queries import CostReport

_Step = Annotated[timedelta, Meta(description="Whole days, such as P1D or P7D, or PT1H for seven days at most.")]
_Grouping = Annotated[
    str,
    Meta(
        description="What each group is: "
        + ", ".join(GROUPINGS)
        + ", or metadata:NAME or tag:NAME of a name in COST_LABELS."
    ),
]
SharingParameter = Annotated[
    Sharing,
    Meta(
        description="How the cost of time that no task held is shared among the jobs with tasks on that day on nodes of"
        " that pool, VM size and priority."
    ),
]
_DIGITS = Decimal("1e-6")
_TABLES = ("usage", "prices")
_REUSE_SECONDS = 60.0  # usage is rolled up every hour
_ERA = date(1970, 1, 1).toordinal()


class AccountCostQuery(Query):
    """The days (UTC), by default the last 30 with today, the step, the grouping and the sharing among jobs."""

    since: Time | UnsetType = field(default=UNSET, name="from")
    until: Time | UnsetType = field(default=UNSET, name="to")
    step: _Step | UnsetType = UNSET
    group_by: _Grouping = field(default="pool", name="groupBy")
    sharing: SharingParameter = "proportional"
    format: Format = "json"

    @property
    def range(self) -> Range:
        return Range(since=given(self.since), until=given(self.until), step=given(self.step))


class CostSumAnswer(Answer):
    """Money and seconds of nodes by cost class.

    `amount` is null where no time has a price, and where no usage is stored, and so are the amounts below. It lacks
    `unpricedSeconds`, whose price isn't known, and `uncertainAmount`, the price of time in which nobody watched.
    `wastedAmount` is that of failed, retried and interrupted runs, idle nodes and slots, failed start tasks and
    unusable nodes. `sharedAmount` is a job's share of time that no task held. `coreSeconds` are vCPUs times seconds of
    billed nodes, `busyCoreSeconds` those that tasks held by their slots, both without nodes of sizes whose vCPUs aren't
    known.
    """

    amount: Decimal | None
    wasted_amount: Decimal | None
    shared_amount: Decimal | None
    uncertain_amount: Decimal | None
    unpriced_seconds: float
    amounts: dict[str, Decimal]
    node_seconds: dict[str, float]
    core_seconds: float
    busy_core_seconds: float


class CostStepAnswer(SpanAnswer):
    """The costs of a step."""

    cost: CostSumAnswer


class CostGroupAnswer(Answer):
    """The costs of a group, in total and by step; steps without any are left out.

    `name` is empty for what belongs to no job, to no job schedule, or to nodes of unknown size.
    """

    name: str
    cost: CostSumAnswer
    steps: list[CostStepAnswer]


class UnpricedAnswer(Answer):
    """Seconds of nodes without a price, and why."""

    vm_size: str
    dedicated: bool
    seconds: float
    reason: NoPriceReason
    detail: str


class CostLineAnswer(SpanAnswer):
    """The table columns: a line for each group, step and cost class; `amount` lacks `unpricedSeconds` of `seconds`."""

    group: str
    cost_class: str
    amount: Decimal | None
    currency: str
    seconds: float
    unpriced_seconds: float


class AccountCostAnswer(SpanAnswer):
    """Costs within a range, at list prices or those of PRICE_FILE: an estimate, not the bill.

    Groups are in the order of their amounts. Usage is rolled up every hour: `asOf` is its time for the last day, null
    without any. `missingDays` have no stored usage. `labels` are the names in COST_LABELS.
    """

    account: str
    currency: str
    as_of: datetime | None
    group_by: str
    step: str
    cost: CostSumAnswer
    steps: list[CostStepAnswer]
    value: list[CostGroupAnswer]
    unpriced: list[UnpricedAnswer]
    missing_days: list[date]
    labels: list[str]


def add_account_cost(routes: Routes) -> None:
    @routes.route(
        "GET",
        f"{ACCOUNT}/cost",
        query=AccountCostQuery,
        returns=AccountCostAnswer,
        cacheable=True,
        depends_on_tables=_TABLES,
        reuse_seconds=_REUSE_SECONDS,
    )
    async def get_account_cost(call: RouteRequest[AccountCostQuery, None]) -> AccountCostAnswer | RouteResponse:
        """Returns what an account's nodes cost, and what of it was wasted, by day and group."""
        services, query = await call.services(), call.query
        found = await services.costs.of_account(
            call.path["account"], _grouping(query.group_by), query.sharing, **query.range
        )
        if query.format == "csv":
            return csv_reply(Page(value=list(_table(found))), CostLineAnswer)
        return _answer(found, query.group_by)


def _grouping(text: str) -> Grouping | LabelGrouping:
    """Returns what groups are. Raises BadRequestError."""
    source, _, name = text.partition(":")
    if name and source == "tag":
        return LabelGrouping("tag", name)
    if name and source == "metadata":
        return LabelGrouping("metadata", name)
    for one in GROUPINGS:
        if one == text:
            return one
    raise BadRequestError(
        f"The query parameter 'groupBy' can't be '{text}'; it is one of {', '.join(GROUPINGS)}, metadata:NAME or"
        " tag:NAME.",
        target="groupBy",
    )


def _answer(report: CostReport, group_by: str) -> AccountCostAnswer:
    wanted, table = report.wanted, report.table
    groups = sorted(table.groups.items(), key=lambda one: (-(one[1].total.amount or 0), one[0]))
    return AccountCostAnswer(
        account=report.account.id,
        currency=report.currency,
        as_of=report.as_of,
        since=wanted.since,
        until=wanted.until,
        group_by=group_by,
        step=format_duration(wanted.step),
        cost=cost_sum(table.total.total, is_known=report.as_of is not None),
        steps=cost_steps(table.total, wanted),
        value=[_group(name, one, wanted) for name, one in groups],
        unpriced=[
            UnpricedAnswer(
                vm_size=size, dedicated=dedicated, seconds=time / 1000, reason=reason, detail=NO_PRICE[reason]
            )
            for (size, dedicated, reason), time in sorted(table.unpriced.items())
        ],
        missing_days=dates_of(report.missing),
        labels=list(report.labels),
    )


def _group(name: str, group: CostGroup, wanted: CostRange) -> CostGroupAnswer:
    return CostGroupAnswer(name=name, cost=cost_sum(group.total), steps=cost_steps(group, wanted))


def cost_steps(group: CostGroup, wanted: CostRange) -> list[CostStepAnswer]:
    return [
        CostStepAnswer(since=at.astimezone(UTC), until=wanted.end_of(at), cost=cost_sum(found))
        for at, found in sorted(group.steps.items())
    ]


def cost_sum(found: CostSum, *, is_known: bool = True) -> CostSumAnswer:
    """Returns sums; without stored usage their amounts aren't known."""
    is_known &= found.amount is not None
    return CostSumAnswer(
        amount=_if_known(found.amount, is_known=is_known),
        wasted_amount=_if_known(found.wasted, is_known=is_known),
        shared_amount=_if_known(found.shared, is_known=is_known),
        uncertain_amount=_if_known(found.uncertain, is_known=is_known or found.uncertain > 0),
        unpriced_seconds=found.unpriced / 1000,
        amounts={name: rounded(amount) for name, amount in sorted(found.amounts.items())},
        node_seconds={name: time / 1000 for name, time in sorted(found.times.items())},
        core_seconds=found.core_time / 1000,
        busy_core_seconds=found.busy_core_time / 1000,
    )


def _if_known(amount: Decimal | None, *, is_known: bool) -> Decimal | None:
    return rounded(amount) if is_known and amount is not None else None


def _table(report: CostReport) -> Iterator[CostLineAnswer]:
    for name, group in sorted(report.table.groups.items()):
        for at, found in sorted(group.steps.items()):
            for cost_class, time in sorted(found.times.items()):
                amount = found.amounts.get(cost_class)
                yield CostLineAnswer(
                    since=at,
                    until=report.wanted.end_of(at),
                    group=name,
                    cost_class=cost_class,
                    amount=None if amount is None else rounded(amount),
                    currency=report.currency,
                    seconds=time / 1000,
                    unpriced_seconds=found.unpriced_times.get(cost_class, 0) / 1000,
                )


def dates_of(days: Iterable[int]) -> list[date]:
    """Returns the dates of days since 1970."""
    return [date.fromordinal(_ERA + day) for day in days]


def rounded(amount: Decimal) -> Decimal:
    """Returns an amount with six digits after the point."""
    return amount.quantize(_DIGITS)
