"""Jobs of one account that rounds left to the queue, as they take longer than a round.

The result of a message is stored in the row of the account's last round, even while another round is running.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from shared.clock import Clock
from shared.domain.core.keys import key_of
from shared.domain.polling.rounds import MESSAGE_LASTS, Mark, Round
from shared.errors import BatchError, BatchThrottledError, NotFoundError, OvertakenError, UnreadableError
from shared.log import logger
from shared.services.reading.long_reads import LongReads
from shared.stores.batch.batch import BatchAccount
from shared.stores.stores import Stores

_LOG = logger(__name__)


@dataclass(frozen=True, slots=True)
class QueuedJobs:
    source: BatchAccount
    long_reads: LongReads
    stores: Stores
    clock: Clock

    async def run(self, job_id: str, message: datetime | None = None, *, budget: timedelta) -> bool:
        """Continues a job; returns True if its message must be sent again, as work is left.

        `message` identifies the message, as JobMessage.until. It is dropped if another one about the job is being
        processed, or no work is left. Batch's errors and unreadable rows are recorded. Raises StorageError,
        CacheConflictError.
        """
        account, key = self.source.account, key_of(job_id)
        monitoring, last = await self.stores.monitoring.load_with_round(account.key)
        now = await self.clock.now()
        if last is None:
            return False
        if monitoring.off_reason or last.wait(now):  # a later round handles it
            await self._note(partial(Round.with_outcome, key=key, failure=None))
            return False
        claim = await self._claimed(last, job_id, message, now)
        if claim is None:
            _LOG.info("A message about %s in %s was dropped: there is nothing left for it.", job_id, account.id)
            return False
        failure, backoff, more = None, None, False
        deadline = asyncio.get_running_loop().time() + budget.total_seconds()
        try:
            more = not await self.long_reads.carry_on(job_id, last.jobs_as_of, deadline=deadline)
        except OvertakenError as error:
            _LOG.info("The read of %s in %s goes on elsewhere: %s", job_id, account.id, error)
            return await self._is_left_over(job_id, claim)
        except NotFoundError as error:
            _LOG.info("The read of %s in %s ended: %s", job_id, account.id, error)
        except (BatchError, UnreadableError) as error:
            failure = str(error)
            if isinstance(error, BatchThrottledError):
                backoff = await self.clock.now() + error.retry_after
            _LOG.warning("Reading %s in %s failed: %s", job_id, account.id, error)
        until = await self.clock.now() + MESSAGE_LASTS if more else None
        outcome = partial(Round.with_outcome, key=key, failure=failure, queued_until=until, backoff_until=backoff)
        await self._note(outcome)
        return more

    async def _claimed(self, last: Round, job_id: str, message: datetime | None, now: datetime) -> Mark | None:
        """Marks a job as processed by this message; returns None if the message has no work."""
        key = key_of(job_id)
        if key not in last.queued and not await self.long_reads.is_left(job_id):
            return None
        claimed = partial(Round.claimed, key=key, message=message, now=now, until=now + MESSAGE_LASTS)
        noted = await self._note(claimed)
        return noted.queued[key] if noted else None

    async def _is_left_over(self, job_id: str, claim: Mark) -> bool:
        """Returns whether to send a message again whose worker was overtaken each time.

        Workers may overtake each other until all give up, so the last one that marked the job continues the rest.
        Another or an ended worker records the result of the read.
        """
        last = await self.stores.rounds.load(self.source.account.key)
        is_last = last is not None and last.queued.get(key_of(job_id)) == claim
        return is_last and await self.long_reads.is_left(job_id)

    async def give_up(self, job_id: str) -> None:
        """Records that all attempts of a job's message failed, in its verdict and `health` until it is polled again.

        Raises StorageError, CacheConflictError.
        """
        failure = "Reading it failed several times in a row; the app's log has the reason."
        await self._note(partial(Round.with_outcome, key=key_of(job_id), failure=failure))

    async def _note(self, change: Callable[[Round], Round | None]) -> Round | None:
        return await self.stores.rounds.change(self.source.account.key, change)
