"""One poll of one job's tasks: a delta into the generation that is served, or a first read into a new one.

The order of steps is what makes counts exact; docs/architecture.md tells it step by step, and every step that fails
leaves a state from which the next poll converges.
"""

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.domain.jobs import Confirmation, Job, Picture
from shared.domain.tasks import Task, TaskCounts
from shared.domain.verdicts import AGREEMENT_LASTS
from shared.errors import BatchAnswerError, BatchMissingError, CacheConflictError
from shared.services.folding import fold
from shared.stores.batch import BatchAccount, TaskPage
from shared.stores.jobs import JobStore, generation_partition
from shared.stores.task_cache import Directory, TaskCache

_ATTEMPTS = 4
_PASS = 20_000
_RECOUNT_BEFORE_EXPIRY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Polled:
    """The job after a poll. With a `confirmation` nothing of it needs writing: it holds as of T0 as it is stored."""

    job: Job
    confirmation: Confirmation | None = None


@dataclass(slots=True)
class _Read:
    """A listing under way: what is folded already, `rest` that isn't, `date` of its last page."""

    directory: Directory
    rest: list[Task] = field(default_factory=list)
    touched: bool = False
    moved: bool = False
    date: datetime | None = None


class TaskPoll:
    def __init__(self, cache: TaskCache, jobs: JobStore, *, overlap: timedelta) -> None:
        self._cache = cache
        self._jobs = jobs
        self._overlap = overlap

    async def poll(self, source: BatchAccount, job: Job, t0: datetime | None) -> Polled:
        """Brings a job's picture up to T0, the date of a response received before now; None doesn't advance it.

        A conflict with another poll, or a job that was re-created meanwhile, starts the poll again from what is
        stored by then. Raises BatchError, StorageError, and CacheConflictError where others are always first or
        have begun another first read.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                return await self._poll_once(source, job, t0)
            except CacheConflictError as conflict:
                job = await self._reloaded(source, job)
                if job.picture is None and job.building:  # two first reads that took turns would never end
                    raise CacheConflictError(f"Another process is reading '{job.facts.id}' meanwhile.") from conflict
            except BatchMissingError:
                found = await self._seen_again(source, job, t0)
                if found.deleted:
                    return Polled(found)
                job = found
        return await self._poll_once(source, job, t0)

    async def _poll_once(self, source: BatchAccount, job: Job, t0: datetime | None) -> Polled:
        if job.picture is None:
            return await self._first_read(source, job, t0)
        return await self._delta(source, job, job.picture, t0)

    async def _delta(self, source: BatchAccount, job: Job, picture: Picture, t0: datetime | None) -> Polled:
        partition = generation_partition(source.account.key, job.key, picture.generation)
        directory = await self._cache.load_directory(partition)  # before listing: see ETags in folding
        pages = source.fetch_task_pages(job.facts.id, changed_since=picture.watermark(self._overlap))
        read = await self._read(pages, directory)
        as_of = max(t0, picture.as_of) if t0 else picture.as_of
        wanted = read.touched or _wants_counting(picture, as_of) or job.is_final(as_of, self._overlap)
        service = await source.fetch_task_counts(job.facts.id) if wanted else None
        directory, moved = await fold(self._cache, read.directory, read.rest)
        if moved or read.moved or directory.counts != picture.counts:
            directory = await self._cache.save_head(directory, as_of)
            picture = replace(picture, moved_at=as_of)
        picture = replace(picture, as_of=as_of, source="delta", counts=directory.counts)
        picture = await self._compared(source, job, picture, service)
        return await self._settled(source, job, picture)

    async def _first_read(self, source: BatchAccount, job: Job, t0: datetime | None) -> Polled:
        """One listing into a new generation, a catch-up delta if it took more than a page, then the pointer."""
        if t0 is None:
            raise BatchAnswerError(f"{source.account.endpoint} answers without a Date header; counts can't be dated.")
        pages = source.fetch_task_pages(job.facts.id)
        first = await anext(pages)  # a list that can't be had leaves no trace
        job = await self._begun(source, job, t0)
        generation = job.building or ""
        directory = Directory(generation_partition(source.account.key, job.key, generation))
        read = await self._read(_resumed(first, pages), directory)
        as_of = t0
        if not first.is_last:
            directory, _ = await fold(self._cache, read.directory, read.rest)
            as_of = read.date or t0
            changes = source.fetch_task_pages(job.facts.id, changed_since=t0 - self._overlap)
            read = await self._read(changes, directory)
        service = await source.fetch_task_counts(job.facts.id)
        directory, _ = await fold(self._cache, read.directory, read.rest)
        directory = await self._cache.save_head(directory, as_of)
        picture = Picture(generation, as_of, "firstRead", directory.counts, full_read_at=t0, moved_at=as_of)
        picture = await self._compared(source, job, picture, service)
        return await self._settled(source, replace(job, building=None, building_since=None), picture)

    async def _read(self, pages: AsyncIterator[TaskPage], directory: Directory) -> _Read:
        """Folds a listing in passes, but for the last: Get Task Counts is to be asked before time goes into that."""
        read = _Read(directory)
        async for page in pages:
            read.date = page.date
            read.touched = read.touched or bool(page.tasks)
            read.rest += page.tasks
            if len(read.rest) >= _PASS and not page.is_last:
                read.directory, moved = await fold(self._cache, read.directory, read.rest)
                read.moved = read.moved or moved
                read.rest = []
        return read

    async def _begun(self, source: BatchAccount, job: Job, t0: datetime) -> Job:
        """Notes the new generation before its first leaf is written, so that a crash leaves nothing unknown behind."""
        retired = (*job.retired, job.building) if job.building else job.retired
        generation = f"{int(t0.timestamp()):x}-{secrets.token_hex(4)}"
        job = replace(job, building=generation, building_since=t0, retired=retired)
        return await self._saved(source, job)

    async def _settled(self, source: BatchAccount, job: Job, picture: Picture) -> Polled:
        """A picture that only holds longer is a confirmation; any other is written, and sealed if it is final."""
        settled = replace(job, picture=picture)
        settled = replace(settled, sealed=settled.may_be_sealed(self._overlap))
        before = job.picture
        if before and not settled.sealed and picture.counts == before.counts and picture.moved_at == before.moved_at:
            return Polled(settled, Confirmation(picture.generation, picture.as_of, picture.agreement))
        return Polled(await self._saved(source, settled))

    async def _compared(
        self, source: BatchAccount, job: Job, picture: Picture, service: tuple[TaskCounts, datetime | None] | None
    ) -> Picture:
        """After comparing with Get Task Counts, if it was asked: right after the listing, as tasks don't stand still.

        A difference may mean that the job was re-created since the job list: then the poll starts again.
        """
        if service is None:
            return picture
        counts, date = service
        before = job.picture.counts if job.picture else None
        agreement = picture.agreement.compared(picture.counts, counts, date or picture.as_of, before=before)
        if agreement.disagreements:
            facts = await source.fetch_job(job.facts.id)
            if facts.creation_time != job.facts.creation_time:
                raise CacheConflictError(f"The job '{job.facts.id}' was re-created while it was polled.")
        return replace(picture, agreement=agreement)

    async def _saved(self, source: BatchAccount, job: Job) -> Job:
        return replace(job, etag=await self._jobs.save(source.account.key, job))

    async def _reloaded(self, source: BatchAccount, job: Job) -> Job:
        if job.picture:
            self._cache.forget(generation_partition(source.account.key, job.key, job.picture.generation))
        stored = await self._jobs.load(source.account.key, job.facts.id)
        facts = await source.fetch_job(job.facts.id)
        return (stored or Job(facts)).seen(facts)

    async def _seen_again(self, source: BatchAccount, job: Job, t0: datetime | None) -> Job:
        """The job as it is now that something of it was missing: re-created, or marked as deleted by a GET's 404."""
        stored = await self._jobs.load(source.account.key, job.facts.id) or job
        try:
            return stored.seen(await source.fetch_job(job.facts.id))
        except BatchMissingError:
            return await self._saved(source, stored.gone(t0 or job.facts.state_transition_time))


async def _resumed(first: TaskPage, rest: AsyncIterator[TaskPage]) -> AsyncIterator[TaskPage]:
    yield first
    async for page in rest:
        yield page


def _wants_counting(picture: Picture, as_of: datetime) -> bool:
    """True where the last agreement with Get Task Counts won't stand for much longer, or there was none since."""
    agreement = picture.agreement
    if agreement.at is None or agreement.disagreements:
        return True
    return as_of - agreement.at >= AGREEMENT_LASTS - _RECOUNT_BEFORE_EXPIRY
