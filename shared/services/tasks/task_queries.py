"""Lists of a job's cached tasks: filtered, sorted, and a number of them after a position."""

from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing

from shared.domain.core.keys import KeyRange, keys_after, keys_before
from shared.domain.leaves.task_filters import TaskFilter
from shared.domain.leaves.task_lists import TaskList
from shared.domain.leaves.task_order import BestTasks
from shared.domain.tasks.tasks import Task
from shared.services.tasks.leaf_reader import LeafReader


class TaskQueries:
    """Lists tasks without requests to Batch."""

    def __init__(self, walk: LeafReader) -> None:
        self._walk = walk

    async def tasks(self, account_id: str, job_id: str, listed: TaskList) -> AsyncGenerator[list[Task]]:
        """Yields tasks in order, in batches of up to some thousand; callers that stop early must close the generator.

        In order of ids it reads only until the list is full; other orders read all leaves with possible matches. Raises
        NotFoundError before the first batch, CacheConflictError.
        """
        tasks = self._by_id if listed.order.is_by_id else self._by_value
        async with aclosing(tasks(account_id, job_id, listed)) as batches:
            async for batch in batches:
                yield batch

    async def task(self, account_id: str, job_id: str, task_key: str) -> Task | None:
        """Returns one task by its key, or None. Raises NotFoundError for account and job."""
        keys = KeyRange(task_key, keys_after(task_key).low)
        async with aclosing(self._walk.slices(account_id, job_id, keys=keys)) as slices:
            async for part in slices:
                for at in part.places:
                    return part.leaf.row(at)
        return None

    async def named(self, account_id: str, job_id: str, keys: Collection[str]) -> dict[str, Task]:
        """Returns existing tasks by key; reads only leaves that may hold one. Raises the errors of `task`."""
        ordered, found = sorted(keys), dict[str, Task]()
        if not ordered:
            return found
        around = KeyRange(ordered[0], keys_after(ordered[-1]).low)
        slices = self._walk.slices(account_id, job_id, keys=around, holds=lambda part: bool(part.places(ordered)))
        async with aclosing(slices):
            async for part in slices:
                for key in (ordered[at] for at in part.keys.places(ordered)):
                    at = bisect_left(part.leaf.keys, key)
                    if part.leaf.keys[at : at + 1] == [key]:
                        found[key] = part.leaf.row(at)
        return found

    async def slots(self, account_id: str, job_id: str, wanted: TaskFilter, most: int) -> Counter[int]:
        """Returns the numbers of the first tasks by the slots that each requires. Raises the errors of `tasks`."""
        found = Counter[int]()
        async with aclosing(self._walk.slices(account_id, job_id, wanted=wanted.may_match)) as slices:
            async for part in slices:
                slots, places = part.leaf.column("slots"), wanted.places(part.leaf, part.keys)
                found.update(slots[at] for at in places[: most - found.total()])
                if found.total() >= most:
                    break
        return found

    async def _by_id(self, account_id: str, job_id: str, listed: TaskList) -> AsyncGenerator[list[Task]]:
        wanted, backwards, left = listed.wanted, listed.order.descending, listed.limit
        keys = wanted.keys
        if listed.after is not None:
            key = listed.after[-1]
            keys = keys.common(keys_before(key) if backwards else keys_after(key))
        slices = self._walk.slices(account_id, job_id, keys=keys, wanted=wanted.may_match, backwards=backwards)
        async with aclosing(slices):
            async for part in slices:
                places = wanted.places(part.leaf, part.keys)
                chosen = (places[::-1] if backwards else places)[:left]
                yield part.leaf.rows(chosen)
                left -= len(chosen)
                if not left:
                    return

    async def _by_value(self, account_id: str, job_id: str, listed: TaskList) -> AsyncGenerator[list[Task]]:
        wanted, best = listed.wanted, BestTasks(listed.order, listed.limit, listed.after)
        slices = self._walk.slices(account_id, job_id, keys=wanted.keys, wanted=wanted.may_match)
        async with aclosing(slices):
            async for part in slices:
                best.take(part.leaf, wanted.places(part.leaf, part.keys))
        yield best.tasks()
