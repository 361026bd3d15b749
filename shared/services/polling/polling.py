"""Rounds of all accounts by ticks, and polls on demand with their status."""

import asyncio
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta

from shared.clock import Clock
from shared.domain.accounts.operations import JobMessage, PollOperation, Reason
from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import Job
from shared.domain.outputs.failed_starts import FailingPool
from shared.errors import BatchscopeError, CacheConflictError, MonitoringOffError, NotFoundError
from shared.services.accounts.registry import found
from shared.services.polling.dispatch import Dispatch
from shared.services.polling.queued_jobs import QueuedJobs
from shared.services.polling.rounds import AccountRounds
from shared.stores.stores import Stores

_QUEUED_BUDGET = timedelta(minutes=4)  # of the ten that a function call may take


@dataclass(frozen=True, slots=True)
class PollingService:
    """Polling of all accounts; `accounts` are rounds by account id, `queued` the jobs that they leave to the queue."""

    accounts: Mapping[str, AccountRounds]
    queued: Mapping[str, QueuedJobs]
    stores: Stores
    clock: Clock
    interval: timedelta
    budget: timedelta

    async def tick(self) -> None:
        """Runs the rounds of all due accounts. Raises errors of storage after all rounds.

        `take_messages` returns the work that didn't fit, also after an error.
        """
        dispatch = Dispatch(self.accounts.values(), self.clock, interval=self.interval, budget=self.budget)
        try:
            await dispatch.run()
        finally:
            await asyncio.gather(*(rounds.leave_to_queue(self.interval) for rounds in dispatch.left))

    def hint(self, account_key: str, jobs: Collection[str]) -> None:
        """Notes jobs with news: the account's next round in this process polls them first."""
        for rounds in self.accounts.values():
            if rounds.source.account.key == account_key:
                rounds.hint([key_of(job) for job in jobs])

    def take_messages(self) -> list[JobMessage]:
        """Returns messages about accounts and jobs left to the queue since the last call."""
        return [message for rounds in self.accounts.values() for message in rounds.take_messages()]

    def take_dependents(self) -> dict[str, list[Job]]:
        """Returns jobs by account id, of rounds since the last call, whose waiting tasks may depend on others."""
        return {name: jobs for name, rounds in self.accounts.items() if (jobs := rounds.take_dependents())}

    def take_failing(self) -> dict[str, list[Job]]:
        """Returns jobs with failed tasks by account id, of rounds since the last call."""
        return {name: jobs for name, rounds in self.accounts.items() if (jobs := rounds.take_failing())}

    def take_failing_pools(self) -> dict[str, list[FailingPool]]:
        """Returns pools with failed start tasks by account id, of rounds since the last call."""
        return {name: pools for name, rounds in self.accounts.items() if (pools := rounds.take_failing_pools())}

    def take_news(self) -> set[str]:
        """Returns the ids of accounts whose rounds since the last call changed what is stored, or couldn't."""
        return {name for name, rounds in self.accounts.items() if rounds.take_news()}

    async def run_queued(self, message: JobMessage) -> bool:
        """Continues a job or an account; returns True if its message must be sent again, as work is left.

        `take_messages` returns other work left to the queue. Raises NotFoundError, StorageError.
        """
        if message.job is None:
            rounds = self._rounds(message.account)
            await rounds.run_if_due(self.interval, budget=self.budget, from_queue=True)
            return False
        return await found(self.queued, message.account).run(message.job, message.until, budget=_QUEUED_BUDGET)

    async def give_up(self, message: JobMessage) -> None:
        """Records that all attempts of a message failed; ticks retry accounts anyway.

        Raises NotFoundError, StorageError.
        """
        if message.job is not None:
            await found(self.queued, message.account).give_up(message.job)

    async def request(self, account_id: str, jobs: tuple[str, ...] | None) -> PollOperation:
        """Stores a request to poll some jobs, or all (None). Raises NotFoundError, MonitoringOffError."""
        rounds = self._rounds(account_id)
        monitoring = await self.stores.monitoring.load(rounds.source.account.key)
        if monitoring.off_reason:
            raise MonitoringOffError(rounds.source.account.id, monitoring.off_reason)
        now = await self.clock.now()
        operation = PollOperation(f"{int(now.timestamp()):x}-{secrets.token_hex(6)}", "queued", now, jobs)
        return await self.stores.operations.save(rounds.source.account.key, operation)

    async def run(self, account_id: str, operation_id: str) -> PollOperation:
        """Runs a requested poll; a completed one (of a message delivered twice) stays unchanged.

        Its status records the result, also after errors. Raises NotFoundError, StorageError.
        """
        operation = await self.operation(account_id, operation_id)
        if operation.is_over:
            return operation
        rounds = self._rounds(account_id)
        succeeded, reasons = 0, tuple[Reason, ...]()
        try:
            succeeded, reasons = await rounds.run_now(operation.jobs, budget=self.budget)
        except BatchscopeError as error:
            reasons = (Reason(None, str(error)),)
        ended = operation.ended(succeeded=succeeded, reasons=reasons, now=await self.clock.now())
        try:
            return await self.stores.operations.save(rounds.source.account.key, ended)
        except CacheConflictError:
            return await self.operation(account_id, operation_id)

    async def operation(self, account_id: str, operation_id: str) -> PollOperation:
        """Returns the status of a poll on demand. Raises NotFoundError."""
        found = await self.stores.operations.load(self._rounds(account_id).source.account.key, operation_id)
        if found is None:
            raise NotFoundError("poll", operation_id, f" of the account '{account_id}'")
        return found

    def _rounds(self, account_id: str) -> AccountRounds:
        return found(self.accounts, account_id)
