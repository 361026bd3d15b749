"""The cheap repair: lists the tasks that haven't completed and compares them with the live tasks of the cache.

Listed tasks are folded in. Cached live tasks that aren't listed completed unseen or were deleted; they are looked up
one by one. Deleted tasks, or too many missing ones, stay as they are, and the comparison at the end reports a
difference: only a new generation removes tasks.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.core.keys import key_of, keys_of
from shared.domain.jobs.jobs import Job
from shared.domain.jobs.reconciliation import LASTING, live_of
from shared.domain.jobs.snapshots import Agreement
from shared.domain.tasks.tasks import COMPLETED, Task
from shared.errors import LongReadError
from shared.services.reading.comparison import fold_and_compare
from shared.services.reading.dirty_mark import DirtyMark
from shared.services.reading.incarnation import Incarnation
from shared.services.reading.read_state import SHORT_LIST, ReadState, finish, read_pages
from shared.stores.batch.batch import BatchAccount, TaskPage
from shared.stores.batch.read_meter import current_meter
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.task_cache import Directory, TaskCache

_LOOK_UPS = 100
_WINDOW = 64  # leaves in memory at the same time


async def repair(
    cache: TaskCache, source: BatchAccount, mark: DirtyMark, *, overlap: timedelta, t0: datetime | None
) -> Job:
    """Returns the mark's job, which has a snapshot, after a repair.

    Raises BatchError, StorageError, CacheConflictError. Raises LongReadError if one of its lists has many pages: unlike
    a full read, a repair can't be continued.
    """
    job = mark.job
    snapshot = job.snapshot
    if snapshot is None:
        return job
    as_of = max(t0, snapshot.as_of) if t0 else snapshot.as_of
    directory = await cache.load_directory(generation_partition(source.account.key, job.key, snapshot.generation))
    live, seen = await _live_tasks(cache, directory), set[str]()
    incarnation = Incarnation(source, job, snapshot.watermark(overlap))

    async def received(pages: AsyncIterator[TaskPage], directory: Directory) -> ReadState:
        noted = _noted(pages, seen)
        reading = await read_pages(cache, noted, directory, most_pages=SHORT_LIST, incarnation=incarnation, mark=mark)
        if reading.next_link:
            raise LongReadError(job.facts.id)
        return reading

    listed = await received(source.fetch_task_pages(job.facts.id, state="live"), directory)
    await finish(cache, listed)
    changes = source.fetch_task_pages(job.facts.id, changed_since=as_of - overlap)
    reading = await received(changes, listed.directory)
    found, lost = await _looked_up(source, job, [name for key, name in live.items() if key not in seen])
    reading.rest += found
    compared = await fold_and_compare(cache, source, job, reading, snapshot.agreement, as_of=as_of)
    directory = await cache.save_head(compared.directory, as_of)
    moved = compared.moved or listed.moved or directory.counts != snapshot.counts
    repaired = replace(
        snapshot,
        as_of=as_of,
        source="repair",
        counts=directory.counts,
        moved_at=as_of if moved else snapshot.moved_at,
        live_read_at=as_of,
        agreement=_mistrusted(compared.agreement) if lost else compared.agreement,
        statistics=directory.statistics,
        read=current_meter().read,
        failed_tasks=directory.failed_tasks,
        counters=directory.counters,
    )
    return mark.job.with_snapshot(repaired)


async def _noted(pages: AsyncIterator[TaskPage], seen: set[str]) -> AsyncIterator[TaskPage]:
    async for page in pages:
        seen.update(keys_of([task.id for task in page.tasks]))
        yield page


async def _live_tasks(cache: TaskCache, directory: Directory) -> dict[str, str]:
    """Returns ids of the cached tasks that haven't completed, by key."""
    entries = [entry for entry in directory.leaves if live_of(entry.counts)]
    live: dict[str, str] = {}
    for start in range(0, len(entries), _WINDOW):
        for leaf in await cache.load_leaves(directory.partition, entries[start : start + _WINDOW]):
            live |= {key_of(task.id): task.id for task in leaf if task.state != COMPLETED}
    return live


async def _looked_up(source: BatchAccount, job: Job, missing: list[str]) -> tuple[list[Task], bool]:
    """Returns the current state of missing tasks, and whether any are lost: deleted, or too many to look up."""
    if len(missing) > _LOOK_UPS:
        return [], True
    found = [await source.fetch_task(job.facts.id, name) for name in missing]
    return [task for task in found if task], None in found


def _mistrusted(agreement: Agreement) -> Agreement:
    """Returns an agreement that calls for a full read, as Get Task Counts lags and may confirm wrong counts."""
    return replace(agreement, disagreements=max(agreement.disagreements, LASTING + 1))
