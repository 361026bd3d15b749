"""GET accounts/{account}/pools/{pool}/cost: a pool's node seconds by what they count as, and their cost."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal

from functions.api.cost.account_cost import rounded
from functions.api.endpoints import POOL
from functions.api.jobs.history import HistoryQuery, SpanAnswer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, RouteRequest, RouteResponse, Routes
from shared.domain.core.stamps import format_duration
from shared.domain.cost.pool_costs import BilledCost
from shared.domain.usage.billing_classes import BILLED, BillingClass
from shared.domain.usage.usage_steps import UsageStep
from shared.services.cost.cost_queries import PoolCostReport


class CostQuery(HistoryQuery):
    """The range in whole hours and the step; by default today (UTC) in steps of an hour."""


class NodeSecondsAnswer(Answer):
    """Seconds of dedicated and of spot nodes by billing class, without classes that have none."""

    dedicated: dict[str, float]
    spot: dict[str, float]


class BilledSecondsAnswer(Answer):
    """Seconds in which dedicated and spot nodes certainly had a machine that costs."""

    dedicated: float
    spot: float


class PoolCostStepAnswer(SpanAnswer):
    """The node seconds of a step, and the money for billed ones; null where no price is known for any of them."""

    node_seconds: NodeSecondsAnswer
    billed_seconds: BilledSecondsAnswer
    amount: Decimal | None
    unpriced_seconds: float | None


class PoolCostLine(SpanAnswer):
    """The table columns: a line for each step, kind of nodes and billing class."""

    kind: str
    billing_class: str
    billed: bool
    seconds: float


class PoolCostAnswer(SpanAnswer):
    """A pool's node seconds within a range, in total and by step.

    They are known from `knownSince` on and as of `asOf`, both null before the first poll that counts. A deleted pool
    has them for four days after its last one. `amount` is the money for billed seconds, without `unpricedSeconds`; both
    are null for a deleted pool whose size and system are forgotten.
    """

    account: str
    pool: str
    deleted: bool
    as_of: datetime | None
    known_since: datetime | None
    step: str
    node_seconds: NodeSecondsAnswer
    billed_seconds: BilledSecondsAnswer
    amount: Decimal | None
    unpriced_seconds: float | None
    currency: str
    value: list[PoolCostStepAnswer]


def add_pool_cost(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/cost", query=CostQuery, returns=PoolCostAnswer, cacheable=True)
    async def get_pool_cost(call: RouteRequest[CostQuery, None]) -> PoolCostAnswer | RouteResponse:
        """Returns how long a pool's nodes ran tasks, were idle, started, or were there for nothing, by the hour."""
        services = await call.services()
        found = await services.costs.of_pool(call.path["account"], call.path["pool"], **call.query.range)
        if call.query.format == "csv":
            return csv_reply(Page(value=[line for step in found.usage.steps for line in _lines(step)]), PoolCostLine)
        return _answer(found)


def _answer(report: PoolCostReport) -> PoolCostAnswer:
    usage = report.usage
    return PoolCostAnswer(
        account=usage.account.id,
        pool=usage.pool_id,
        deleted=usage.facts is None,
        as_of=usage.as_of,
        known_since=usage.since,
        since=usage.total.since,
        until=usage.total.until,
        step=format_duration(timedelta(hours=usage.wanted.step)),
        node_seconds=_node_seconds(usage.total),
        billed_seconds=_billed_seconds(usage.total),
        amount=_amount(report.total),
        unpriced_seconds=_unpriced(report.total),
        currency=report.currency,
        value=[_step(step, cost) for step, cost in zip(usage.steps, report.steps, strict=True)],
    )


def _step(step: UsageStep, cost: BilledCost | None) -> PoolCostStepAnswer:
    return PoolCostStepAnswer(
        since=step.since,
        until=step.until,
        node_seconds=_node_seconds(step),
        billed_seconds=_billed_seconds(step),
        amount=_amount(cost),
        unpriced_seconds=_unpriced(cost),
    )


def _amount(cost: BilledCost | None) -> Decimal | None:
    return None if cost is None or cost.known is None else rounded(cost.known)


def _unpriced(cost: BilledCost | None) -> float | None:
    return None if cost is None else _seconds(cost.unpriced)


def _node_seconds(step: UsageStep) -> NodeSecondsAnswer:
    kinds = [_seconds_by_class(step.of_kind(dedicated=dedicated)) for dedicated in (True, False)]
    return NodeSecondsAnswer(dedicated=kinds[0], spot=kinds[1])


def _billed_seconds(step: UsageStep) -> BilledSecondsAnswer:
    return BilledSecondsAnswer(
        dedicated=_seconds(step.billed(dedicated=True)), spot=_seconds(step.billed(dedicated=False))
    )


def _lines(step: UsageStep) -> Iterator[PoolCostLine]:
    for kind in ("dedicated", "spot"):
        for name, amount in step.of_kind(dedicated=kind == "dedicated").items():
            yield PoolCostLine(
                since=step.since,
                until=step.until,
                kind=kind,
                billing_class=name,
                billed=name in BILLED,
                seconds=_seconds(amount),
            )


def _seconds_by_class(amounts: Mapping[BillingClass, int]) -> dict[str, float]:
    return {name: _seconds(amount) for name, amount in amounts.items()}


def _seconds(milliseconds: int) -> float:
    return milliseconds / 1000
