"""Jobs of one account that rounds left to the queue: whatever takes longer than a round may.

What becomes of a message is noted in the row of the account's last round, beside whichever round is under way.
"""

import asyncio
from datetime import datetime, timedelta
from functools import partial

from shared.clock import Clock
from shared.domain.core.keys import key_of
from shared.domain.polling.rounds import MESSAGE_LASTS, Mark, Round
from shared.errors import BatchError, BatchThrottledError, NotFoundError, OvertakenError, UnreadableError
from shared.log import logger
from shared.services.reading.long_reads import LongReads
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.accounts.rounds import RoundStore
from shared.stores.batch.batch import BatchAccount

_LOG = logger(__name__)


class QueuedJobs:
    def __init__(
        self,
        source: BatchAccount,
        *,
        long_reads: LongReads,
        rounds: RoundStore,
        monitoring: MonitoringStore,
        clock: Clock,
    ) -> None:
        self._source = source
        self._long_reads = long_reads
        self._rounds = rounds
        self._monitoring = monitoring
        self._clock = clock

    async def run(self, job_id: str, message: datetime | None = None, *, budget: timedelta) -> bool:
        """Carries on with a job. True where more is left: its message is to be sent again.

        `message` is what JobMessage.until names it by. It is dropped where another one about the job is being worked
        on, or nothing is left to do. What Batch refuses, or what can't be read, is noted. Raises StorageError,
        CacheConflictError.
        """
        account, key = self._source.account, key_of(job_id)
        monitoring, last = await self._monitoring.load_with_round(account.key)
        now = await self._clock.now()
        if last is None:
            return False
        if monitoring.off_reason or last.wait(now):  # a round will see to it when that is over
            await self._tell(key)
            return False
        claim = await self._claimed(last, job_id, message, now)
        if claim is None:
            _LOG.info("A message about %s in %s was dropped: there is nothing left for it.", job_id, account.id)
            return False
        failure, backoff, more = None, None, False
        deadline = asyncio.get_running_loop().time() + budget.total_seconds()
        try:
            more = not await self._long_reads.carry_on(self._source, job_id, last.jobs_as_of, deadline=deadline)
        except OvertakenError as error:
            _LOG.info("The read of %s in %s goes on elsewhere: %s", job_id, account.id, error)
            return await self._goes_on(job_id, claim)
        except NotFoundError as error:
            _LOG.info("The read of %s in %s ended: %s", job_id, account.id, error)
        except (BatchError, UnreadableError) as error:
            failure = str(error)
            if isinstance(error, BatchThrottledError):
                backoff = await self._clock.now() + error.retry_after
            _LOG.warning("Reading %s in %s failed: %s", job_id, account.id, error)
        until = await self._clock.now() + MESSAGE_LASTS if more else None
        await self._tell(key, failure=failure, queued_until=until, backoff_until=backoff)
        return more

    async def _claimed(self, last: Round, job_id: str, message: datetime | None, now: datetime) -> Mark | None:
        """Marks a job as worked on because of this message; None where that isn't up to it."""
        key = key_of(job_id)
        if key not in last.queued and not await self._long_reads.is_left(self._source, job_id):
            return None
        claimed = partial(Round.claimed, key=key, message=message, now=now, until=now + MESSAGE_LASTS)
        noted = await self._rounds.change(self._source.account.key, claimed)
        return noted.queued[key] if noted else None

    async def _goes_on(self, job_id: str, claim: Mark) -> bool:
        """Whether a message is to be sent again whose worker was overtaken time after time.

        Workers may have overtaken each other until all gave way, so whoever marked the job last goes on with what is
        left. Another one, or whoever has ended meanwhile, says how the read went.
        """
        last = await self._rounds.load(self._source.account.key)
        is_last = last is not None and last.queued.get(key_of(job_id)) == claim
        return is_last and await self._long_reads.is_left(self._source, job_id)

    async def give_up(self, job_id: str) -> None:
        """Notes that a job's message failed each time: its verdict and `health` say so until the job is polled again.

        Raises StorageError, CacheConflictError.
        """
        await self._tell(key_of(job_id), failure="Reading it failed several times in a row; the app's log tells why.")

    async def _tell(
        self,
        key: str,
        *,
        failure: str | None = None,
        queued_until: datetime | None = None,
        backoff_until: datetime | None = None,
    ) -> None:
        told = partial(Round.told, key=key, failure=failure, queued_until=queued_until, backoff_until=backoff_until)
        await self._rounds.change(self._source.account.key, told)
