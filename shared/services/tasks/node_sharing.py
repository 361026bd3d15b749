"""Counts tasks that ran on a node beside another, from stored runs, without requests to Batch.

Jobs that may have used the pool then are read up to a limit: the task's own job first, of a large one the tasks with
neighbouring ids.
"""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import KeyRange, key_of, keys_before
from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.jobs import Job
from shared.domain.tasks.tasks import Task
from shared.domain.telemetry.query.task_runs import NodeInterval
from shared.domain.timeline.timeline import Run, runs_of
from shared.errors import CacheConflictError, NotFoundError
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.jobs.jobs import JobStore

_ALL = KeyRange()
_MAX_TASKS = 200_000  # of the task's own job, and of all others


@dataclass(frozen=True, slots=True)
class NodeSharingCount:
    """The number of other tasks whose latest run overlapped on the node; a lower bound unless `is_complete`."""

    tasks: int
    is_complete: bool


class NodeSharingService:
    def __init__(self, jobs: JobStore, walk: LeafReader) -> None:
        self._jobs = jobs
        self._walk = walk

    async def of(self, account: Account, job: Job, task: Task, stay: NodeInterval) -> NodeSharingCount:
        """Returns how many tasks shared the node with a task's stay. Raises CacheConflictError, StorageError."""
        own, is_complete = await self._own_runs(account, job, task, stay)
        tasks = sum(run.task != task.id for run in own)
        known = await self._jobs.load_known(account.key)
        room, is_complete = _MAX_TASKS, is_complete and not known.unreadable
        for other in _latest_first(known.jobs):
            if other.key == job.key or not _may_share(other, stay):
                continue
            room -= other.snapshot.counts.total if other.snapshot else 0
            runs = await self._runs_or_none(account, other, stay) if other.snapshot and room >= 0 else None
            clear = [run for run in runs or () if run.end or not other.deleted]
            tasks += len(clear)  # the end of runs that a deleted job left open is unknown
            is_complete = is_complete and runs is not None and len(clear) == len(runs)
        return NodeSharingCount(tasks, is_complete)

    async def _own_runs(self, account: Account, job: Job, task: Task, stay: NodeInterval) -> tuple[list[Run], bool]:
        """Returns the runs of the task's own job, and whether these are all."""
        if job.snapshot is None or job.snapshot.counts.total <= _MAX_TASKS:
            return await self._runs(account, job, stay), True
        key, half = key_of(task.id), _MAX_TASKS // 2
        before = await self._runs(account, job, stay, keys_before(key), most=half, backwards=True)
        return before + await self._runs(account, job, stay, KeyRange(key), most=half), False

    async def _runs_or_none(self, account: Account, job: Job, stay: NodeInterval) -> list[Run] | None:
        """Returns a job's runs, None if the job changes too fast or is deleted."""
        try:
            return await self._runs(account, job, stay)
        except (CacheConflictError, NotFoundError):
            return None

    async def _runs(
        self,
        account: Account,
        job: Job,
        stay: NodeInterval,
        keys: KeyRange = _ALL,
        *,
        most: int | None = None,
        backwards: bool = False,
    ) -> list[Run]:
        """Returns the runs of a range's first or last `most` tasks, rounded up to whole leaves."""
        found, seen = list[Run](), 0
        slices = self._walk.slices(account.id, job.facts.id, keys=keys, backwards=backwards)
        async with aclosing(slices):
            async for part in slices:
                found += stay.shared_by(runs_of(part.leaf, part.places))
                seen += len(part.places)
                if most is not None and seen >= most:
                    break
        return found


def _latest_first(jobs: Mapping[str, Job]) -> list[Job]:
    return sorted(jobs.values(), key=lambda job: job.facts.creation_time, reverse=True)


def _may_share(job: Job, stay: NodeInterval) -> bool:
    """Returns whether tasks of a job may have run in the pool then."""
    facts, over = job.facts, job.facts.end_time or job.deleted_at
    return (
        (facts.pool_id is None or key_of(facts.pool_id) == key_of(stay.node[0]))
        and to_milliseconds(facts.creation_time) < stay.end
        and (over is None or to_milliseconds(over) > stay.begin)
    )
