"""The JSON of a forecast to the month's end, in answers about accounts and budgets."""

from decimal import Decimal

from functions.api.cost.account_cost import rounded
from functions.http.answers import Answer
from shared.domain.cost.cost_summary import CostForecast


class CostForecastAnswer(Answer):
    """The month's costs at its end: with each day left like the mean, cheapest and dearest of the last full `days`."""

    amount: Decimal
    low: Decimal
    high: Decimal
    days: int


def cost_forecast(found: CostForecast) -> CostForecastAnswer:
    return CostForecastAnswer(
        amount=rounded(found.amount), low=rounded(found.low), high=rounded(found.high), days=found.days
    )
