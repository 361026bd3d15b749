"""One poll of one job's tasks: a delta into the served generation, or a first read into a new one.

The order of steps makes counts exact; docs/architecture.md describes it. Every failing step leaves a state from which
the next poll converges.
"""

from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import inf
from typing import NoReturn

from shared.domain.jobs.jobs import COMPLETED, Job
from shared.domain.jobs.reconciliation import live_of, may_be_begun_anew, may_be_replaced, wanted_reading
from shared.domain.jobs.snapshots import Agreement, Confirmation, JobSnapshot
from shared.domain.reads.id_ranges import IdRange
from shared.domain.reads.read_plans import ReadPlan
from shared.errors import (
    BatchMissingError,
    CacheConflictError,
    LongReadError,
    OvertakenError,
    UnreadableError,
    UnreadableTasksError,
)
from shared.log import logger
from shared.services.jobs.job_records import JobRecords
from shared.services.reading.comparison import fold_and_compare
from shared.services.reading.dirty_mark import DirtyMark
from shared.services.reading.generations import Generations
from shared.services.reading.incarnation import Incarnation
from shared.services.reading.read_state import SHORT_LIST, SHORT_READ, ReadState, is_long_list, read_pages
from shared.services.reading.repair import repair
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.read_meter import current_meter, metered
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.task_cache import Directory
from shared.stores.stores import Stores

_LOG = logger(__name__)
_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class PollResult:
    """The job after a poll. With a `confirmation` nothing is written: the stored job holds as of T0."""

    job: Job
    confirmation: Confirmation | None = None


