"""Generations of a job's task cache: a full read fills a new one, and then the job's row points to it.

First reads, reads of re-created jobs and reconciliations all work this way. Polls continue with the old generation
meanwhile. It is deleted when all its readers must have ended.
"""

import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.jobs.jobs import Job
from shared.domain.jobs.snapshots import Agreement, JobSnapshot, Source
from shared.domain.reads.read_plans import ReadPlan
from shared.domain.tasks.task_counters import TaskCounters
from shared.errors import BatchAnswerError, CacheConflictError, LongReadError
from shared.services.jobs.job_records import JobRecords
from shared.services.reading.comparison import ComparisonResult, fold_and_compare
from shared.services.reading.generation_counters import gained_between
from shared.services.reading.incarnation import Incarnation, RecreatedError, refuse_another
from shared.services.reading.read_state import ReadState, finish, read_pages
from shared.stores.batch.batch import BatchAccount, TaskPage
from shared.stores.batch.read_meter import current_meter
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.task_cache import Directory, TaskCache

_ATTEMPTS = 4


class Generations:
    """Full reads into new generations; `short_read` is the maximum number of tasks to list within a round."""

    def __init__(
        self, source: BatchAccount, cache: TaskCache, records: JobRecords, *, overlap: timedelta, short_read: int
    ) -> None:
        self._source = source
        self._cache = cache
        self._records = records
        self._overlap = overlap
        self._short_read = short_read

    async def read_anew(self, job: Job, t0: datetime | None) -> Job:
        """Lists all tasks into a new generation, adds a delta if it took more than a page, and switches the job to it.

        T0 is the date of a response received before now. Raises LongReadError for more than `short_read` tasks,
        CacheConflictError if another process began a full read of the job meanwhile, BatchError, StorageError.
        """
        t0 = max(dated(self._source, t0), job.facts.creation_time)
        pages = self._source.fetch_task_pages(job.facts.id)
        first = await anext(pages)  # a list that fails leaves nothing behind
        if not first.is_last and (await self._source.fetch_task_counts(job.facts.id))[0].total > self._short_read:
            raise LongReadError(job.facts.id)
        kind: Source = "fullRead" if job.snapshot else "firstRead"
        job = await self.begin(job, t0)
        directory = Directory(generation_partition(self._source.account.key, job.key, job.building or ""))
        most = 2 * self._short_read  # counts lag
        reading, as_of = await read_pages(self._cache, _resumed(first, pages), directory, most=most), t0
        if reading.next_link:
            raise LongReadError(job.facts.id)
        if not first.is_last:
            reading, as_of = await self._caught_up(job, reading, since=t0 - self._overlap, as_of=t0)
        snapshot = await self._snapshot_of(job, reading, kind=kind, as_of=as_of, t0=t0)
        await self.refuse_another(job)
        return await self._switched(job, snapshot)

    async def refuse_another(self, job: Job) -> None:
        """Records a job that was re-created under this one's id. Raises RecreatedError then, BatchError."""
        try:
            await refuse_another(self._source, job)
        except RecreatedError as error:
            known = await self._records.confirmed(self._source.account.key, job)
            await self._records.save(self._source.account.key, known.seen(error.facts))
            raise

    async def complete(self, job: Job, reading: ReadState, plan: ReadPlan) -> Job:
        """Switches the job to the generation of a long read. Raises CacheConflictError, BatchError, StorageError."""
        kind: Source = "fullRead" if job.snapshot else "firstRead"
        snapshot = await self._snapshot_of(job, reading, kind=kind, as_of=plan.as_of, t0=plan.begun_at)
        return await self._switched(job, snapshot)

    async def begin(self, job: Job, t0: datetime) -> Job:
        """Writes the new generation to the job's row before its first leaf; a crash leaves no unknown leaves."""
        begun = job.begun(f"{int(t0.timestamp()):x}-{secrets.token_hex(4)}", t0)
        return await self._records.save(self._source.account.key, begun)

    async def _caught_up(
        self, job: Job, reading: ReadState, *, since: datetime, as_of: datetime
    ) -> tuple[ReadState, datetime]:
        """Adds a delta to a listing; its T0 is the date of the listing's last page."""
        await finish(self._cache, reading)
        changes = self._source.fetch_task_pages(job.facts.id, changed_since=since)
        later = await read_pages(self._cache, changes, reading.directory)
        return later, max(as_of, reading.date or as_of)

    async def _snapshot_of(
        self, job: Job, reading: ReadState, *, kind: Source, as_of: datetime, t0: datetime
    ) -> JobSnapshot:
        before = job.snapshot.agreement if job.snapshot else Agreement()
        compared = await fold_and_compare(self._cache, self._source, job, reading, before, as_of=as_of)
        if before.disagreements and compared.agreement == before:  # not comparable: of another generation
            compared = replace(compared, agreement=Agreement())
        return await self._headed(compared, generation=job.building or "", kind=kind, as_of=as_of, t0=t0)

    async def _headed(
        self, compared: ComparisonResult, *, generation: str, kind: Source, as_of: datetime, t0: datetime
    ) -> JobSnapshot:
        directory = await self._cache.save_head(compared.directory, as_of)
        return JobSnapshot(
            generation,
            as_of,
            kind,
            directory.counts,
            full_read_at=t0,
            moved_at=as_of,
            live_read_at=t0,
            agreement=compared.agreement,
            statistics=directory.statistics,
            read=current_meter().read,
            failed_tasks=directory.failed_tasks,
            counters=directory.counters,
        )

    async def _switched(self, job: Job, snapshot: JobSnapshot) -> Job:
        """Switches the job to its new generation, after any writes and confirmations of the old one.

        These may be of a later date than the new snapshot, which then catches up before it is served.
        """
        for _ in range(_ATTEMPTS - 1):
            job, snapshot = await self._level_with_rounds(job, snapshot)
            try:
                return await self._pointed(job, snapshot)
            except CacheConflictError:
                stored = await self._records.load(self._source.account.key, job.facts.id)
                if stored is None or stored.building != job.building:
                    raise
                job = stored
        job, snapshot = await self._level_with_rounds(job, snapshot)
        return await self._pointed(job, snapshot)

    async def _level_with_rounds(self, job: Job, snapshot: JobSnapshot) -> tuple[Job, JobSnapshot]:
        """Returns the job with the latest confirmations of rounds, and a snapshot that isn't older than these."""
        for _ in range(_ATTEMPTS):
            job = await self._records.confirmed(self._source.account.key, job)
            if job.snapshot is None or job.snapshot.looked_at <= snapshot.as_of:
                break
            snapshot = await self._brought_up(job, snapshot, as_of=job.snapshot.looked_at)
        return job, snapshot

    async def _brought_up(self, job: Job, snapshot: JobSnapshot, *, as_of: datetime) -> JobSnapshot:
        """Returns the snapshot as of a later T0: the date of a response that another poll received before now."""
        partition = generation_partition(self._source.account.key, job.key, snapshot.generation)
        directory = await self._cache.load_directory(partition)
        since = snapshot.watermark(self._overlap)
        changes = self._source.fetch_task_pages(job.facts.id, changed_since=since)
        reading = await read_pages(self._cache, changes, directory, incarnation=Incarnation(self._source, job, since))
        compared = await fold_and_compare(self._cache, self._source, job, reading, snapshot.agreement, as_of=as_of)
        return await self._headed(
            compared, generation=snapshot.generation, kind=snapshot.source, as_of=as_of, t0=snapshot.full_read_at
        )

    async def _pointed(self, job: Job, snapshot: JobSnapshot) -> Job:
        switched = job.switched(snapshot, await self._counted_before(job, snapshot))
        switched = replace(switched, finalized=switched.may_be_finalized(self._overlap))
        return await self._records.save(self._source.account.key, switched)

    async def _counted_before(self, job: Job, snapshot: JobSnapshot) -> TaskCounters | None:
        """Returns the counters of the counted generation's leaves as of the new one's tasks, None without one."""
        if job.counted_generation is None:
            return None
        account = self._source.account.key
        old = await self._cache.read_directory(generation_partition(account, job.key, job.counted_generation))
        new = await self._cache.load_directory(generation_partition(account, job.key, snapshot.generation))
        return old.counters + await gained_between(self._cache, old, new)


def dated(source: BatchAccount, date: datetime | None) -> datetime:
    """Returns a date of the service. Raises BatchAnswerError without one."""
    if date is None:
        raise BatchAnswerError(f"{source.account.endpoint} answers without a Date header; counts can't be dated.")
    return date


async def _resumed(first: TaskPage, rest: AsyncIterator[TaskPage]) -> AsyncIterator[TaskPage]:
    yield first
    async for page in rest:
        yield page
