"""GET accounts/{account}/pools/{pool}/cost: the seconds of a pool's nodes by what they count as."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from functions.api.endpoints import POOL
from functions.api.jobs.history import HistoryQuery, SpanAnswer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, RouteRequest, RouteResponse, Routes
from shared.domain.core.stamps import format_duration
from shared.domain.usage.billing_classes import BILLED, BillingClass
from shared.domain.usage.usage_steps import UsageStep
from shared.services.queries.usage_queries import UsageReport


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
    """The node seconds of a step."""

    node_seconds: NodeSecondsAnswer
    billed_seconds: BilledSecondsAnswer


class PoolCostLine(SpanAnswer):
    """The table columns: a line for each step, kind of nodes and billing class."""

    kind: str
    billing_class: str
    billed: bool
    seconds: float


class PoolCostAnswer(SpanAnswer):
    """A pool's node seconds within a range, in total and by step.

    They are known from `knownSince` on and as of `asOf`, both null before the first poll that counts. A deleted pool
    has them for four days after its last one.
    """

    account: str
    pool: str
    deleted: bool
    as_of: datetime | None
    known_since: datetime | None
    step: str
    node_seconds: NodeSecondsAnswer
    billed_seconds: BilledSecondsAnswer
    value: list[PoolCostStepAnswer]


def add_pool_cost(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/cost", query=CostQuery, returns=PoolCostAnswer, cacheable=True)
    async def get_pool_cost(call: RouteRequest[CostQuery, None]) -> PoolCostAnswer | RouteResponse:
        """Returns how long a pool's nodes ran tasks, were idle, started, or were there for nothing, by the hour."""
        services = await call.services()
        found = await services.usage.of_pool(call.path["account"], call.path["pool"], **call.query.range)
        if call.query.format == "csv":
            return csv_reply(Page(value=[line for step in found.steps for line in _lines(step)]), PoolCostLine)
        return _answer(found)


def _answer(report: UsageReport) -> PoolCostAnswer:
    return PoolCostAnswer(
        account=report.account_id,
        pool=report.pool_id,
        deleted=report.deleted,
        as_of=report.as_of,
        known_since=report.since,
        since=report.total.since,
        until=report.total.until,
        step=format_duration(timedelta(hours=report.wanted.step)),
        node_seconds=_node_seconds(report.total),
        billed_seconds=_billed_seconds(report.total),
        value=[
            PoolCostStepAnswer(
                since=step.since,
                until=step.until,
                node_seconds=_node_seconds(step),
                billed_seconds=_billed_seconds(step),
            )
            for step in report.steps
        ],
    )


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
