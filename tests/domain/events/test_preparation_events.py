"""Runs of job preparation tasks in Batch's events, also in odd ones."""

from datetime import UTC, datetime
from typing import Any

from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.preparation_events import preparation_runs

START, END = "2026-11-21T07:00:00.5Z", "2026-11-21 07:00:20.75"


def event(kind: str = "SpecialTaskEvent", task: object = "JobPrep", **run: Any) -> BatchEvent:
    at = datetime(2026, 11, 21, 7, 1, tzinfo=UTC)
    return BatchEvent(at, kind, "job", "prep", "pool", "node", {"taskType": task, "executionInfo": run}, b"")


def test_runs_are_in_order_in_both_forms_of_times_and_any_case() -> None:
    later = event("SPECIALTASKEVENT", "jobPreparation", startTime=START, endTime="2026-11-21T07:00:01Z")
    assert preparation_runs([event(startTime=START, endTime=END), later]) == [500, 20_250]


def test_other_tasks_and_runs_without_both_times_are_left_out() -> None:
    odd = [
        event("TaskCompleteEvent", startTime=START, endTime=END),
        event(task="JobRelease", startTime=START, endTime=END),
        event(task=7, startTime=START, endTime=END),
        event(startTime=START),
        event(startTime=END, endTime=START),
        event(startTime="yesterday", endTime=END),
    ]
    assert preparation_runs(odd) == []
