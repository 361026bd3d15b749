"""Walks over a job's cached tasks, leaf by leaf in ascending or descending order of ids, while polls continue.

Every key is visited once. If a leaf was rewritten or another generation is served, the walk continues with the new
state, so it neither repeats nor skips a task that existed all the time. The result isn't a snapshot: leaves read later
show later changes. Up to eight leaves are read ahead, more the longer a walk lasts, and no others are in memory.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice

from shared.domain.core.keys import KeyRange
from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import CacheConflictError
from shared.services.queries.queries import Queries
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.leaf_rows import LeafEntry
from shared.stores.jobs.task_cache import Directory, TaskCache

_ALL = KeyRange()
_TRIES = 5
_MAX_AHEAD = 8


@dataclass(frozen=True, slots=True)
class Slice:
    """A leaf, and the range of its keys to use."""

    leaf: Leaf
    keys: KeyRange

    @property
    def places(self) -> range:
        return self.keys.places(self.leaf.keys)


type Wanted = Callable[[TaskCounts, bytes | None], bool]
type Holds = Callable[[KeyRange], bool]
type Plan = list[tuple[LeafEntry, KeyRange]]


class LeafReader:
    """Walks over the tasks of jobs that `queries` knows."""

    def __init__(self, queries: Queries, cache: TaskCache) -> None:
        self._queries = queries
        self._cache = cache

    async def slices(
        self,
        account_id: str,
        job_id: str,
        *,
        keys: KeyRange = _ALL,
        wanted: Wanted = lambda _counts, _summary: True,
        holds: Holds = lambda _: True,
        backwards: bool = False,
    ) -> AsyncGenerator[Slice]:
        """Yields the leaves with keys in a range and wanted counts and summaries; none before the first read.

        Ranges for which `holds` returns False aren't read. Callers that stop early must close the generator. Raises
        NotFoundError before the first leaf, CacheConflictError if polls are always faster.
        """
        tries = 0
        while True:
            partition, plan = await self._plan(account_id, job_id, keys, wanted, holds)
            steps = _read(self._cache, partition, plan[::-1] if backwards else plan)
            try:
                async with aclosing(steps):
                    async for step in steps:
                        yield step
                        tries, keys = 0, _left(keys, step.keys, backwards=backwards)
            except CacheConflictError:
                tries += 1
                if tries == _TRIES:
                    raise CacheConflictError(
                        f"The tasks of '{job_id}' change too fast to be listed; try again."
                    ) from None
                continue
            return

    async def _plan(
        self, account_id: str, job_id: str, keys: KeyRange, wanted: Wanted, holds: Holds
    ) -> tuple[str, Plan]:
        report = await self._queries.job(account_id, job_id)
        if report.job.snapshot is None or keys.is_empty:
            return "", []
        partition = generation_partition(report.account.key, report.job.key, report.job.snapshot.generation)
        parts = _parts(await self._cache.read_directory(partition))
        common = ((entry, keys.common(part)) for entry, part in parts if wanted(entry.counts, entry.summary))
        return partition, [(entry, part) for entry, part in common if not part.is_empty and holds(part)]


def _parts(directory: Directory) -> Plan:
    """Returns each leaf with its range of keys."""
    lows = [entry.row[1:] for entry in directory.leaves]
    highs = [*lows[1:], None] if lows else []  # a job without tasks has no leaf
    return [(entry, KeyRange(low, high)) for entry, low, high in zip(directory.leaves, lows, highs, strict=True)]


def _left(keys: KeyRange, done: KeyRange, *, backwards: bool) -> KeyRange:
    """Returns the rest of a range after a part of it."""
    if backwards:
        return KeyRange(keys.low, done.low)
    return KeyRange(keys.low, keys.low) if done.high is None else KeyRange(done.high, keys.high)


async def _read(cache: TaskCache, partition: str, plan: Sequence[tuple[LeafEntry, KeyRange]]) -> AsyncGenerator[Slice]:
    """Yields the leaves of a plan, some read ahead. Raises CacheConflictError at the first rewritten leaf."""
    rest, ahead = iter(plan), 1
    under_way: deque[tuple[asyncio.Task[Leaf], KeyRange]] = deque()
    try:
        while True:
            under_way.extend(
                (asyncio.create_task(cache.load_leaf(partition, entry)), keys)
                for entry, keys in islice(rest, ahead - len(under_way))
            )
            if not under_way:
                return
            leaf, keys = under_way.popleft()
            yield Slice(await leaf, keys)
            ahead = min(2 * ahead, _MAX_AHEAD)
    finally:
        for task, _ in under_way:
            task.cancel()
        await asyncio.gather(*(task for task, _ in under_way), return_exceptions=True)
