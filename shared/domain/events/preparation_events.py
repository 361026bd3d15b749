"""Runs of job preparation tasks, as Batch's events show them: lists of nodes and tasks have no times of theirs."""

from collections.abc import Iterable
from datetime import timedelta

from shared.domain.events.batch_events import BatchEvent, field_of, parse_stamp, text_of

SPECIAL_TASK = "SpecialTaskEvent"
_PREPARATION = "jobprep"
_MILLISECOND = timedelta(milliseconds=1)


def preparation_runs(events: Iterable[BatchEvent]) -> list[int]:
    """Returns the milliseconds of each run that has both times, in order; others are left out."""
    found = (_run(event) for event in events if _is_preparation(event))
    return sorted(run for run in found if run is not None)


def _is_preparation(event: BatchEvent) -> bool:
    is_special = event.kind.lower() == SPECIAL_TASK.lower()
    return is_special and (text_of(event.properties, "taskType") or "").lower().startswith(_PREPARATION)


def _run(event: BatchEvent) -> int | None:
    start = parse_stamp(field_of(event.properties, "executionInfo", "startTime"))
    end = parse_stamp(field_of(event.properties, "executionInfo", "endTime"))
    return (end - start) // _MILLISECOND if start and end and end >= start else None
