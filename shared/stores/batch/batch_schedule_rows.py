"""Converts the Batch service's JSON of job schedules, without secrets. Field names: REST 2025-06-01.

Specifications are large, may hold secrets, and change seldom, so lists of schedules omit them. They have lists of their
own, where an invalid one doesn't affect others.
"""

from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.json import Decoder

from shared.domain.core.keys import key_of
from shared.domain.redaction.redaction import redacted
from shared.domain.schedules.job_specifications import JobSpecification
from shared.domain.schedules.schedules import Recurrence, ScheduleFacts
from shared.domain.tasks.task_secrets import let_through
from shared.stores.batch.batch_pool_rows import Page, maybe_time, page_of, time_of
from shared.stores.batch.batch_rows import NONSENSE

SCHEDULE_FIELDS = (
    "id", "displayName", "creationTime", "lastModified", "state", "stateTransitionTime", "previousState",
    "previousStateTransitionTime", "schedule", "executionInfo",
)  # fmt: skip
SPECIFICATION_FIELDS = ("id", "lastModified", "jobSpecification")


class _Rules(Struct, rename="camel"):
    do_not_run_until: str | None = None
    do_not_run_after: str | None = None
    start_window: str | None = None
    recurrence_interval: str | None = None


class _Recent(Struct):
    id: str | None = None


class _Execution(Struct, rename="camel"):
    next_run_time: str | None = None
    recent_job: _Recent | None = None
    end_time: str | None = None


class _Schedule(Struct, rename="camel"):
    id: str
    creation_time: str
    last_modified: str
    state: str
    state_transition_time: str
    previous_state: str | None = None
    previous_state_transition_time: str | None = None
    display_name: str | None = None
    schedule: _Rules | None = None
    execution_info: _Execution | None = None


class _Specified(Struct, rename="camel"):
    id: str
    last_modified: str
    job_specification: Any = None


_SCHEDULE, _SPECIFIED = Decoder(_Schedule), Decoder(_Specified)

type Specified = tuple[JobSpecification, tuple[str, ...]] | str


def schedule_of(body: bytes) -> ScheduleFacts:
    """Returns one schedule. Raises one of NONSENSE if it is invalid."""
    row = _SCHEDULE.decode(body)
    rules, execution = row.schedule or _Rules(), row.execution_info or _Execution()
    return ScheduleFacts(
        id=row.id,
        creation_time=time_of(row.creation_time),
        last_modified=time_of(row.last_modified),
        state=row.state,
        state_transition_time=time_of(row.state_transition_time),
        previous_state=row.previous_state,
        previous_state_transition_time=maybe_time(row.previous_state_transition_time),
        display_name=redacted(row.display_name) if row.display_name else None,
        recurrence=Recurrence(
            do_not_run_until=maybe_time(rules.do_not_run_until),
            do_not_run_after=maybe_time(rules.do_not_run_after),
            start_window=rules.start_window,
            interval=rules.recurrence_interval,
        ),
        next_run_time=maybe_time(execution.next_run_time),
        recent_job=execution.recent_job.id if execution.recent_job else None,
        end_time=maybe_time(execution.end_time),
    )


def specifications_of(body: bytes) -> tuple[Page[tuple[str, datetime, Specified]], str | None]:
    """Returns for each schedule of a page its key, last modification and specification, and the next link.

    A specification is its permitted part with the names of the omitted properties, or an error. Raises the errors of
    `page_of`.
    """
    return page_of(body, "job schedule", _specification_of)


def _specification_of(body: bytes) -> tuple[str, datetime, Specified]:
    row = _SPECIFIED.decode(body)
    return key_of(row.id), time_of(row.last_modified), _specified(row.job_specification)


def _specified(sent: Any) -> Specified:
    try:
        return let_through(sent, JobSpecification)
    except NONSENSE as error:
        return f"Its job specification makes no sense: {type(error).__name__}."  # only its kind: it may hold secrets