class TaskPoll:
    """Polls of the tasks of one account's jobs.

    `overlap` is the maximum delay of reports, `full_read_age` the time between full reads. A list of more than
    `short_read` tasks, or of many pages, raises LongReadError and is left to `long_reads`.
    """

    def __init__(
        self,
        source: BatchAccount,
        stores: Stores,
        records: JobRecords,
        *,
        overlap: timedelta,
        full_read_age: timedelta,
        short_read: int = SHORT_READ,
    ) -> None:
        self._source = source
        self._cache = stores.cache
        self._plans = stores.plans
        self._records = records
        self._full_read_age = full_read_age
        self.overlap = overlap
        self.short_read = short_read
        self.generations = Generations(source, stores.cache, records, overlap=overlap, short_read=short_read)

    async def poll(self, job: Job, t0: datetime | None, *, thorough: bool = False, deadline: float = inf) -> PollResult:
        """Brings a job's snapshot up to T0, the date of a response received before now; None doesn't advance it.

        For a job with settled counts, changes and counts are requested in turns, one request a poll, unless `thorough`.
        A delta that isn't complete by `deadline`, in loop time, is also left to `long_reads`.

        A conflict with another poll, or a job re-created meanwhile, restarts the poll from the stored state; for
        unreadable leaves see `replacing`. Raises BatchError, StorageError, LongReadError, and OvertakenError if other
        polls are always faster or have begun another first read.
        """
        for _ in range(_ATTEMPTS):
            try:
                with metered():
                    read = self._poll_once(job, t0, thorough=thorough, deadline=deadline)
                    return await self.replacing(job, t0, read)
            except CacheConflictError:
                found = await self._seen_again(job, t0)
                if found.snapshot is None and found.building:  # two alternating first reads would never end
                    raise OvertakenError(job.facts.id) from None
            except BatchMissingError:
                found = await self._seen_again(job, t0)
            if found.deleted:
                return PollResult(found)
            job = found
        raise OvertakenError(job.facts.id)

    def wants_reconciling(self, polled: PollResult) -> bool:
        """Returns whether a polled job needs a repair or full read, which find changes that deltas miss."""
        return wanted_reading(polled.job, age=self._full_read_age) is not None

    async def reconcile(self, polled: PollResult, t0: datetime | None) -> PollResult:
        """Runs the repair or full read that a job needs. Raises BatchError, StorageError, LongReadError.

        If another process is faster, the job stays unchanged: the next comparison shows any remaining difference.
        """
        with metered():
            return await self._reconciled(polled, t0)

    async def _reconciled(self, polled: PollResult, t0: datetime | None) -> PollResult:
        job = polled.job
        try:
            if wanted_reading(job, age=self._full_read_age) == "repair":
                if job.snapshot and live_of(job.snapshot.counts) > self.short_read:
                    raise LongReadError(job.facts.id)
                polled = await self.replacing(job, t0, self._repaired(job, t0))
            if wanted_reading(polled.job, age=self._full_read_age) == "fullRead":
                job = polled.job
                if job.snapshot and job.snapshot.counts.total > self.short_read:
                    raise LongReadError(job.facts.id)
                polled = PollResult(await self.generations.read_anew(job, t0))
        except CacheConflictError:
            self.forget(job)
        except BatchMissingError:
            return PollResult(await self._seen_again(job, t0))
        return polled

    def forget(self, job: Job) -> None:
        """Drops cached leaves after a conflict or an interrupted poll, as they may differ from storage."""
        if job.snapshot:
            self._cache.forget(generation_partition(self._source.account.key, job.key, job.snapshot.generation))

    async def _poll_once(self, job: Job, t0: datetime | None, *, thorough: bool, deadline: float) -> PollResult:
        snapshot = job.snapshot
        if snapshot is None:
            if await self.plan_of_building(job, t0):
                raise LongReadError(job.facts.id)
            return PollResult(await self.generations.read_anew(job, t0))
        as_of = _later(t0, snapshot)
        if job.dirty:
            self.forget(job)
        if not thorough and not job.dirty and job.facts.state != COMPLETED and snapshot.is_settled(self.overlap):
            counts_turn = snapshot.agreement.as_of != snapshot.as_of
            if counts_turn:
                polled = await self._counted(job, snapshot)
            else:
                polled = await self._unchanged(job, snapshot, as_of, deadline=deadline)
            if polled:
                return polled
        return await self._delta(job, snapshot, as_of, deadline=deadline)

    async def plan_of_building(self, job: Job, t0: datetime | None) -> ReadPlan | None:
        """Returns the plan of a long read into a new generation, or None.

        An unreadable plan raises UnreadableError, as a newer version may be using it, and after a while counts as None.
        Raises StorageError.
        """
        if not job.building:
            return None
        try:
            return await self._plans.load(generation_partition(self._source.account.key, job.key, job.building))
        except UnreadableError:
            if not may_be_begun_anew(job, t0):
                raise
            return None

    async def replacing[T](self, job: Job, t0: datetime | None, read: Awaitable[T]) -> T | PollResult:
        """Returns the result of a read, or reads all tasks into a new generation if leaves are unreadable.

        Unreadable leaves aren't overwritten. Raises UnreadableTasksError if that takes long, and the original error if
        it was tried recently.
        """
        try:
            return await read
        except UnreadableError as error:
            unreadable = error
        snapshot = job.snapshot
        if snapshot is None or not may_be_replaced(snapshot, _later(t0, snapshot)):
            raise unreadable
        _LOG.warning("In %s: %s The tasks of %s are read anew.", self._source.account.id, unreadable, job.facts.id)
        try:
            return PollResult(await self.generations.read_anew(job, t0))
        except LongReadError:
            raise UnreadableTasksError(job.facts.id) from unreadable

    async def _counted(self, job: Job, snapshot: JobSnapshot) -> PollResult | None:
        """Confirms a settled job whose last delta was empty, if its counts agree; None otherwise."""
        service, date = await self._source.fetch_task_counts(job.facts.id)
        if service.as_service_counts() != snapshot.counts.as_service_counts():
            return None
        agreement = Agreement(date or snapshot.as_of, as_of=snapshot.as_of)
        confirmed = replace(job, snapshot=replace(snapshot, agreement=agreement))
        return PollResult(confirmed, Confirmation(snapshot.version, snapshot.as_of, agreement, snapshot.read))

    async def _unchanged(
        self, job: Job, snapshot: JobSnapshot, as_of: datetime, *, deadline: float
    ) -> PollResult | None:
        """Confirms a settled job if its delta is empty.

        Otherwise returns None, as tasks were listed before the ETags.
        """
        since, pages = snapshot.watermark(self.overlap), 0
        async for page in self._source.fetch_task_pages(job.facts.id, changed_since=since):
            if page.tasks:
                return None
            pages += 1
            if page.next_link and is_long_list(pages, deadline):
                left = (IdRange(cursor=page.next_link),)
                await self._leave(job, ReadPlan(snapshot.generation, as_of, as_of, since, left, newest=page.date))
        later = replace(snapshot, as_of=as_of, source="delta", read=current_meter().read)
        return PollResult(replace(job, snapshot=later), later.confirmation)

    async def _delta(self, job: Job, snapshot: JobSnapshot, as_of: datetime, *, deadline: float = inf) -> PollResult:
        partition = generation_partition(self._source.account.key, job.key, snapshot.generation)
        directory = await self._cache.load_directory(partition)  # before listing: see ETags in folding
        since = snapshot.watermark(self.overlap)
        pages = self._source.fetch_task_pages(job.facts.id, changed_since=since)
        reading = await read_pages(
            self._cache,
            pages,
            directory,
            most=self.short_read,
            most_pages=SHORT_LIST,
            deadline=deadline,
            incarnation=Incarnation(self._source, job, since),
            mark=self.mark(job),
        )
        if reading.next_link:
            left = (IdRange(cursor=reading.next_link),)
            plan = ReadPlan(snapshot.generation, as_of, as_of, since, left, reading.received, newest=reading.date)
            await self._leave(job, plan)
        return await self.followed(job, reading, as_of=as_of, moved=False)

    def mark(self, job: Job) -> DirtyMark:
        """Returns the mark for a read into the served generation."""
        return DirtyMark(self._records, self._source.account.key, job)

    async def _leave(self, job: Job, plan: ReadPlan) -> NoReturn:
        """Stores the rest of a delta, unless one is already waiting, and raises LongReadError."""
        with suppress(CacheConflictError):
            await self._plans.save(generation_partition(self._source.account.key, job.key, plan.generation), plan)
        raise LongReadError(job.facts.id)

    async def followed(self, job: Job, reading: ReadState, *, as_of: datetime, moved: bool) -> PollResult:
        """Returns the job after a delta; `moved` means that it changed leaves before `reading` began.

        Raises BatchError, StorageError, CacheConflictError.
        """
        snapshot = job.snapshot
        if snapshot is None:
            raise CacheConflictError(f"The job '{job.facts.id}' was re-created while it was polled.")
        compared = await fold_and_compare(
            self._cache, self._source, job, reading, snapshot.agreement, as_of=as_of, moved=moved
        )
        directory = compared.directory
        job = reading.mark.job if reading.mark else job
        if compared.moved or not _matches_directory(snapshot, directory):
            directory = await self._cache.save_head(directory, as_of)
            statistics, failed = directory.statistics, directory.failed_tasks
            snapshot = replace(snapshot, moved_at=as_of, statistics=statistics, failed_tasks=failed)
        snapshot = replace(
            snapshot,
            as_of=as_of,
            source="delta",
            counts=directory.counts,
            agreement=compared.agreement,
            read=current_meter().read,
            counters=directory.counters,
        )
        return await self._settled(job, snapshot)

    async def _repaired(self, job: Job, t0: datetime | None) -> PollResult:
        """Runs a repair; if it can't correct the counts, a difference remains and a full read follows."""
        repaired = await repair(self._cache, self._source, self.mark(job), overlap=self.overlap, t0=t0)
        return PollResult(await self._records.save(self._source.account.key, self._sealed(repaired)))

    async def _settled(self, job: Job, snapshot: JobSnapshot) -> PollResult:
        """Confirms a snapshot that only holds longer; writes any other, and seals the job if it is final.

        A difference of a completed job is also written: confirmations of sealed jobs don't last, and another poll may
        have sealed it meanwhile.
        """
        settled = self._sealed(job.with_snapshot(snapshot))
        is_difference = job.facts.state == COMPLETED and snapshot.agreement.disagreements > 0
        if settled.finalized or job.dirty or is_difference or snapshot.is_news(job.snapshot):
            return PollResult(await self._records.save(self._source.account.key, settled))
        return PollResult(settled, snapshot.confirmation)

    def _sealed(self, job: Job) -> Job:
        return replace(job, finalized=job.may_be_finalized(self.overlap))

    async def _seen_again(self, job: Job, t0: datetime | None) -> Job:
        """Returns the current state of a job after a conflict with another poll or a missing response.

        It may have been re-created, or is marked as deleted after a GET's 404.
        """
        self.forget(job)
        stored = await self._records.load(self._source.account.key, job.facts.id) or Job(job.facts)
        try:
            return stored.seen(await self._source.fetch_job(job.facts.id))
        except BatchMissingError:
            gone = stored.gone(t0 or job.facts.state_transition_time)
            return await self._records.save(self._source.account.key, gone)


def _matches_directory(snapshot: JobSnapshot, directory: Directory) -> bool:
    """Returns False if another poll wrote leaves and hasn't updated the job's row: it died or was overtaken."""
    if snapshot.counts != directory.counts:
        return False
    if snapshot.statistics:
        return snapshot.statistics.origin == directory.origin
    return directory.origin is None or directory.summary is None


def _later(t0: datetime | None, snapshot: JobSnapshot) -> datetime:
    """Returns T0, or the snapshot's date if that is later or T0 is unknown."""
    return max(t0, snapshot.as_of) if t0 else snapshot.as_of
