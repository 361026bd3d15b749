"""Keeps the ends of what failed tasks wrote, before their nodes are gone.

Rounds name polled jobs with failed tasks. A job with more failures than this process saw before is due. After each
tick some runs of the due jobs are read from Batch, for a few seconds, within the account's limits and half of its
calls. What is left stays due for the next tick. A row is written once for each run, however many hosts do the same.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import batched

from shared.domain.files.file_parts import encoding_of, last_part, shown_part
from shared.domain.jobs.jobs import Job
from shared.domain.outputs.excerpts import error_excerpt
from shared.domain.outputs.failed_runs import (
    MAX_OF_JOB,
    FailedRun,
    Node,
    failed_since,
    first_of_each,
    may_have_failed_since,
)
from shared.domain.outputs.kept_outputs import (
    STREAMS,
    TAIL,
    JobOutputs,
    KeptOutput,
    KeptTail,
    OutputMark,
    expiry_day,
)
from shared.domain.outputs.output_limits import MAX_READ, OutputLimits
from shared.domain.outputs.unkept_outputs import NO_TEXT
from shared.errors import (
    BatchMissingError,
    BatchRefusedError,
    BatchscopeError,
    BatchThrottledError,
    CacheConflictError,
    NotFoundError,
)
from shared.log import logger
from shared.services.accounts.registry import Registry, found
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.accounts.rounds import RoundStore
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_files import BatchFiles, FileOwner, files_of_task
from shared.stores.jobs.outputs import OutputStore

_LOG = logger(__name__)
_BUDGET = timedelta(seconds=5)
_AT_ONCE = 8  # tasks
_CALLS = 2 * len(STREAMS)  # of a task: the size and the end of each stream
_MAX_SEEN = 10_000  # jobs

type _Seen = tuple[datetime, int]
"""When a job was created, and how many of its tasks had failed."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass over a job: what is stored of it, and until when it may read, in loop time."""

    source: BatchAccount
    job: Job
    stored: JobOutputs
    now: datetime
    deadline: float

    @property
    def has_time(self) -> bool:
        return asyncio.get_running_loop().time() < self.deadline


