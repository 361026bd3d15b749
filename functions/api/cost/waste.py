"""GET accounts/{account}/cost/waste: what nodes did without a result, what that costs, and what to do about it."""

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from functions.api.cost.account_cost import rounded
from functions.api.endpoints import ACCOUNT
from functions.api.jobs.explanation import FindingAnswer, finding_answer
from functions.http.answers import Answer, utc
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.lists import ListSection
from functions.http.parameters import BadRequestError, Format, Key, PageSize
from shared.domain.cost.waste.evidence import Waste
from shared.services.cost.waste_queries import WasteReport

_POSITION = re.compile(r"[0-9]{1,6}")


class WasteQuery(Query):
    """JSON or a table, and the page."""

    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""

    def section(self, found: Sequence[Waste]) -> ListSection[Waste]:
        """Returns the page of findings in their order. Raises BadRequestError."""
        if self.continuation and not _POSITION.fullmatch(self.continuation):
            raise BadRequestError("Take the continuation from the nextLink of a page.", target="continuation")
        start = int(self.continuation or 0)
        end = start + self.maxpagesize
        return ListSection(list(found[start:end]), len(found), str(end) if end < len(found) else None)


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


class WasteAnswer(Page[WasteFindingAnswer], kw_only=True):
    """A page of the findings on waste, the dearest first. They overlap, so their amounts have no sum.

    They rest on `days` (UTC), the full ones of the last seven; with today and days that may have been watched in part,
    and without amounts of a month, where fewer than three `fullDays` are stored. `asOf` is null without any.
    """

    account: str
    currency: str
    as_of: datetime | None
    days: list[date]
    full_days: int


def add_waste(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/cost/waste", query=WasteQuery, returns=WasteAnswer, cacheable=True)
    async def list_waste(call: RouteRequest[WasteQuery, None]) -> WasteAnswer | RouteResponse:
        """Lists what nodes did without a result, with the money for a month and advice, the dearest first."""
        services = await call.services()
        found = await services.waste.of_account(call.path["account"])
        section = call.query.section(found.found)
        answer = _answer(found, section, call.next_link(section.continuation))
        if call.query.format == "csv":
            lines = [WasteLine.of(one, currency=found.currency) for one in answer.value]
            return csv_reply(Page(value=lines, next_link=answer.next_link, count=answer.count), WasteLine)
        return answer


def _answer(report: WasteReport, section: ListSection[Waste], next_link: str | None) -> WasteAnswer:
    e = report.evidence
    return WasteAnswer(
        account=report.account.id,
        currency=report.currency,
        as_of=utc(e.as_of) if e else None,
        days=list(e.days) if e else [],
        full_days=e.full_days if e else 0,
        value=list(map(_finding, section.shown)),
        count=section.count,
        next_link=next_link,
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


def _rounded(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else rounded(amount)
