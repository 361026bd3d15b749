"""GET accounts/{account}/cost/summary: an account's costs of today, yesterday and the month, and a forecast."""

from datetime import date, datetime
from decimal import Decimal

from functions.api.cost.account_cost import dates_of, rounded
from functions.api.cost.budgets import BudgetAnswer, budget_answers
from functions.api.cost.cost_forecasts import CostForecastAnswer, cost_forecast
from functions.api.endpoints import ACCOUNT
from functions.http.answers import Answer, utc
from functions.http.handling import Query, RouteRequest, Routes
from shared.services.cost.budget_queries import BudgetReport
from shared.services.cost.cost_queries import CostSummaryReport


class CostSummaryAnswer(Answer):
    """Costs of days (UTC) so far, estimated as in `cost`; null where none are known.

    The forecast is null before three full days are known. `unpricedSeconds` of nodes have no price, and aren't in it.
    `missingDays` of the month and of the eight days before today have no stored usage.
    """

    account: str
    currency: str
    as_of: datetime | None
    today: Decimal | None
    yesterday: Decimal | None
    month: Decimal | None
    forecast: CostForecastAnswer | None
    unpriced_seconds: float
    missing_days: list[date]
    budgets: list[BudgetAnswer]


def add_cost_summary(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/cost/summary", returns=CostSummaryAnswer, cacheable=True)
    async def get_cost_summary(call: RouteRequest[Query, None]) -> CostSummaryAnswer:
        """Returns what an account cost today, yesterday and this month, and what it will at the month's end."""
        services = await call.services()
        account = call.path["account"]
        return _answer(await services.costs.summary(account), await services.budgets.of_account(account))


def _answer(report: CostSummaryReport, budgets: BudgetReport) -> CostSummaryAnswer:
    found = report.summary
    return CostSummaryAnswer(
        account=report.account.id,
        currency=report.currency,
        as_of=utc(report.as_of),
        today=_or_none(found.today),
        yesterday=_or_none(found.yesterday),
        month=_or_none(found.month),
        forecast=cost_forecast(found.forecast) if found.forecast else None,
        unpriced_seconds=report.unpriced / 1000,
        missing_days=dates_of(report.missing),
        budgets=budget_answers(budgets),
    )


def _or_none(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else rounded(amount)
