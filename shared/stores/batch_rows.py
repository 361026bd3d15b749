"""The Batch service's JSON of jobs and tasks -> the domain's. Field names: azure-batch 15.1, REST 2025-06-01."""

from datetime import UTC, datetime
from typing import Any

from azure.batch.models import BatchJob

from shared.domain.jobs import JobFacts
from shared.domain.redaction import redacted
from shared.domain.stamps import parse_milliseconds
from shared.domain.tasks import NO_RESULT, RESULTS, STATES, Task

TASK_FIELDS = ("id", "state", "stateTransitionTime", "creationTime", "executionInfo", "requiredSlots", "nodeInfo")
_STATE = {state: number for number, state in enumerate(STATES)}
_RESULT = {result: number for number, result in enumerate(RESULTS)}
_NOWHERE = ("", "")


def task_of(row: dict[str, Any]) -> Task:
    """One task of a list. Raises KeyError, ValueError or TypeError where a field makes no sense."""
    run = row.get("executionInfo") or {}
    node = row.get("nodeInfo")
    failure = run.get("failureInfo")
    return Task(
        row["id"],
        _STATE[row["state"]],
        _RESULT[run["result"].lower()] if run.get("result") else NO_RESULT,
        parse_milliseconds(row["stateTransitionTime"]),
        _moment(row.get("creationTime")),
        _moment(run.get("startTime")),
        _moment(run.get("endTime")),
        run.get("exitCode"),
        (failure.get("category") or "", failure.get("code") or "") if failure else _NOWHERE,
        run.get("retryCount") or 0,
        run.get("requeueCount") or 0,
        row.get("requiredSlots") or 1,
        (node.get("poolId") or "", node.get("nodeId") or "") if node else _NOWHERE,
    )


def job_of(job: BatchJob) -> JobFacts:
    """A job's facts; the pool is the one it runs on, or else the one it names."""
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
    )


def _word(value: object) -> str:
    return str(getattr(value, "value", value))


def _moment(text: str | None) -> int:
    return parse_milliseconds(text) if text else 0


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
