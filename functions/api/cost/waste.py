"""GET accounts/{account}/cost/waste: what nodes did without a result, what that costs, and what to do about it."""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

from functions.api.cost.account_cost import rounded
from functions.api.endpoints import ACCOUNT
from functions.api.jobs.explanation import FindingAnswer, finding_answer
from functions.http.answers import Answer, utc
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format
from shared.domain.cost.waste.evidence import Waste
from shared.services.cost.waste_queries import WasteReport


class WasteQuery(Query):
    """JSON or a table."""

    format: Format = "json"


class WasteFindingAnswer(FindingAnswer):
    """A finding about a pool or a job, named by `scope` and `id`, with its cost on the days seen.

    `amount` is the money of `nodeSeconds`, null where none has a price; it lacks `unpricedSeconds`. `monthlyAmount` is
    that of 30 such days, null before three full days too.
    """

    scope: str
    id: str
    amount: Decimal | None
    monthly_amount: Decimal | None
    node_seconds: float
    unpriced_seconds: float


class WasteLine(Answer):
    """The table columns."""

    code: str
    scope: str
    id: str
    monthly_amount: Decimal | None
    amount: Decimal | None
    currency: str
    node_seconds: float
    unpriced_seconds: float
    title: str
    detail: str
    advice: str


class WasteAnswer(Answer):
    """Findings on waste, the dearest first. They overlap, so their amounts have no sum.

    They rest on `days` (UTC), at most the last seven full ones; with today, and without amounts of a month, where fewer
    than three `fullDays` are stored. `asOf` is null without any.
    """

    account: str
    currency: str
    as_of: datetime | None
    days: list[date]
    full_days: int
    value: list[WasteFindingAnswer]


def add_waste(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/cost/waste", query=WasteQuery, returns=WasteAnswer, cacheable=True)
    async def list_waste(call: RouteRequest[WasteQuery, None]) -> WasteAnswer | RouteResponse:
        """Lists what nodes did without a result, with the money for a month and advice, the dearest first."""
        services = await call.services()
        found = await services.waste.of_account(call.path["account"])
        if call.query.format == "csv":
            return csv_reply(Page(value=list(_lines(found))), WasteLine)
        return _answer(found)


def _answer(report: WasteReport) -> WasteAnswer:
    e = report.evidence
    return WasteAnswer(
        account=report.account.id,
        currency=report.currency,
        as_of=utc(e.as_of) if e else None,
        days=list(e.days) if e else [],
        full_days=e.full_days if e else 0,
        value=list(map(_finding, report.found)),
    )


def _finding(one: Waste) -> WasteFindingAnswer:
    return WasteFindingAnswer.of(
        finding_answer(one.finding),
        scope=one.finding.scope.kind,
        id=one.finding.scope.id,
        amount=_rounded(one.cost.amount),
        monthly_amount=_rounded(one.monthly),
        node_seconds=one.cost.time / 1000,
        unpriced_seconds=one.cost.unpriced / 1000,
    )


def _lines(report: WasteReport) -> Iterator[WasteLine]:
    for one in map(_finding, report.found):
        yield WasteLine.of(one, currency=report.currency)


def _rounded(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else rounded(amount)
