"""Reads the time limits of some tasks of a job from Batch when somebody asks about its efficiency.

Polls don't read them, as each row of each list of tasks would be an eighth longer. Requests follow the
conditions of a poll: not while monitoring is off or the service requests back-off, and within the account's call cap.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.domain.efficiency.job_context import TaskLimit
from shared.domain.reports.reports import JobReport
from shared.errors import BatchError, BatchMissingError, MonitoringOffError
from shared.recent_cache import RecentCache
from shared.services.accounts.registry import Registry, found
from shared.services.tasks.live_tasks import is_task_id
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_evidence import BatchEvidence

_SECONDS = 5.0
_REMEMBERED = 10_000  # tasks
_OTHERWISE = "The time limit of tasks isn't the same for all that were looked up."
_DELETED = "Tasks to look up the time limit of don't exist any more."


class _TaskKey(NamedTuple):
    """A task of one incarnation of a job."""

    account: str
    job: str
    created: datetime
    task: str


class TaskLimitReader:
    """Looks limits up at most once in a quarter of an hour; `sources` are keyed by account id."""

    def __init__(self, sources: Mapping[str, BatchAccount], registry: Registry) -> None:
        self._sources = sources
        self._registry = registry
        self._known = RecentCache[_TaskKey, tuple[timedelta | None]](_REMEMBERED)

    async def limit(self, report: JobReport, tasks: Sequence[str]) -> TaskLimit:
        """Returns the limit that some tasks of a job have, or why it isn't known."""
        bound, job = TaskLimit(tuple(tasks), job=report.job.facts.rules.max_wall_clock_time), report.job
        if job.deleted or not all(map(is_task_id, tasks)):
            return bound._replace(reason=_DELETED)
        try:
            async with asyncio.timeout(_SECONDS):
                limits = {await self._limit(report, task) for task in tasks}
        except BatchMissingError:
            return bound._replace(reason=_DELETED)
        except (BatchError, MonitoringOffError) as error:
            return bound._replace(reason=f"The time limit of tasks couldn't be looked up: {error}")
        except TimeoutError:
            return bound._replace(reason=f"The time limit of tasks wasn't sent within {_SECONDS:g} seconds.")
        return bound._replace(limit=limits.pop()) if len(limits) == 1 else bound._replace(reason=_OTHERWISE)

    async def _limit(self, report: JobReport, task: str) -> timedelta | None:
        account, facts = report.account, report.job.facts
        key = _TaskKey(account.key, report.job.key, facts.creation_time, task)
        known = self._known.get(key)
        if known is None:
            await self._registry.require_polling_allowed(account)
            evidence = BatchEvidence(found(self._sources, account.id))
            known = (await evidence.fetch_time_limit(facts.id, task),)
            self._known.put(key, known)
        return known[0]
