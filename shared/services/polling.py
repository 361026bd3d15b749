"""Rounds of all accounts: what a tick runs, and polls on demand with their status."""

import asyncio
import secrets
from collections.abc import Mapping
from datetime import timedelta

from shared.clock import Clock
from shared.domain.operations import PollOperation, Reason
from shared.errors import BatchscopeError, CacheConflictError, NotFoundError
from shared.services.rounds import AccountRounds
from shared.stores.operations import OperationStore


class Polling:
    """`accounts` are rounds by account id."""

    def __init__(
        self,
        accounts: Mapping[str, AccountRounds],
        operations: OperationStore,
        clock: Clock,
        *,
        interval: timedelta,
        budget: timedelta,
    ) -> None:
        self._accounts = accounts
        self._operations = operations
        self._clock = clock
        self._interval = interval
        self._budget = budget

    async def tick(self) -> None:
        """A round of every account that is due, side by side, within the time budget.

        Raises what went wrong with storage, after the rounds of all accounts.
        """
        ends = await asyncio.gather(
            *(rounds.run_if_due(self._interval, budget=self._budget) for rounds in self._accounts.values()),
            return_exceptions=True,
        )
        for end in ends:
            if end is not None:
                raise end

    async def request(self, account_id: str, jobs: tuple[str, ...] | None) -> PollOperation:
        """Notes a poll on demand of some jobs, or of all (None). Raises NotFoundError."""
        rounds = self._rounds(account_id)
        now = await self._clock.now()
        operation = PollOperation(f"{int(now.timestamp()):x}-{secrets.token_hex(6)}", "queued", now, jobs)
        return await self._operations.save(rounds.source.account.key, operation)

    async def run(self, account_id: str, operation_id: str) -> PollOperation:
        """Carries out a requested poll; one that is over already (a message delivered twice) stays as it is.

        However the poll ends, its status says so. Raises NotFoundError, StorageError.
        """
        operation = await self.operation(account_id, operation_id)
        if operation.is_over:
            return operation
        rounds = self._rounds(account_id)
        succeeded, reasons = 0, tuple[Reason, ...]()
        try:
            succeeded, reasons = await rounds.run_now(operation.jobs, budget=self._budget)
        except BatchscopeError as error:
            reasons = (Reason(None, str(error)),)
        ended = operation.ended(succeeded=succeeded, reasons=reasons, now=await self._clock.now())
        try:
            return await self._operations.save(rounds.source.account.key, ended)
        except CacheConflictError:
            return await self.operation(account_id, operation_id)

    async def operation(self, account_id: str, operation_id: str) -> PollOperation:
        """The status of a poll on demand. Raises NotFoundError."""
        found = await self._operations.load(self._rounds(account_id).source.account.key, operation_id)
        if found is None:
            raise NotFoundError("poll", operation_id, f" of the account '{account_id}'")
        return found

    def _rounds(self, account_id: str) -> AccountRounds:
        rounds = self._accounts.get(account_id.lower())
        if rounds is None:
            raise NotFoundError("account", account_id)
        return rounds
