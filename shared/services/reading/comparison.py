"""Comparison of counts with Get Task Counts, after every read of a job within the service's validated number of tasks.

Get Task Counts is requested right after a list's last page. As tasks still move, a difference leads to a short list of
the latest changes and a second request. If the counts agree then, they agree. If the service's counts lie between the
two reads, it was movement; anything else is a difference.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.jobs.jobs import Job
from shared.domain.jobs.snapshots import Agreement
from shared.domain.tasks.tasks import VALIDATED_TASKS, TaskCounts, lies_between
from shared.services.reading.incarnation import refuse_another
from shared.services.reading.read_state import SHORT_LIST, ReadState, finish, is_long_list, read_pages
from shared.stores.batch.batch import BatchAccount
from shared.stores.jobs.task_cache import Directory, TaskCache

_LOOKS = 3
_LOOK_BACK = timedelta(seconds=2)  # dates are whole seconds, and node clocks differ slightly


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """The directory after the read, whether the read moved anything, and the result of the comparison."""

    directory: Directory
    moved: bool
    agreement: Agreement


async def fold_and_compare(
    cache: TaskCache,
    source: BatchAccount,
    job: Job,
    reading: ReadState,
    agreement: Agreement,
    *,
    as_of: datetime,
    moved: bool = False,
) -> ComparisonResult:
    """Folds in the rest of a read and compares; `agreement` is the result of the last comparison.

    It stays if only a list of many pages could explain a difference. `moved` means that the read changed leaves before
    `reading` began. Raises RecreatedError, CacheConflictError, BatchError, StorageError.
    """
    if _expected(reading) > VALIDATED_TASKS:
        await finish(cache, reading)
        return ComparisonResult(reading.directory, moved or reading.moved, Agreement())
    explained = False
    before: tuple[TaskCounts, TaskCounts] | None = None
    for look in range(_LOOKS):
        service, date = await source.fetch_task_counts(job.facts.id)
        await finish(cache, reading)
        counts, moved = reading.directory.counts, moved or reading.moved
        if counts.as_service_counts() == service.as_service_counts() and await _split_holds(source, job, reading):
            return ComparisonResult(reading.directory, moved, Agreement(at=date or as_of, as_of=as_of))
        explained = before is not None and before[0] != counts and lies_between(before[1], before[0], counts)
        if look == _LOOKS - 1 or (before and before[0] == counts):
            break
        before = (counts, service)
        changes = source.fetch_task_pages(job.facts.id, changed_since=(date or as_of) - _LOOK_BACK)
        reading = await read_pages(
            cache,
            changes,
            reading.directory,
            most_pages=SHORT_LIST,
            incarnation=reading.incarnation,
            mark=reading.mark,
        )
        if reading.next_link:  # if tasks move, the unread pages could explain any difference
            moved = explained = moved or reading.moved
            break
    await refuse_another(source, job)
    return ComparisonResult(reading.directory, moved, agreement if explained else agreement.differed(service))


def _expected(reading: ReadState) -> int:
    """Returns about how many tasks exist, before the rest is folded in."""
    return max(reading.directory.counts.total, len(reading.rest))


async def _split_holds(source: BatchAccount, job: Job, reading: ReadState) -> bool:
    """Returns whether the number of preparing tasks is right, which Get Task Counts includes in running.

    The reading proves it if it showed all of them; otherwise they are listed. If that list has many pages, the sum of
    both has to suffice.
    """
    preparing = reading.directory.counts.preparing
    if len(reading.preparing) == preparing:
        return True
    pages, found = 0, 0
    async for page in source.fetch_task_pages(job.facts.id, state="preparing"):
        pages, found = pages + 1, found + len(page.tasks)
        if page.next_link and is_long_list(pages):
            return True
    return found == preparing
