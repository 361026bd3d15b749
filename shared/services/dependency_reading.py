"""Reads what a job's waiting tasks depend on, and how far those tasks are.

What they depend on comes from Batch, of so many of them; how far others are from the cache. A few of the tasks that
failed are asked whether that satisfies dependencies all the same, and a few of those that aren't cached whether they
are there: they may be newer than the cache. Of the others it stays unknown.
"""

from collections.abc import Iterable, Mapping

from shared.domain.dependencies import Dependencies, Standing, dependencies_of, wanted_keys
from shared.domain.reports import JobReport
from shared.domain.tasks import COMPLETED, FAILURE, PREPARING, RUNNING, Task
from shared.services.task_queries import TaskQueries
from shared.stores.batch_evidence import BatchEvidence

MOST_ASKED = 3  # of each kind
_ASKED: tuple[Standing, ...] = ("failed", "missing")


class DependencyReading:
    def __init__(self, evidence: BatchEvidence, tasks: TaskQueries) -> None:
        self._evidence = evidence
        self._tasks = tasks

    async def read(self, report: JobReport) -> tuple[Dependencies, int]:
        """What holds the waiting tasks; of how many others neither the cache knows anything nor anybody was asked.

        Raises BatchError, CacheConflictError.
        """
        job = report.job.facts.id
        waiting, whole = await self._evidence.fetch_waiting(job)
        names = wanted_keys(waiting)
        known = await self._tasks.named(report.account.id, job, names.keys())
        standings = {key: _standing(known.get(key)) for key in names}
        surmised = dependencies_of(waiting, standings, whole=whole)
        order = [*(blocker.key for blocker in surmised.blockers), *names]
        asked = [key for kind in _ASKED for key in _first(order, standings, kind)]
        if not asked:
            return surmised, 0
        told = {key: await self._evidence.fetch_standing(job, names[key]) for key in asked}
        settled: dict[str, Standing] = {
            key: told.get(key, "unknown" if standing in _ASKED else standing) for key, standing in standings.items()
        }
        return dependencies_of(waiting, settled, whole=whole), len(names.keys() - known.keys() - told.keys())


def _first(order: Iterable[str], standings: Mapping[str, Standing], kind: Standing) -> list[str]:
    """The first tasks that stand so, which hold the most."""
    return list(dict.fromkeys(key for key in order if standings[key] == kind))[:MOST_ASKED]


def _standing(task: Task | None) -> Standing:
    """That of a task by what is cached of it, `missing` there; one that succeeded satisfies, as it does by default."""
    if task is None:
        return "missing"
    if task.state == COMPLETED:
        return "failed" if task.result == FAILURE else "satisfied"
    return "running" if task.state in {PREPARING, RUNNING} else "waiting"
