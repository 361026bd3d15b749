"""Keeps the ends of what chosen failed runs wrote, within the limits of an account that all its hosts share.

What a run may take at most is taken from the limits before it is read, and given back as far as it wasn't used, however
the read ends. Each run has a time limit of its own, and is saved when it was read. One whose read fails holds up no
other: it is tried again after these, later and later, until its row says that it can't be read. A row is written once
for each run, however many hosts do the same.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import batched

from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.kept_outputs import JobOutputs, expiry_day
from shared.domain.outputs.output_limits import MAX_READ, OutputLimits
from shared.domain.outputs.unkept_outputs import UNREAD
from shared.errors import BatchError, BatchMissingError, BatchRefusedError, BatchThrottledError, CacheConflictError
from shared.log import logger
from shared.services.files.failed_reads import FailedReads
from shared.services.files.run_owners import RunOwner
from shared.services.files.run_reader import REQUESTS, RunReader, kept_output, unread
from shared.stores.batch.batch import BatchAccount
from shared.stores.jobs.outputs import OutputStore

_LOG = logger(__name__)
_AT_ONCE = 8  # runs
_TURN_SECONDS = 1.0  # of waiting for room for the requests of so many
_SETTLING = 3  # tries
READ_LIMIT = timedelta(seconds=10)
"""Time for all requests about a run."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over the failed runs of a job or a pool, with what is stored of it; the deadline is in loop time."""

    source: BatchAccount
    owner: RunOwner
    stored: JobOutputs
    now: datetime
    deadline: float

    @property
    def has_time(self) -> bool:
        return asyncio.get_running_loop().time() < self.deadline


@dataclass(frozen=True, slots=True)
class RunKeeper:
    """Keeps outputs of runs of all accounts."""

    store: OutputStore
    limits: OutputLimits
    read_limit: timedelta = READ_LIMIT
    _failed: FailedReads = field(default_factory=FailedReads)

    async def keep(self, here: Pass, wanted: list[FailedRun]) -> list[FailedRun]:
        """Keeps the first runs, and more while there is time; returns those that are left, or had nothing to keep.

        Other runs take the place of the latter in the next pass. Raises BatchError where no other run could be read
        either, StorageError, CacheConflictError.
        """
        account_id, key = here.source.account.id, here.source.account.key
        ready, left = self._failed.split(key, here.owner.key, wanted, here.now)
        days = {run: expiry_day(here.now, self.limits.kept_for(account_id, run.node[0])) for run in ready}
        for day in set(days.values()):
            await self.store.note_expiry(key, here.owner.key, day)
        done = 0
        for some in batched(ready, _AT_ONCE, strict=False):
            number = await self._reserve(here, len(some)) if here.has_time or not done else 0
            left += await self._keep_at_once(here, {run: days[run] for run in some[:number]})
            done += number
            if number < len(some):
                break
        return [*left, *ready[done:]]

    async def _keep_at_once(self, here: Pass, days: Mapping[FailedRun, int]) -> list[FailedRun]:
        """Keeps runs, which expire on `days`; returns those that weren't read, or had nothing to keep.

        Raises the first error of any that concerns others, too, after it has kept the rest.
        """
        readers = [RunReader(here.source, here.owner, run) for run in days]
        keeping = (self._keep_run(here, reader, days[reader.run]) for reader in readers)
        try:
            ends = await asyncio.gather(*keeping, return_exceptions=True)
        finally:
            await self._settle(here, len(readers), sum(reader.requested for reader in readers))
        for end in ends:
            if isinstance(end, BaseException):
                raise end
        return [run for run, is_kept in zip(days, ends, strict=True) if not is_kept]

    async def _keep_run(self, here: Pass, reader: RunReader, expires: int) -> bool:
        """Reads and saves a run; returns whether something was kept of it.

        Raises BatchThrottledError, BatchRefusedError, BatchMissingError for a deleted job or pool, StorageError.
        """
        account_key, key, run = here.source.account.key, here.owner.key, reader.run
        try:
            async with asyncio.timeout(self.read_limit.total_seconds()):
                streams = await reader.read()
        except (BatchThrottledError, BatchRefusedError, BatchMissingError):
            raise
        except (BatchError, TimeoutError) as error:
            _LOG.info("The output of %s wasn't read: %s", run.task_id, str(error) or "it took too long")
            if self._failed.note(account_key, key, run, here.now):
                return False
            streams = unread(UNREAD)
        output = await asyncio.to_thread(kept_output, run, here.now, expires, streams)
        await self.store.save(account_key, key, output)
        self._failed.forget(account_key, key, run)
        return not output.is_empty

    async def _reserve(self, here: Pass, most: int) -> int:
        """Returns how many runs may be read now, and takes what they may read at most from the account's limits."""
        spent = (await self.store.load_spent(here.source.account.key)).at(here.now)
        requests, most = 0, REQUESTS * min(most, spent.room(self.limits.rate(here.source.account.id)))
        deadline = asyncio.get_running_loop().time() + _TURN_SECONDS
        while requests < most and await here.source.turns.wait(deadline):
            requests += 1
        number = requests // REQUESTS
        if number:
            await self.store.save_spent(here.source.account.key, spent.plus(tasks=number, read=number * MAX_READ))
        return number

    async def _settle(self, here: Pass, number: int, read: int) -> None:
        """Gives back what wasn't read, unless other hosts spend something at the same time again and again."""
        for _ in range(_SETTLING if number else 0):
            spent = (await self.store.load_spent(here.source.account.key)).at(here.now)
            with suppress(CacheConflictError):
                await self.store.save_spent(here.source.account.key, spent.plus(tasks=0, read=read - number * MAX_READ))
                return
