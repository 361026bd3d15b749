"""GET, PUT, DELETE accounts/{account}/budgets/{budget}: monthly budgets, and what was spent of them."""

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from functions.api.cost.account_cost import rounded
from functions.api.cost.cost_forecasts import CostForecastAnswer, cost_forecast
from functions.api.endpoints import ACCOUNT
from functions.http.answers import Answer, UnreadableAnswer
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import BadRequestError
from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.budgets import Budget, BudgetScope, BudgetState, BudgetStatus
from shared.services.cost.budget_queries import BudgetReport

_BUDGET = f"{ACCOUNT}/budgets/{{budget}}"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_AMOUNT, _MAX_DIGITS = Decimal(10) ** 12, 6
_Id = Annotated[str, Meta(min_length=1, max_length=500)]
_Amount = Annotated[Decimal, Meta(description="Money for a month: above 0, at most six digits after the point.")]


class BudgetRequest(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """A monthly budget of the account, or of a `pool` or a job `schedule`, by id.

    `currency` is that of prices if it is omitted, and no other is accepted.
    """

    amount: _Amount
    currency: str | UnsetType = UNSET
    pool: _Id | UnsetType = UNSET
    schedule: _Id | UnsetType = UNSET


class BudgetAnswer(Answer):
    """A monthly budget and what was spent of it this month (UTC) so far, estimated as in `cost`.

    `scope` says for what: the account, or the pool or job schedule with the id `target`. `state` is `exceeded`,
    `willExceed` as the forecast goes, `within`, or `unknown`. `reason` says why it is unknown, or that the pool or job
    schedule had no usage, as with a mistyped id. `exceededOn` is the day (UTC) with whose costs the sum exceeds the
    amount. `share` is the spent part of the amount, 1 for all of it. The forecast is null before three full days are
    known. `unpricedSeconds` of nodes have no price, and aren't in `spent`.
    """

    name: str
    scope: BudgetScope
    target: str | None
    amount: Decimal
    currency: str
    state: BudgetStatus
    spent: Decimal | None
    share: float | None
    forecast: CostForecastAnswer | None
    exceeded_on: date | None
    unpriced_seconds: float
    reason: str | None
    changed_at: datetime


def add_budgets(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/budgets", returns=Page[BudgetAnswer], cacheable=True)
    async def list_budgets(call: RouteRequest[Query, None]) -> Page[BudgetAnswer]:
        """Returns an account's budgets, with what was spent of each this month, by name."""
        services = await call.services()
        found = await services.budgets.of_account(call.path["account"])
        unreadable = [UnreadableAnswer(id=row.id, reason=row.why) for row in found.unreadable]
        return Page(value=budget_answers(found), count=len(found.states), unreadable=unreadable or None)

    @routes.route("GET", _BUDGET, returns=BudgetAnswer, cacheable=True)
    async def get_budget(call: RouteRequest[Query, None]) -> BudgetAnswer:
        """Returns a budget, with what was spent of it this month."""
        services = await call.services()
        return _answer(await services.budgets.budget(call.path["account"], call.path["budget"]))

    @routes.route("PUT", _BUDGET, body=BudgetRequest, returns=BudgetAnswer, refusals=(409,))
    async def put_budget(call: RouteRequest[Query, BudgetRequest]) -> BudgetAnswer:
        """Sets a monthly budget of an account, or of one of its pools or job schedules."""
        services = await call.services()
        budget = _budget(call.path["budget"], call.body, currency=call.runtime.settings.price_currency)
        return _answer(await services.budgets.put(call.path["account"], budget))

    @routes.route("DELETE", _BUDGET, returns=None, statuses=(204,))
    async def delete_budget(call: RouteRequest[Query, None]) -> RouteResponse:
        """Deletes a budget; one that isn't there is no error."""
        services = await call.services()
        await services.budgets.delete(call.path["account"], call.path["budget"])
        return RouteResponse("", media="application/json")


def budget_answers(report: BudgetReport) -> list[BudgetAnswer]:
    return [_answer(state) for state in report.states]


def _answer(state: BudgetState) -> BudgetAnswer:
    budget = state.budget
    return BudgetAnswer(
        name=budget.name,
        scope=budget.scope,
        target=budget.target or None,
        amount=budget.amount,
        currency=budget.currency,
        state=state.status,
        spent=None if state.spent is None else rounded(state.spent),
        share=state.share,
        forecast=cost_forecast(state.forecast) if state.forecast else None,
        exceeded_on=state.exceeded_on,
        unpriced_seconds=state.unpriced / 1000,
        reason=state.reason or None,
        changed_at=budget.changed_at.astimezone(UTC),
    )


def _budget(name: str, body: BudgetRequest, *, currency: str) -> Budget:
    """Returns the budget that a body describes. Raises BadRequestError."""
    if not _NAME.fullmatch(name):
        raise BadRequestError("A budget's name has 1 to 64 letters, digits, - and _.", target="budget")
    if body.currency not in {UNSET, currency}:
        raise BadRequestError(f"Prices are in {currency} (PRICE_CURRENCY), so a budget is, too.", target="currency")
    amount = body.amount
    if not (amount.is_finite() and 0 < amount <= _MAX_AMOUNT and amount == round(amount, _MAX_DIGITS)):
        raise BadRequestError(
            f"An amount is above 0, at most {_MAX_AMOUNT}, with at most {_MAX_DIGITS} digits after the point.",
            target="amount",
        )
    targets: dict[BudgetScope, str | UnsetType] = {"pool": body.pool, "schedule": body.schedule}
    given = {scope: target for scope, target in targets.items() if target is not UNSET}
    if len(given) > 1:
        raise BadRequestError("A budget is for one pool or one job schedule, not for both.", target="schedule")
    scope, target = next(iter(given.items()), ("account", ""))
    if not str(target).isprintable():
        raise BadRequestError(f"The id in '{scope}' has characters that no id has.", target=scope)
    return Budget(name, scope, str(target), amount, currency, from_milliseconds(0))
