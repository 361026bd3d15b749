"""Reads evidence of one Batch account that isn't stored and explains why tasks wait; every read is bounded."""

from collections import Counter
from contextlib import aclosing
from datetime import timedelta
from typing import Any, NamedTuple

from azure.batch.models import BatchJob
from msgspec import Struct, ValidationError, convert
from msgspec.json import Decoder

from shared.domain.core.keys import key_of
from shared.domain.dependencies.dependencies import Standing, WaitingTask
from shared.domain.dependencies.exit_conditions import ExitConditions
from shared.domain.jobs.jobs import JobFacts
from shared.domain.jobs.observations import Preparation
from shared.domain.pools.pool_settings import Problem
from shared.domain.redaction.redaction import redacted
from shared.errors import BatchAnswerError, BatchMissingError
from shared.stores.batch.batch import NO_JOB, NO_TASK, BatchAccount
from shared.stores.batch.batch_addresses import PAGE, job_url, query_of, task_url
from shared.stores.batch.batch_lists import BatchLists
from shared.stores.batch.batch_pool_rows import ErrorRow, time_of
from shared.stores.batch.batch_rows import JOB_FIELDS, NO_LIMIT, NONSENSE, Rows, job_of

MAX_WAITING = PAGE
_MAX_PAGES = 3  # filtered pages may be short, or empty
_MAX_STATUSES = _MAX_PAGES * PAGE
_PREPARATION = "jobPreparationTask"
_ACTIVE = "state eq 'active'"
_STANDING_FIELDS = ("id", "state", "executionInfo", "exitConditions")
_STATUS_FIELDS = ("nodeId", "jobPreparationTaskExecutionInfo")
_STANDINGS: dict[str, Standing] = {"active": "waiting", "preparing": "running", "running": "running"}


class _Range(Struct):
    start: int
    end: int


class _DependsOn(Struct, rename="camel"):
    task_ids: list[str] | None = None
    task_id_ranges: list[_Range] | None = None


class _Waiting(Struct, rename="camel"):
    id: str
    depends_on: _DependsOn | None = None


class _Run(Struct, rename="camel"):
    result: str | None = None
    end_time: str | None = None
    exit_code: int | None = None
    failure_info: ErrorRow | None = None


class _Constraints(Struct, rename="camel"):
    max_task_retry_count: int | None = None
    max_wall_clock_time: str | None = None


class _Bounded(Struct):
    constraints: _Constraints | None = None


class _Task(Struct, rename="camel"):
    state: str | None = None
    execution_info: _Run | None = None
    exit_conditions: ExitConditions | None = None


class _Side(Struct, rename="camel"):
    node_id: str
    job_preparation_task_execution_info: _Run | None = None


_WAITING, _TASK, _SIDES, _BOUNDED = Decoder(Rows[_Waiting]), Decoder(_Task), Decoder(Rows[_Side]), Decoder(_Bounded)
_JOB = Decoder(dict[str, Any])


class LiveJob(NamedTuple):
    """The current state of a job, with facts that matter only while tasks wait.

    `awaits_preparation`: its tasks wait for a job preparation task to succeed; `makes_pool`: it has an auto pool.
    """

    facts: JobFacts
    awaits_preparation: bool = False
    makes_pool: bool = False
    scheduling_error: Problem | None = None


