"""JSON answers of the API and their conversion from service results. Times are ISO 8601 in UTC."""

import json
from datetime import UTC, datetime
from typing import Literal

import msgspec

from functions.api.jobs.insight_models import InsightAnswer, insight_answer
from functions.http.answers import Answer
from functions.http.handling import Page
from functions.http.rendering import AS_OF
from shared.domain.accounts.operations import PollOperation
from shared.domain.core.stamps import from_milliseconds
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.jobs.verdicts import Verdict
from shared.domain.reports.reports import JobReport, MonitoringReport
from shared.domain.tasks.tasks import Task, TaskCounts

VERDICT = "Batchscope-Verdict"
_MAX_REASON = 500
type TaskState = Literal["active", "preparing", "running", "completed"]
type TaskResult = Literal["success", "failure"]


class TaskCountsAnswer(Answer):
    """Tasks by state; `succeeded` and `failed` split `completed`."""

    active: int
    preparing: int
    running: int
    completed: int
    succeeded: int
    failed: int
    total: int


class ProgressAnswer(Answer):
    """Progress of a first read: tasks read so far and expected; `expected` is null while it catches up with changes."""

    tasks: int
    expected: int | None


class VerdictAnswer(Answer):
    """The confidence in counts: their date, source, level and reason, and the time of the last request to Batch."""

    as_of: datetime | None
    source: Literal["firstRead", "delta", "repair", "fullRead", "none"]
    level: Literal["exact", "unverified", "catchingUp", "stale"]
    reason: str
    checked_at: datetime | None


class JudgedPage[T](Page[T], kw_only=True):
    """A page of a job's, pool's or account's entries, with the verdict on all entries.

    Entries are as of `asOf` (null before the first read) or later.
    """

    as_of: datetime | None
    verdict: VerdictAnswer

    def table_headers(self) -> dict[str, str]:
        """Returns the fields without a column as headers.

        The verdict is ASCII JSON, its reason cut to 500 characters.
        """
        verdict = msgspec.to_builtins(self.verdict)
        verdict["reason"] = verdict["reason"][:_MAX_REASON]
        as_of = {AS_OF: verdict["asOf"]} if verdict["asOf"] else {}
        return {**super().table_headers(), **as_of, VERDICT: json.dumps(verdict, separators=(",", ":"))}


class MonitoringAnswer(Answer):
    """Whether and how often an account is polled; `changedAt` is null if neither was ever changed."""

    enabled: bool
    poll_seconds: float
    changed_at: datetime | None


class TaskReadAnswer(Answer):
    """Cost of the last read of a job's task list: seconds of waiting for pages, Batch requests, and pages of tasks."""

    seconds: float
    requests: int
    pages: int


class JobAnswer(Answer):
    """A job as Batch describes it, with Batchscope's task counts and the verdict on them."""

    id: str
    account: str
    state: str
    previous_state: str | None
    creation_time: datetime
    state_transition_time: datetime
    start_time: datetime | None
    end_time: datetime | None
    pool_id: str | None
    priority: int | None
    display_name: str | None
    terminate_reason: str | None
    deleted: bool
    task_counts: TaskCountsAnswer | None
    verdict: VerdictAnswer
    progress: ProgressAnswer | None
    insight: InsightAnswer | None
    task_read: TaskReadAnswer | None


class TaskAnswer(Answer):
    """The last known state of a task; start, end and exit code belong to its latest run."""

    id: str
    state: TaskState
    result: TaskResult | None
    state_transition_time: datetime | None
    creation_time: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    exit_code: int | None
    failure_category: str | None
    failure_code: str | None
    retry_count: int
    requeue_count: int
    required_slots: int
    pool_id: str | None
    node_id: str | None


class ReasonAnswer(Answer):
    """Why a job (null: the whole account) couldn't be polled."""

    job: str | None
    message: str


