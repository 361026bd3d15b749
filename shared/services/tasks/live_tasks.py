"""One task in full, requested from Batch when somebody opens it, beside its cached state.

Requests follow the conditions of a poll: not while monitoring is off or the service requests back-off, and within the
account's call cap. Ids from clients become part of a URL only if they are valid Batch ids.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.core.keys import key_of
from shared.domain.reports.reports import LiveTask
from shared.errors import BatchMissingError, NotFoundError
from shared.services.accounts.registry import Registry, found
from shared.services.queries.queries import Queries
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.batch.batch import BatchAccount

_TASK_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_task_id(text: str) -> bool:
    """Returns whether a text from outside is a valid id of a task, so that it may be part of a URL."""
    return _TASK_ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class LiveTasks:
    """Reads single tasks from Batch; `sources` are keyed by account id."""

    sources: Mapping[str, BatchAccount]
    queries: Queries
    tasks: TaskQueries
    registry: Registry

    async def task(self, account_id: str, job_id: str, task_id: str) -> LiveTask:
        """Returns one task. Raises NotFoundError, MonitoringOffError, and BatchError if Batch doesn't return it."""
        source = found(self.sources, account_id)
        report = await self.queries.job(account_id, job_id)
        job = report.job.facts.id
        missing = NotFoundError("task", task_id, f" in the job '{job}'{', which was deleted' * report.job.deleted}")
        if report.job.deleted or not is_task_id(task_id):
            raise missing
        await self.registry.require_polling_allowed(source.account)
        try:
            details, omitted = await source.fetch_task_details(job, task_id)
        except BatchMissingError as error:
            raise missing from error
        cached = await self.tasks.task(account_id, job_id, key_of(task_id))
        return LiveTask(details, omitted, cached, report.verdict.as_of)
