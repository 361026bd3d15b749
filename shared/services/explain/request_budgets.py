"""Keeps requests that ticks send for causes and dependencies within a share of those of each account's rounds.

The budgets are this process's own: another one begins with a full one.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from shared.domain.explain.request_budget import RequestBudget
from shared.services.accounts.registry import Registry
from shared.stores.batch.batch import BatchAccount


class RequestBudgets:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._budgets = defaultdict[str, RequestBudget](RequestBudget)

    async def refill(self, account_key: str) -> None:
        """Adds what the time since the last call allows, by the account's last round. Raises StorageError."""
        watch, last = await self._registry.watch_and_round(account_key)
        now, calls = await self._registry.clock.now(), last.batch_calls if last else 0
        self._budgets[account_key] = self._budgets[account_key].refilled(now, calls=calls, interval=watch.interval)

    def has_room(self, account_key: str) -> bool:
        return self._budgets[account_key].has_room

    @contextmanager
    def spending(self, source: BatchAccount) -> Iterator[None]:
        """Takes the requests that are sent to an account inside the block, also by others, from its budget."""
        before, key = source.calls, source.account.key
        try:
            yield
        finally:
            self._budgets[key] = self._budgets[key].spent(source.calls - before)
