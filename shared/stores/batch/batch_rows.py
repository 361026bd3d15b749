"""Converts the Batch service's JSON of jobs and tasks. Field names: azure-batch 15.1, REST 2025-06-01."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from azure.batch.models import BatchJob
from msgspec import MsgspecError, Struct, field
from msgspec.json import Decoder

from shared.domain.core.labels import MAX_SEARCHED, kept_labels
from shared.domain.core.stamps import parse_milliseconds
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.jobs import JobFacts
from shared.domain.redaction.redaction import redacted, redacted_begin
from shared.domain.tasks.tasks import NO_RESULT, RESULTS, STATES, Task

JOB_FIELDS = [
    "id", "displayName", "creationTime", "state", "stateTransitionTime", "previousState", "priority", "poolInfo",
    "executionInfo", "constraints", "maxParallelTasks", "usesTaskDependencies",
    "allowTaskPreemption",
]  # fmt: skip
TASK_FIELDS = ("id", "state", "stateTransitionTime", "creationTime", "executionInfo", "requiredSlots", "nodeInfo")
_STATE = {state: number for number, state in enumerate(STATES)}
_RESULT = {result: number for number, result in enumerate(RESULTS)}
_NOWHERE = ("", "")
NO_LIMIT = timedelta(days=3650)  # without a limit the service sends one of 29,000 years


class _Failure(Struct, rename="camel", gc=False):
    category: str | None = None
    code: str | None = None


class _Run(Struct, rename="camel", gc=False):
    start_time: str | None = None
    end_time: str | None = None
    exit_code: int | None = None
    result: str | None = None
    failure_info: _Failure | None = None
    retry_count: int | None = None
    requeue_count: int | None = None


class _Node(Struct, rename="camel", gc=False):
    pool_id: str | None = None
    node_id: str | None = None


class _Row(Struct, rename="camel", gc=False):
    id: str
    state: str
    state_transition_time: str
    creation_time: str | None = None
    execution_info: _Run | None = None
    required_slots: int | None = None
    node_info: _Node | None = None


class Rows[T](Struct, gc=False):
    """A page of any list."""

    value: list[T]
    link: str | None = field(default=None, name="odata.nextLink")


_NO_RUN = _Run()
_PAGE, _ROW = Decoder(Rows[_Row]), Decoder(_Row)
NONSENSE = (MsgspecError, KeyError, ValueError, TypeError)


def page_of(body: bytes) -> tuple[list[Task], str | None]:
    """Returns the tasks of a page, and its next link. Raises one of NONSENSE if it is invalid."""
    page = _PAGE.decode(body)
    return _tasks_of(page.value), page.link


def task_of(body: bytes) -> Task:
    """Returns one task. Raises one of NONSENSE if it is invalid."""
    return _tasks_of([_ROW.decode(body)])[0]


def _tasks_of(rows: list[_Row]) -> list[Task]:
    """Converts rows fast, as a large job has a thousand pages: repeated values are parsed once."""
    moments = _Moments({None: 0})
    kept: dict[tuple[str, str], tuple[str, str]] = {_NOWHERE: _NOWHERE}
    made, tasks = tuple.__new__, []
    for row in rows:
        run, node = row.execution_info or _NO_RUN, row.node_info
        failure, result = run.failure_info, run.result
        cause = (failure.category or "", failure.code or "") if failure else _NOWHERE
        place = (node.pool_id or "", node.node_id or "") if node else _NOWHERE
        fields = (
            row.id,
            _STATE[row.state],
            _RESULT[result.lower()] if result else NO_RESULT,
            moments[row.state_transition_time],
            moments[row.creation_time],
            moments[run.start_time],
            moments[run.end_time],
            run.exit_code,
            kept.setdefault(cause, cause),
            run.retry_count or 0,
            run.requeue_count or 0,
            row.required_slots or 1,
            kept.setdefault(place, place),
        )
        tasks.append(made(Task, fields))
    return tasks


class _Moments(dict[str | None, int]):
    """Milliseconds of stamps, each parsed once: most ends are transitions, and tasks are created in hundreds."""

    def __missing__(self, text: str) -> int:
        found = self[text] = parse_milliseconds(text)
        return found


def job_of(job: BatchJob, labels: Collection[str] = ()) -> JobFacts:
    """Returns a job's facts; the pool is the one it runs on, or else the one it names.

    Of its metadata only items whose names are `labels` are kept.
    """
    run = job.execution_info
    pool = (run.pool_id if run else None) or (job.pool_info.pool_id if job.pool_info else None)
    return JobFacts(
        id=job.id,
        creation_time=_aware(job.creation_time),
        state=_word(job.state),
        state_transition_time=_aware(job.state_transition_time),
        previous_state=_word(job.previous_state) if job.previous_state else None,
        start_time=_aware(run.start_time) if run and run.start_time else None,
        end_time=_aware(run.end_time) if run and run.end_time else None,
        pool_id=pool,
        priority=job.priority,
        display_name=redacted(job.display_name) if job.display_name else job.display_name,
        terminate_reason=redacted(run.termination_reason) if run and run.termination_reason else None,
        rules=_rules_of(job),
        metadata=_metadata_of(job, labels),
    )


def _metadata_of(job: BatchJob, labels: Collection[str]) -> tuple[tuple[str, str], ...]:
    allowed = [(one.name, one.value or "") for one in job.metadata or () if one.name in labels]
    return tuple(kept_labels(((name, redacted_begin(value, MAX_SEARCHED)) for name, value in allowed), labels).items())


def _rules_of(job: BatchJob) -> JobRules:
    """Returns a job's rules for its tasks; the SDK's value of a month, year or invalid duration is no timedelta."""
    most, limit = job.max_parallel_tasks, job.constraints.max_wall_clock_time if job.constraints else None
    return JobRules(
        max_parallel_tasks=most if most is not None and most >= 0 else None,
        max_wall_clock_time=limit if isinstance(limit, timedelta) and limit < NO_LIMIT else None,
        uses_task_dependencies=bool(job.uses_task_dependencies),
        allows_preemption=bool(job.allow_task_preemption),
    )


def _word(value: object) -> str:
    return str(getattr(value, "value", value))


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
