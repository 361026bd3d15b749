"""The JSON of jobs, tasks, counts and verdicts, and its conversion from service results."""

import json
from datetime import datetime
from typing import Literal

import msgspec

from functions.api.jobs.job_statistics import InsightAnswer, statistics_answer
from functions.http.answers import Answer, stamp, utc
from functions.http.handling import Page
from functions.http.rendering import AS_OF
from shared.domain.explain.causes import CAUSES
from shared.domain.jobs.job_efficiency import JobEfficiency
from shared.domain.jobs.jobs import Job
from shared.domain.jobs.verdicts import Verdict
from shared.domain.jobs.waiting_causes import ByCause, WaitingCause, waiting_tasks
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import Task

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


class TaskCountersAnswer(Answer):
    """Counters that never decrease: tasks that started, completed and failed, and retries.

    Each task adds at most one to the first three, and again after it was reactivated or re-created.
    """

    started: int
    completed: int
    failed: int
    retried: int


class WaitingAnswer(Answer):
    """Why the waiting tasks of a job wait: a cause of the closed list, who must act, and when it was found.

    `asOf` is null while the cause is `unknown`, as the job wasn't explained so far.
    """

    tasks: int
    cause: str
    actor: Literal["submitter", "operator", "service", "nobody"]
    as_of: datetime | None


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


class TaskReadAnswer(Answer):
    """Cost of the last read of a job's task list: seconds of waiting for pages, Batch requests, and pages of tasks."""

    seconds: float
    requests: int
    pages: int


class JobEfficiencyAnswer(Answer):
    """What a job's tasks used of what their slots offer, over the time of `measuredRuns` until `asOf`.

    `cpu`, `memory` (of peaks) and `gpu` are shares. They are null where they aren't known, or too few runs were
    measured: 20 are enough, or 5 if these are all tasks of the job.
    """

    measured_runs: int
    as_of: datetime | None
    cpu: float | None
    memory: float | None
    gpu: float | None


class JobAnswer(Answer):
    """A job as Batch describes it, with Batchscope's task counts and the verdict on them.

    `failedTasks` counts failed tasks by category; null before the first read, or where causes aren't known. `waiting`
    is null where no task waits, `efficiency` where no run was measured, or none until the last hourly summary.
    """

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
    failed_tasks: dict[str, int] | None
    waiting: WaitingAnswer | None
    verdict: VerdictAnswer
    progress: ProgressAnswer | None
    insight: InsightAnswer | None
    task_read: TaskReadAnswer | None
    efficiency: JobEfficiencyAnswer | None


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


def judged[T](page: Page[T], verdict: Verdict) -> JudgedPage[T]:
    """Returns a page with the verdict on the list."""
    fields = {name: getattr(page, name) for name in page.__struct_fields__}
    return JudgedPage(**fields, as_of=utc(verdict.as_of), verdict=VerdictAnswer.of(verdict))


def job_answer(report: JobReport) -> JobAnswer:
    snapshot, progress, forecast = report.job.snapshot, report.progress, report.forecast
    return JobAnswer.of(
        report.job.facts,
        account=report.account.id,
        deleted=report.job.deleted,
        task_counts=TaskCountsAnswer.of(snapshot.counts) if snapshot else None,
        failed_tasks=dict(snapshot.failed_tasks) if snapshot and snapshot.failed_tasks is not None else None,
        waiting=_waiting(report.waiting, report.job),
        verdict=VerdictAnswer.of(report.verdict),
        progress=ProgressAnswer.of(progress) if progress else None,
        insight=statistics_answer(forecast) if forecast else None,
        task_read=TaskReadAnswer.of(snapshot.read) if snapshot and snapshot.read else None,
        efficiency=_efficiency(report.job.efficiency),
    )


def _efficiency(found: JobEfficiency | None) -> JobEfficiencyAnswer | None:
    if found is None:
        return None
    return JobEfficiencyAnswer(
        measured_runs=found.runs, as_of=stamp(found.as_of * 1000), cpu=found.cpu, memory=found.memory, gpu=found.gpu
    )


def seconds_of(waited: ByCause) -> dict[str, float]:
    """Returns seconds for milliseconds, by cause."""
    return {cause: milliseconds / 1000 for cause, milliseconds in sorted(waited.items())}


def _waiting(found: WaitingCause | None, job: Job) -> WaitingAnswer | None:
    if found is None:
        return None
    return WaitingAnswer(
        tasks=waiting_tasks(job), cause=found.cause, actor=CAUSES.get(found.cause, "nobody"), as_of=utc(found.at)
    )


def task_answer(task: Task) -> TaskAnswer:
    category, code = task.failure
    pool, node = task.node
    return TaskAnswer(
        id=task.id,
        state=_STATES[task.state],
        result=_RESULTS[task.result],
        state_transition_time=stamp(task.transition),
        creation_time=stamp(task.creation),
        start_time=stamp(task.start),
        end_time=stamp(task.end),
        exit_code=task.exit_code,
        failure_category=category or None,
        failure_code=code or None,
        retry_count=task.retries,
        requeue_count=task.requeues,
        required_slots=task.slots,
        pool_id=pool or None,
        node_id=node or None,
    )


_STATES: tuple[TaskState, ...] = ("active", "preparing", "running", "completed")
_RESULTS: tuple[TaskResult | None, ...] = (None, "success", "failure")