class JobsPolledAnswer(Answer):
    """The numbers of jobs that a poll on demand read and failed to read."""

    succeeded: int
    failed: int


class PollAnswer(Answer):
    """A poll on demand."""

    id: str
    status: Literal["queued", "running", "succeeded", "failed"]
    created_at: datetime
    finished_at: datetime | None
    jobs: JobsPolledAnswer
    reasons: list[ReasonAnswer]


def counts_answer(counts: TaskCounts) -> TaskCountsAnswer:
    return TaskCountsAnswer(
        active=counts.active,
        preparing=counts.preparing,
        running=counts.running,
        completed=counts.completed,
        succeeded=counts.succeeded,
        failed=counts.failed,
        total=counts.total,
    )


def monitoring_answer(report: MonitoringReport) -> MonitoringAnswer:
    return MonitoringAnswer(
        enabled=report.monitoring.enabled,
        poll_seconds=report.interval.total_seconds(),
        changed_at=utc(report.monitoring.changed_at),
    )


def job_answer(report: JobReport) -> JobAnswer:
    facts, picture, verdict = report.job.facts, report.job.picture, report.verdict
    return JobAnswer(
        id=facts.id,
        account=report.account.id,
        state=facts.state,
        previous_state=facts.previous_state,
        creation_time=facts.creation_time.astimezone(UTC),
        state_transition_time=facts.state_transition_time.astimezone(UTC),
        start_time=utc(facts.start_time),
        end_time=utc(facts.end_time),
        pool_id=facts.pool_id,
        priority=facts.priority,
        display_name=facts.display_name,
        terminate_reason=facts.terminate_reason,
        deleted=report.job.deleted,
        task_counts=counts_answer(picture.counts) if picture else None,
        verdict=verdict_answer(verdict),
        progress=ProgressAnswer(tasks=report.progress.tasks, expected=report.progress.expected)
        if report.progress
        else None,
        insight=insight_answer(report.forecast) if report.forecast else None,
        task_read=_task_read_answer(picture),
    )


def _task_read_answer(picture: JobSnapshot | None) -> TaskReadAnswer | None:
    read = picture.read if picture else None
    return TaskReadAnswer(seconds=read.seconds, requests=read.requests, pages=read.pages) if read else None


def verdict_answer(verdict: Verdict) -> VerdictAnswer:
    return VerdictAnswer(
        as_of=utc(verdict.as_of),
        source=verdict.source,
        level=verdict.level,
        reason=verdict.reason,
        checked_at=utc(verdict.checked_at),
    )


def task_answer(task: Task) -> TaskAnswer:
    category, code = task.failure
    pool, node = task.node
    return TaskAnswer(
        id=task.id,
        state=_STATES[task.state],
        result=_RESULTS[task.result],
        state_transition_time=_stamp(task.transition),
        creation_time=_stamp(task.creation),
        start_time=_stamp(task.start),
        end_time=_stamp(task.end),
        exit_code=task.exit_code,
        failure_category=category or None,
        failure_code=code or None,
        retry_count=task.retries,
        requeue_count=task.requeues,
        required_slots=task.slots,
        pool_id=pool or None,
        node_id=node or None,
    )


def poll_answer(operation: PollOperation) -> PollAnswer:
    return PollAnswer(
        id=operation.id,
        status=operation.status,
        created_at=operation.created_at.astimezone(UTC),
        finished_at=utc(operation.finished_at),
        jobs=JobsPolledAnswer(succeeded=operation.succeeded, failed=operation.failed),
        reasons=[ReasonAnswer(job=reason.job, message=reason.message) for reason in operation.reasons],
    )


_STATES: tuple[TaskState, ...] = ("active", "preparing", "running", "completed")
_RESULTS: tuple[TaskResult | None, ...] = (None, "success", "failure")


def utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None


def _stamp(milliseconds: int) -> datetime | None:
    return from_milliseconds(milliseconds) if milliseconds else None
