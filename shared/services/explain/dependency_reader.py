"""Reads the dependencies of a job's waiting tasks, and the states of the tasks that they depend on.

Dependencies come from Batch, for a bounded number of tasks; states come from the cache. For three failed tasks Batch is
asked whether they satisfy dependencies nevertheless. If one does, the other failed ones stay unknown; otherwise they
count as not satisfying, as is the default. For three uncached tasks Batch is asked whether they exist, as they may be
newer than the cache; the others stay unknown.

Readers with a store share what they read: dependencies that another one stored count as long as they hold.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing, suppress

from shared.domain.core.amounts import amount
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
from shared.domain.dependencies.stored_dependencies import StoredDependencies
from shared.domain.leaves.task_filters import TaskFilter
from shared.domain.leaves.task_lists import TaskList
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, FAILURE, PREPARING, RUNNING, Task
from shared.errors import CacheConflictError, UnreadableError
from shared.services.explain.unknown_facts import UnknownFacts
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.batch.batch_evidence import BatchEvidence
from shared.stores.jobs.dependencies import DependencyStore
from shared.stores.jobs.jobs import generation_partition

_MAX_ASKED = 3  # of each kind
_MAX_LISTED = 1000  # tasks of each kind
_KEEPING = (
    TaskFilter(results=frozenset({FAILURE})),
    TaskFilter(states=frozenset({RUNNING, PREPARING})),
    TaskFilter(states=frozenset({ACTIVE})),
)
_ASKED: tuple[Standing, ...] = ("failed", "missing")


class DependencyReader:
    def __init__(self, evidence: BatchEvidence, tasks: TaskQueries, store: DependencyStore | None = None) -> None:
        """Without a `store` each read requests the dependencies."""
        self._evidence = evidence
        self._tasks = tasks
        self._store = store

    async def read(self, report: JobReport, unknown: UnknownFacts) -> Dependencies:
        """Returns the dependencies that hold a job's waiting tasks, and adds what couldn't be determined to `unknown`.

        Raises BatchError, CacheConflictError, and with a store StorageError.
        """
        snapshot, as_of = report.job.snapshot, report.verdict.as_of
        if self._store is None or snapshot is None or as_of is None:
            return await self._requested(report, unknown)
        partition = generation_partition(report.account.key, report.job.key, snapshot.generation)
        with suppress(UnreadableError):
            stored = await self._store.load(partition)
            if stored and stored.holds(moved_at=snapshot.moved_at, as_of=as_of):
                return stored.dependencies
        found = await self._requested(report, unknown)
        with suppress(CacheConflictError):  # another process stored its own
            await self._store.save(partition, StoredDependencies(as_of, found))
        return found

    async def _requested(self, report: JobReport, unknown: UnknownFacts) -> Dependencies:
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
        answers = {key: await self._evidence.fetch_standing(job, names[key]) for key in asked}
        is_lenient = any(answers[key] == "satisfied" and standings[key] == "failed" for key in asked)
        unsettled = {"missing", "failed"} if is_lenient else {"missing"}
        settled: dict[str, Standing] = {
            key: answers.get(key, "unknown" if standing in unsettled else standing)
            for key, standing in standings.items()
        }
        found = dependencies_of(waiting, settled, whole=whole)
        if is_cut and found.unsure:
            unknown.add(
                f"Waiting tasks depend on {MAX_KEYS:,} tasks or more: whether all of these are there and let others "
                "go on isn't known"
            )
        if failed := [standing for key, standing in settled.items() if key not in answers].count("failed"):
            unknown.add(
                f"{amount(failed, 'more task')} that others depend on failed, and {_MAX_ASKED} were asked whether "
                "exit conditions let others go on all the same: the rest is taken not to, as is the default"
            )
        if unread := len(names.keys() - wait - known.keys() - answers.keys()):
            unknown.add(
                f"Whether {amount(unread, 'task')} that others depend on are there isn't known: tasks are stored as of "
                f"{report.verdict.as_of:%Y-%m-%d %H:%M:%S} UTC, and of newer ones {_MAX_ASKED} were asked for"
            )
        return found

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
    return list(dict.fromkeys(key for key in order if standings[key] == kind))[:_MAX_ASKED]


def _standing(task: Task | None) -> Standing:
    """Returns the standing of a cached task, `missing` without one; success satisfies dependencies by default."""
    if task is None:
        return "missing"
    if task.state == COMPLETED:
        return "failed" if task.result == FAILURE else "satisfied"
    return "running" if task.state in {PREPARING, RUNNING} else "waiting"