class BatchEvidence(BatchLists):
    """Evidence of one account."""

    def __init__(self, source: BatchAccount) -> None:
        super().__init__(source, explains=False)

    async def fetch_job(self, job_id: str) -> LiveJob:
        """Returns a job as it is now, with its facts that matter while tasks wait.

        With `waitForSuccess` false, tasks start on a node even if preparation failed there, as the reference of
        JobPreparationTask says. Raises BatchMissingError, BatchError.
        """
        url = f"{job_url(job_id)}?{query_of((*JOB_FIELDS, _PREPARATION), page=False)}"
        found = await self.one(url, f"get the job '{job_id}'", _JOB.decode, missing=NO_JOB)
        try:
            preparation, error = found.get(_PREPARATION), (found.get("executionInfo") or {}).get("schedulingError")
            return LiveJob(
                job_of(BatchJob(found)),
                awaits_preparation=bool(preparation and preparation.get("waitForSuccess") is not False),
                makes_pool=bool((found.get("poolInfo") or {}).get("autoPoolSpecification")),
                scheduling_error=_problem(error) if error else None,
            )
        except (*NONSENSE, AttributeError) as error:  # the SDK's model gives None for missing properties
            raise BatchAnswerError(f"{self.account.endpoint} sent a job that makes no sense.") from error

    async def fetch_is_endless(self, job_id: str, task_id: str) -> bool:
        """Returns whether a task may be retried without limit (maxTaskRetryCount -1). Raises BatchError."""
        return (await self._fetch_constraints(job_id, task_id)).max_task_retry_count == -1

    async def fetch_time_limit(self, job_id: str, task_id: str) -> timedelta | None:
        """Returns a task's maxWallClockTime, None without one. Raises BatchMissingError, BatchError."""
        text = (await self._fetch_constraints(job_id, task_id)).max_wall_clock_time
        try:
            limit = convert(text, timedelta | None)
        except ValidationError as error:  # months and years, as of no known task
            raise BatchAnswerError(f"{self.account.endpoint} sent a time limit that makes no sense.") from error
        return limit if limit is not None and limit < NO_LIMIT else None

    async def _fetch_constraints(self, job_id: str, task_id: str) -> _Constraints:
        url = f"{task_url(job_id, task_id)}?{query_of(('id', 'constraints'), page=False)}"
        intent, missing = f"get the constraints of the task '{task_id}' of '{job_id}'", NO_TASK + NO_JOB
        return (await self.one(url, intent, _BOUNDED.decode, missing=missing)).constraints or _Constraints()

    async def fetch_waiting(self, job_id: str) -> tuple[list[WaitingTask], bool]:
        """Returns the first MAX_WAITING waiting tasks with their dependencies, and whether these are all.

        Raises BatchError.
        """
        url = f"{job_url(job_id)}/tasks?{query_of(('id', 'dependsOn'), _ACTIVE)}"
        found, whole = await self._list(_WAITING, url, f"list the waiting tasks of '{job_id}'", most=MAX_WAITING)
        return list(map(_waiting, found)), whole

    async def fetch_standing(self, job_id: str, task_id: str) -> Standing:
        """Returns a task's standing for its dependents, `missing` if the service has no such task.

        Raises BatchError.
        """
        url = f"{task_url(job_id, task_id)}?{query_of(_STANDING_FIELDS, page=False)}"
        try:
            return _standing(
                await self.one(url, f"get the task '{task_id}' of '{job_id}'", _TASK.decode, missing=NO_TASK)
            )
        except BatchMissingError:
            return "missing"

    async def fetch_preparation(self, job_id: str) -> tuple[Preparation, bool]:
        """Returns the results of a job's preparation on the first nodes, and whether these are all.

        The job must have a preparation task. Raises BatchError.
        """
        url = f"{job_url(job_id)}/jobpreparationandreleasetaskstatus?{query_of(_STATUS_FIELDS)}"
        found, whole = await self._list(_SIDES, url, f"list the preparation tasks of '{job_id}'", most=_MAX_STATUSES)
        return _preparation(found), whole

    async def _list[T](self, decoder: Decoder[Rows[T]], url: str, intent: str, *, most: int) -> tuple[list[T], bool]:
        """Returns the first rows of a list, at most `most` and from _MAX_PAGES pages, and whether these are all."""
        found, link, requests = list[T](), None, 0
        async with aclosing(self.each_page(url, intent, lambda body: _linked(decoder.decode(body)))) as pages:
            async for page, _ in pages:
                found, link, requests = found + page.value, page.link, requests + 1
                if requests == _MAX_PAGES or len(found) >= most:
                    break
        return found[:most], link is None and len(found) <= most


def _linked[T](page: Rows[T]) -> tuple[Rows[T], str | None]:
    return page, page.link


def _waiting(row: _Waiting) -> WaitingTask:
    on = row.depends_on or _DependsOn()
    ranges = tuple((each.start, each.end) for each in on.task_id_ranges or ())
    return WaitingTask(row.id, tuple(on.task_ids or ()), ranges)


def _standing(task: _Task) -> Standing:
    run, state = task.execution_info or _Run(), (task.state or "").lower()
    if state != "completed":
        return _STANDINGS.get(state, "unknown")
    if (run.result or "").lower() != "failure":
        return "satisfied"
    conditions, failure = task.exit_conditions or ExitConditions(), run.failure_info or ErrorRow()
    return "satisfied" if conditions.failure_satisfies(run.exit_code, failure.code or "") else "failed"


def _preparation(rows: list[_Side]) -> Preparation:
    runs = [(row.node_id, row.job_preparation_task_execution_info) for row in rows]
    failed = [(node, run) for node, run in runs if run and (run.result or "").lower() == "failure"]
    return Preparation(
        nodes=len(rows),
        succeeded=sum((run.result or "").lower() == "success" for _, run in runs if run),
        failed_nodes=frozenset(key_of(node) for node, _ in failed),
        failures=tuple(Counter(_word(run) for _, run in failed).most_common()),
        since=min((time_of(run.end_time) for _, run in failed if run.end_time), default=None),
    )


def _word(run: _Run) -> str:
    failure = run.failure_info or ErrorRow()
    reason = ": ".join(part for part in (failure.code, redacted(failure.message or "").rstrip(".")) if part)
    code = f" with exit code {run.exit_code}" if run.exit_code is not None else ""
    return f"The preparation task failed{code}{f': {reason}' if reason else ''}."


def _problem(error: dict[str, Any]) -> Problem:
    """Returns an error with its message and its details, which hold the reason as names and values."""
    details = [f"{each.get('name')}: {each.get('value')}" for each in error.get("details") or ()]
    reason = " ".join(part for part in (str(error.get("message") or ""), "; ".join(details)) if part)
    return Problem(str(error.get("code") or ""), redacted(reason))