@dataclass(frozen=True, slots=True)
class OutputKeeper:
    """Keeps outputs of all accounts; `sources` are keyed by account id."""

    sources: Mapping[str, BatchAccount]
    registry: Registry
    rounds: RoundStore
    walk: LeafReader
    store: OutputStore
    limits: OutputLimits
    _seen: dict[tuple[str, str], _Seen] = field(default_factory=dict)
    _due: dict[str, dict[str, Job]] = field(default_factory=dict)

    async def keep(self, failing: Mapping[str, Sequence[Job]], budget: timedelta = _BUDGET) -> None:
        """Keeps some outputs of due jobs; `failing` are polled jobs with failed tasks, by account id.

        Errors are logged, and the next call tries again. Without a `budget` jobs only become due.
        """
        if not self.limits.keeps_any:
            return
        self._note(failing)
        if seconds := max(0.0, min(budget, _BUDGET).total_seconds()):
            due = [(account, jobs) for account, jobs in self._due.items() if jobs]
            await asyncio.gather(*(self._keep_of_account(account, jobs, seconds) for account, jobs in due))

    def _note(self, failing: Mapping[str, Sequence[Job]]) -> None:
        if len(self._seen) > _MAX_SEEN:
            self._seen.clear()
        for account, jobs in failing.items():
            for job in jobs:
                now, seen = _seen_of(job), self._seen.get((account, job.key))
                self._seen[account, job.key] = now
                if seen is None or seen[0] != now[0] or seen[1] < now[1]:
                    self._due.setdefault(account, {})[job.key] = job

    async def _keep_of_account(self, account_id: str, due: dict[str, Job], seconds: float) -> None:
        source = found(self.sources, account_id)
        try:
            await self.registry.require_polling_allowed(source.account)
            last = await self.rounds.load(source.account.key)
            if last and (not last.succeeded or last.wait(await self.registry.clock.now())):
                return  # a tick ends with this, so it doesn't wait for an account that doesn't answer
            async with asyncio.timeout(2 * seconds):
                await self._keep_of_jobs(source, due, seconds)
        except (BatchscopeError, TimeoutError) as error:
            _LOG.warning("Outputs of failed tasks in %s weren't kept: %s", account_id, str(error) or "no time was left")
            if isinstance(error, BatchRefusedError):
                due.clear()  # until more tasks fail
            if isinstance(error, BatchThrottledError):
                await self._wait(source, error)

    async def _wait(self, source: BatchAccount, error: BatchThrottledError) -> None:
        """Has rounds wait, too, for as long as the service requests, and say why."""
        with suppress(BatchscopeError):
            until = await self.registry.clock.now() + error.retry_after
            await self.rounds.change(source.account.key, lambda last: last.waiting(until, str(error)))

    async def _keep_of_jobs(self, source: BatchAccount, due: dict[str, Job], seconds: float) -> None:
        """Gives each job a share of the time, the one that has waited longest first."""
        time = asyncio.get_running_loop().time
        end = time() + seconds
        for left, (key, job) in zip(range(len(due), 0, -1), list(due.items()), strict=True):
            now = await self.registry.clock.now()
            spent = await self.store.load_spent(source.account.key)
            if time() >= end or not spent.at(now).room(self.limits):
                return
            deadline = time() + (end - time()) / left
            due.pop(key, None)
            due[key] = job  # behind the others, also if it fails
            stored = await self._stored(source, job)
            if await self._is_done(_Pass(source, job, stored, now, deadline)) and due.get(key) is job:
                del due[key]

    async def _stored(self, source: BatchAccount, job: Job) -> JobOutputs:
        """Returns what is stored of a job, first of all its mark; outputs of an earlier job of its id are deleted."""
        key, created = source.account.key, job.facts.creation_time
        stored = await self.store.load_job(key, job.key)
        if stored.mark.created == created:
            return stored
        await self.store.delete_job(key, job.key)
        return JobOutputs(OutputMark(created), await self.store.save_mark(key, job.key, OutputMark(created), None))

    async def _is_done(self, here: _Pass) -> bool:
        """Keeps runs of a job; returns whether none is left. Raises BatchError, StorageError, CacheConflictError."""
        mark, room = here.stored.mark, MAX_OF_JOB - len(here.stored.runs)
        if room <= 0:
            return True
        try:
            wanted, newest = await self._wanted(here)
            left = await self._keep_runs(here, wanted[:room])
        except (NotFoundError, BatchMissingError):  # the job was deleted
            return True
        since = min((run.ended for run in left), default=max(mark.since, newest + 1))
        if since != mark.since:
            after = replace(mark, since=since)
            await self.store.save_mark(here.source.account.key, here.job.key, after, here.stored.etag)
        return not left

    async def _wanted(self, here: _Pass) -> tuple[list[FailedRun], int]:
        """Returns the runs to keep, the most telling first, and the newest end of a failed run."""
        account_id, stored, since = here.source.account.id, here.stored, here.stored.mark.begins(here.now)
        known = {(run.task, run.ended) for run in stored.runs}

        def is_open(task: str, ended: int, node: Node) -> bool:
            return (task, ended) not in known and bool(self.limits.kept_for(account_id, node[0]))

        wanted, newest = list[FailedRun](), since
        slices = self.walk.slices(account_id, here.job.facts.id, wanted=may_have_failed_since(since))
        async with aclosing(slices):
            async for part in slices:
                runs, last = failed_since(part.leaf, part.places, since, is_open)
                wanted = list(first_of_each([*wanted, *runs], stored.by_group, stored.by_node))
                newest = max(newest, last)
        return wanted, newest

    async def _keep_runs(self, here: _Pass, wanted: Sequence[FailedRun]) -> list[FailedRun]:
        """Keeps runs while there is time and room; returns those that are left, or had nothing to keep.

        Other runs take the place of the latter in the next pass.
        """
        account_id, key = here.source.account.id, here.source.account.key
        days = {run: expiry_day(here.now, self.limits.kept_for(account_id, run.node[0])) for run in wanted}
        for day in set(days.values()):
            await self.store.note_expiry(key, here.job.key, day)
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

    async def _keep_at_once(self, here: _Pass, days: Mapping[FailedRun, int]) -> list[FailedRun]:
        """Keeps runs, which expire on `days`; returns those that had nothing to keep.

        Raises the first BatchError of any after it has kept the others.
        """
        found = await asyncio.gather(*(self._fetch(here, *one) for one in days.items()), return_exceptions=True)
        outputs = [one for one in found if not isinstance(one, BaseException)]
        account_key, job_key = here.source.account.key, here.job.key
        await asyncio.gather(*(self.store.save(account_key, job_key, output) for output, _ in outputs))
        await self._settle(here, len(days), sum(read for _, read in outputs))
        for error in found:
            if isinstance(error, BaseException):
                raise error
        return [output.run for output, _ in outputs if output.is_empty]

    async def _reserve(self, here: _Pass, most: int) -> int:
        """Returns how many tasks may be read now, and takes what they may read at most from the account's limits."""
        spent = (await self.store.load_spent(here.source.account.key)).at(here.now)
        number = min(most, spent.room(self.limits))
        for _ in range(number * _CALLS):
            if not await here.source.turns.wait(asyncio.get_running_loop().time() + 1):
                return 0
        if number:
            await self.store.save_spent(here.source.account.key, spent.plus(tasks=number, read=number * MAX_READ))
        return number

    async def _settle(self, here: _Pass, number: int, read: int) -> None:
        """Gives back what wasn't read, unless another host spends something at the same time."""
        if number:
            spent = (await self.store.load_spent(here.source.account.key)).at(here.now)
            with suppress(CacheConflictError):
                await self.store.save_spent(here.source.account.key, spent.plus(tasks=0, read=read - number * MAX_READ))

    async def _fetch(self, here: _Pass, run: FailedRun, expires: int) -> tuple[KeptOutput, int]:
        """Returns what is kept of a run, and how many bytes were read for it. Raises BatchError."""
        owner = files_of_task(here.job.facts.id, run.task_id)
        stderr, stdout = [await _tail(BatchFiles(here.source), owner, stream) for stream in STREAMS]
        kept = KeptOutput(run, here.now, expires, (stderr[0], stdout[0]))
        if not kept.is_empty:
            excerpt = await asyncio.to_thread(error_excerpt, stderr[0].text, stdout[0].text, run.exit_code)
            kept = replace(kept, excerpt=excerpt)
        return kept, stderr[1] + stdout[1]


def _seen_of(job: Job) -> _Seen:
    return job.facts.creation_time, job.snapshot.counts.failed if job.snapshot else 0


async def _tail(files: BatchFiles, owner: FileOwner, stream: str) -> tuple[KeptTail, int]:
    """Returns the end of a stream without its secrets, or why there is none, and how many bytes were read for it.

    Raises BatchMissingError if the job was deleted, BatchError.
    """
    try:
        size = (await files.fetch_facts(owner, stream)).size
        part = last_part(TAIL, size)
        content = await files.fetch_part(owner, stream, read := part.with_context(size))
    except BatchMissingError as error:
        if error.code == "JobNotFound":
            raise
        return KeptTail(reason=error.code), 0
    if (encoding := encoding_of(content)) is None:
        return KeptTail(reason=NO_TEXT), len(content)
    shown = await asyncio.to_thread(shown_part, content, read, part, grows=False)
    return KeptTail(size, part.start, shown, encoding), len(content)
