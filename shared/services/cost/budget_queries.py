"""Budgets of accounts: set and deleted by operators, and what was spent of them this month.

The costs of a month follow from up to 38 stored days. So they are read anew only after a budget, a price, or the usage
of today has changed, which is rolled up once an hour.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import key_of
from shared.domain.cost.budgets import MAX_BUDGETS, Budget, BudgetState, BudgetSubject, Spending, budget_state, spending
from shared.domain.cost.cost_summary import days_of_summary
from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.usage_days import UsageDay
from shared.domain.prices.price_table import PriceTable
from shared.domain.reports.reports import UnreadableRow
from shared.errors import NotFoundError, TooManyBudgetsError
from shared.services.accounts.registry import Registry
from shared.services.prices.price_queries import PriceQueries
from shared.stores.accounts.budgets import BudgetStore
from shared.stores.tables.unreadable import UndecodedRow, unreadable_reports
from shared.stores.usage_days import Part, UsageDayStore

_JOBS: tuple[Part, ...] = ("jobs",)
_ERA = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class BudgetReport:
    """An account's budgets in the order of their keys, and those whose rows can't be read."""

    account: Account
    states: Sequence[BudgetState]
    unreadable: Sequence[UnreadableRow] = ()


class _Basis(NamedTuple):
    """What the costs of a month follow from: they are the same while all of it is."""

    today: date
    etag: str | None
    prices: PriceTable
    subjects: frozenset[BudgetSubject]


class _Known(NamedTuple):
    """The costs of subjects, and what they follow from."""

    basis: _Basis
    spent: Mapping[BudgetSubject, Spending]


class BudgetQueries:
    def __init__(self, registry: Registry, budgets: BudgetStore, days: UsageDayStore, prices: PriceQueries) -> None:
        self._registry = registry
        self._budgets = budgets
        self._days = days
        self._prices = prices
        self._known: dict[str, _Known] = {}

    async def of_account(self, account_id: str) -> BudgetReport:
        """Returns an account's budgets. Raises NotFoundError, StorageError."""
        account = self._registry.account(account_id)
        found, unreadable = await self._budgets.load_all(account.key)
        return await self._report(account, list(found.values()), unreadable)

    async def of_accounts(self, accounts: Sequence[Account]) -> Sequence[BudgetReport]:
        """Returns the budgets of accounts that have any. Raises StorageError."""
        reports = await asyncio.gather(*(self.of_account(account.id) for account in accounts))
        return [report for report in reports if report.states]

    async def budget(self, account_id: str, name: str) -> BudgetState:
        """Returns a budget. Raises NotFoundError, UnreadableError, StorageError."""
        account = self._registry.account(account_id)
        found = await self._budgets.load(account.key, name)
        if found is None:
            raise NotFoundError("budget", name)
        return (await self._report(account, [found], {})).states[0]

    async def put(self, account_id: str, budget: Budget) -> BudgetState:
        """Sets a budget from now on. Raises NotFoundError, TooManyBudgetsError, StorageError."""
        account = self._registry.account(account_id)
        found, unreadable = await self._budgets.load_all(account.key)
        others = {*found, *unreadable} - {key_of(budget.name)}
        if len(others) >= MAX_BUDGETS:
            raise TooManyBudgetsError(account.id, MAX_BUDGETS)
        changed = replace(budget, changed_at=await self._registry.clock.now())
        await self._budgets.save(account.key, changed)
        return (await self._report(account, [changed], {})).states[0]

    async def delete(self, account_id: str, name: str) -> None:
        """Deletes a budget; a missing one is no error. Raises NotFoundError, StorageError."""
        await self._budgets.delete(self._registry.account(account_id).key, name)

    async def _report(
        self, account: Account, budgets: Sequence[Budget], unreadable: Mapping[str, UndecodedRow]
    ) -> BudgetReport:
        if not budgets:
            return BudgetReport(account, (), unreadable_reports(unreadable))
        today, prices = (await self._registry.clock.now()).date(), await self._prices.table(account)
        wanted = frozenset(one.subject for one in budgets if one.currency == prices.currency)
        spent = await self._spent(account, wanted, prices, today) if wanted else {}
        states = [budget_state(one, spent.get(one.subject, Spending()), prices.currency, today) for one in budgets]
        return BudgetReport(account, states, unreadable_reports(unreadable))

    async def _spent(
        self, account: Account, subjects: frozenset[BudgetSubject], prices: PriceTable, today: date
    ) -> Mapping[BudgetSubject, Spending]:
        first, end = (day.toordinal() - _ERA for day in days_of_summary(today))
        last = (await self._days.load(account.key, range(end - 1, end))).get(end - 1)
        basis = _Basis(today, last.etag if last else None, prices, subjects)
        known = self._known.get(account.id)
        if known is None or not _holds(known.basis, basis):
            parts = _JOBS if any(scope == "schedule" for scope, _ in subjects) else ()
            stored = await self._days.load(account.key, range(first, end), parts)
            spent = await asyncio.to_thread(spending, _priced(stored, prices), subjects)
            known = self._known[account.id] = _Known(basis, spent)
        return known.spent


def _holds(known: _Basis, now: _Basis) -> bool:
    """Returns whether costs that followed from the one include those that follow from the other."""
    return known.subjects >= now.subjects and known[:3] == now[:3]


def _priced(stored: Mapping[int, UsageDay], prices: PriceTable) -> Iterator[PricedDay]:
    return (PricedDay(day, prices) for day in stored.values())
