"""Keeps the ends of what chosen failed runs wrote, within the limits of an account that all its hosts share.

What a run may take at most is taken from the limits before it is read. A row is written once for each run, however
many hosts do the same.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import batched

from shared.domain.files.file_parts import encoding_of, last_part, shown_part
from shared.domain.outputs.excerpts import error_excerpt
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.kept_outputs import STREAMS, TAIL, JobOutputs, KeptOutput, KeptTail, expiry_day
from shared.domain.outputs.output_limits import MAX_READ, OutputLimits
from shared.domain.outputs.unkept_outputs import NO_TEXT
from shared.errors import BatchMissingError, CacheConflictError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_files import BatchFiles, FileOwner
from shared.stores.jobs.outputs import OutputStore

_AT_ONCE = 8  # runs
_CALLS = 2 * len(STREAMS)  # of a run: the size and the end of each stream
_OWNERS = ("JobNotFound", "PoolNotFound")


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over the failed runs of a job or a pool: what is stored of it, and until when it may read, in loop time.

    `key` is that of its outputs, `files` has the files of a run, `folder` is where its streams are among these.
    """

    source: BatchAccount
    key: str
    files: Callable[[FailedRun], FileOwner]
    folder: str
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

    async def keep(self, here: Pass, wanted: Sequence[FailedRun]) -> list[FailedRun]:
        """Keeps runs while there is time and room; returns those that are left, or had nothing to keep.

        Other runs take the place of the latter in the next pass. Raises BatchError, StorageError, CacheConflictError.
        """
        account_id, key = here.source.account.id, here.source.account.key
        days = {run: expiry_day(here.now, self.limits.kept_for(account_id, run.node[0])) for run in wanted}
        for day in set(days.values()):
            await self.store.note_expiry(key, here.key, day)
        done, missed = 0, list[FailedRun]()
        for some in batched(wanted, _AT_ONCE, strict=False):
            number = await self._reserve(here, len(some)) if here.has_time or not done else 0
            done, missed = (
                done + number,
                missed + await self._keep_at_once(here, {run: days[run] for run in some[:number]}),
            )
            if number < len(some):
                break
        return [*wanted[done:], *missed]

    async def _keep_at_once(self, here: Pass, days: Mapping[FailedRun, int]) -> list[FailedRun]:
        """Keeps runs, which expire on `days`; returns those that had nothing to keep.

        Raises the first BatchError of any after it has kept the others.
        """
        found = await asyncio.gather(*(self._fetch(here, *one) for one in days.items()), return_exceptions=True)
        outputs = [one for one in found if not isinstance(one, BaseException)]
        account_key, job_key = here.source.account.key, here.key
        await asyncio.gather(*(self.store.save(account_key, job_key, output) for output, _ in outputs))
        await self._settle(here, len(days), sum(read for _, read in outputs))
        for error in found:
            if isinstance(error, BaseException):
                raise error
        return [output.run for output, _ in outputs if output.is_empty]

    async def _reserve(self, here: Pass, most: int) -> int:
        """Returns how many runs may be read now, and takes what they may read at most from the account's limits."""
        spent = (await self.store.load_spent(here.source.account.key)).at(here.now)
        number = min(most, spent.room(self.limits))
        for _ in range(number * _CALLS):
            if not await here.source.turns.wait(asyncio.get_running_loop().time() + 1):
                return 0
        if number:
            await self.store.save_spent(here.source.account.key, spent.plus(tasks=number, read=number * MAX_READ))
        return number

    async def _settle(self, here: Pass, number: int, read: int) -> None:
        """Gives back what wasn't read, unless another host spends something at the same time."""
        if number:
            spent = (await self.store.load_spent(here.source.account.key)).at(here.now)
            with suppress(CacheConflictError):
                await self.store.save_spent(here.source.account.key, spent.plus(tasks=0, read=read - number * MAX_READ))

    async def _fetch(self, here: Pass, run: FailedRun, expires: int) -> tuple[KeptOutput, int]:
        """Returns what is kept of a run, and how many bytes were read for it. Raises BatchError."""
        files, owner = BatchFiles(here.source), here.files(run)
        stderr, stdout = [await _tail(files, owner, here.folder + stream) for stream in STREAMS]
        kept = KeptOutput(run, here.now, expires, (stderr[0], stdout[0]))
        if not kept.is_empty:
            excerpt = await asyncio.to_thread(error_excerpt, stderr[0].text, stdout[0].text, run.exit_code)
            kept = replace(kept, excerpt=excerpt)
        return kept, stderr[1] + stdout[1]


async def _tail(files: BatchFiles, owner: FileOwner, path: str) -> tuple[KeptTail, int]:
    """Returns the end of a stream without its secrets, or why there is none, and how many bytes were read for it.

    Raises BatchMissingError if the job or pool was deleted, BatchError.
    """
    try:
        size = (await files.fetch_facts(owner, path)).size
        part = last_part(TAIL, size)
        content = await files.fetch_part(owner, path, read := part.with_context(size))
    except BatchMissingError as error:
        if error.code in _OWNERS:
            raise
        return KeptTail(reason=error.code), 0
    if (encoding := encoding_of(content)) is None:
        return KeptTail(reason=NO_TEXT), len(content)
    shown = await asyncio.to_thread(shown_part, content, read, part, grows=False)
    return KeptTail(size, part.start, shown, encoding), len(content)
