"""Slots required by a job's stored unfinished tasks, and the most retried of these."""

from contextlib import aclosing

from shared.domain.jobs.observations import RequiredSlots, RetriedTask
from shared.domain.leaves.task_filters import TaskFilter
from shared.domain.leaves.task_lists import TaskList
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import ACTIVE, PREPARING, RUNNING, Task
from shared.services.tasks.task_queries import TaskQueries

LOOKED_AT, MAX_LOOKED_AT = 100, 10_000
_MAX_RETRIED = 3
_AGAIN = 2  # retries from which on their limit is requested


class UnfinishedTasks:
    def __init__(self, tasks: TaskQueries) -> None:
        self._tasks = tasks

    async def required_slots(
        self, report: JobReport, slots_per_node: int, *, by_all: bool = False
    ) -> RequiredSlots | None:
        """Returns the slots of the first waiting tasks, or None. Raises CacheConflictError, UnreadableError.

        It looks at 100 where all waiting tasks require as many slots as these, and these fit on a node; else, and with
        `by_all` where they require several, at up to MAX_LOOKED_AT.
        """
        found, snapshot = await self._slots(report, LOOKED_AT), report.job.snapshot
        waiting = snapshot.counts.active if snapshot else 0
        if found is None or found.looked >= waiting:
            return found
        statistics = snapshot.statistics.unpack() if snapshot and snapshot.statistics else None
        differ = found.may_differ(waiting, statistics.active_slots if statistics else None)
        if differ or found.most_slots > slots_per_node or (by_all and found.most_slots > 1):
            return await self._slots(report, MAX_LOOKED_AT)
        return found

    async def _slots(self, report: JobReport, most: int) -> RequiredSlots | None:
        waiting = TaskFilter(states=frozenset({ACTIVE}))
        found = await self._tasks.slots(report.account.id, report.job.facts.id, waiting, most)
        return RequiredSlots.of(found) if found else None

    async def most_retried(self, report: JobReport) -> tuple[RetriedTask, ...]:
        """Returns the most retried among the first tasks of each state, with at least two retries, the most first.

        Reads no tasks if the job has no retries. Raises CacheConflictError, UnreadableError.
        """
        snapshot = report.job.snapshot
        statistics = snapshot.statistics.unpack() if snapshot and snapshot.statistics else None
        if (
            snapshot is None
            or statistics is None
            or not statistics.retries
            or snapshot.counts.completed == snapshot.counts.total
        ):
            return ()
        tasks = [task for state in (RUNNING, PREPARING, ACTIVE) for task in await self._in_state(report, state)]
        tried = [task for task in tasks if task.retries >= _AGAIN]
        most = sorted(tried, key=lambda task: -task.retries)[:_MAX_RETRIED]
        return tuple(RetriedTask(task.id, task.retries, len(tried) - 1) for task in most)

    async def _in_state(self, report: JobReport, state: int) -> list[Task]:
        listed = TaskList(LOOKED_AT, TaskFilter(states=frozenset({state})))
        found: list[Task] = []
        async with aclosing(self._tasks.tasks(report.account.id, report.job.facts.id, listed)) as batches:
            async for batch in batches:
                found += batch
        return found
