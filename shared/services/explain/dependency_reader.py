"""Reads the dependencies of a job's waiting tasks, and the states of the tasks that they depend on.

Dependencies come from Batch, for a bounded number of tasks; states come from the cache. For three failed tasks Batch is
asked whether they satisfy dependencies nevertheless. If one does, the other failed ones stay unknown; otherwise they
count as not satisfying, as is the default. For three uncached tasks Batch is asked whether they exist, as they may be
newer than the cache; the others stay unknown.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import NamedTuple

from shared.domain.core.keys import key_of
from shared.domain.dependencies.dependencies import (
    MAX_KEYS,
    Dependencies,
    Standing,
    WaitingTask,
    dependencies_of,
    is_depended_on,
    wanted_keys,
)
from shared.domain.leaves.task_filters import TaskFilter
from shared.domain.leaves.task_lists import TaskList
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, FAILURE, PREPARING, RUNNING, Task
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.batch.batch_evidence import BatchEvidence

MAX_ASKED = 3  # of each kind
_MAX_LISTED = 1000  # tasks of each kind
_KEEPING = (
    TaskFilter(results=frozenset({FAILURE})),
    TaskFilter(states=frozenset({RUNNING, PREPARING})),
    TaskFilter(states=frozenset({ACTIVE})),
)
_ASKED: tuple[Standing, ...] = ("failed", "missing")


class FoundDependencies(NamedTuple):
    """The tasks that hold the waiting ones.

    `unread` others are neither cached nor requested. `surmised` failed ones are assumed to satisfy no dependency.
    `is_cut`: waiting tasks depend on at least MAX_KEYS others, so some may not have been read, and for some waiting
    tasks no blocker is known.
    """

    dependencies: Dependencies
    unread: int
    surmised: int
    is_cut: bool


class DependencyReader:
    def __init__(self, evidence: BatchEvidence, tasks: TaskQueries) -> None:
        self._evidence = evidence
        self._tasks = tasks

    async def read(self, report: JobReport) -> FoundDependencies:
        """Returns the dependencies that hold a job's waiting tasks. Raises BatchError, CacheConflictError."""
        job = report.job.facts.id
        waiting, whole = await self._evidence.fetch_waiting(job)
        names = wanted_keys(waiting)
        wait = {key_of(task.id) for task in waiting}
        known = await self._tasks.named(report.account.id, job, names.keys() - wait)
        is_cut = len(names) == MAX_KEYS
        if is_cut:
            known |= (far := await self._far(report, waiting))
            names |= {key: task.id for key, task in far.items()} | {key_of(task.id): task.id for task in waiting}
        standings: dict[str, Standing] = {key: "waiting" if key in wait else _standing(known.get(key)) for key in names}
        first = dependencies_of(waiting, standings, whole=whole)
        order = [*(blocker.key for blocker in first.blockers), *names]
        asked = [key for kind in _ASKED for key in _first(order, standings, kind)]
        told = {key: await self._evidence.fetch_standing(job, names[key]) for key in asked}
        is_lenient = any(told[key] == "satisfied" and standings[key] == "failed" for key in asked)
        unknown = {"missing", "failed"} if is_lenient else {"missing"}
        settled: dict[str, Standing] = {
            key: told.get(key, "unknown" if standing in unknown else standing) for key, standing in standings.items()
        }
        left = [standing for key, standing in settled.items() if key not in told]
        found = dependencies_of(waiting, settled, whole=whole)
        return FoundDependencies(
            found,
            unread=len(names.keys() - wait - known.keys() - told.keys()),
            surmised=left.count("failed"),
            is_cut=is_cut and found.unsure > 0,
        )

    async def _far(self, report: JobReport, waiting: Sequence[WaitingTask]) -> dict[str, Task]:
        """Returns the first stored unfinished or failed tasks in ranges that waiting tasks depend on, by key."""
        found: dict[str, Task] = {}
        for wanted in _KEEPING:
            listed = self._tasks.tasks(report.account.id, report.job.facts.id, TaskList(_MAX_LISTED, wanted))
            async with aclosing(listed) as batches:
                async for batch in batches:
                    found |= {key: task for task in batch if is_depended_on(key := key_of(task.id), waiting)}
        return found


def _first(order: Iterable[str], standings: Mapping[str, Standing], kind: Standing) -> list[str]:
    """Returns the first tasks of a standing, which hold the most others."""
    return list(dict.fromkeys(key for key in order if standings[key] == kind))[:MAX_ASKED]


def _standing(task: Task | None) -> Standing:
    """Returns the standing of a cached task, `missing` without one; success satisfies dependencies by default."""
    if task is None:
        return "missing"
    if task.state == COMPLETED:
        return "failed" if task.result == FAILURE else "satisfied"
    return "running" if task.state in {PREPARING, RUNNING} else "waiting"
