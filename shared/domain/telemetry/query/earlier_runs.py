"""Runs of a task before its latest, as Batch's events tell of them: Batch itself tells of the latest one only.

An event of an end bears both times of its run. A run that failed and is tried again has none: of it there is the event
of its start, and that the next one began later. Events may be missing, so there may be more runs than these; and there
may be more than Batch counts, which counts none that ended as its node was preempted or lost, and no internal retries.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.core.keys import key_of
from shared.domain.events.batch_events import BatchEvent, field_of, parse_stamp
from shared.domain.events.internal_retries import START, internal_retries
from shared.domain.telemetry.query.task_runs import TaskRun

STARTED_WITHIN = timedelta(minutes=10)
"""Of when a run was scheduled to a node, which an event of a start tells."""
_SAME = timedelta(seconds=1)  # times of one run, as Batch and its events write them
_ENDS = ("TaskCompleteEvent", "TaskFailEvent", "TaskRequeueEvent")


def earlier_runs(events: Iterable[BatchEvent], latest: TaskRun) -> Sequence[TaskRun]:
    """Those of a task's events, the latest first. One of which only the start is known lasts until the next begins.

    Where Batch counts none, a start on the latest run's node is that run's own, which may have been long in coming.
    """
    events = list(events)
    retried = {event.id for event in internal_retries(events).values()}
    started, ended = list[TaskRun](), dict[datetime, TaskRun]()
    for event in events:
        if event.kind == START:
            run = _run(event, _time(event, "scheduledTime") or event.at, None)
            started.append(replace(run, is_retried_internally=event.id in retried))
        elif event.kind in _ENDS and (start := _time(event, "startTime")):
            ended[start] = _run(event, start, _time(event, "endTime") or event.at)
    over = [run for run in ended.values() if latest.start - run.start >= _SAME]
    for run in (*over, latest):
        same = [one for one in started if _is_own(one, run) and abs(one.start - run.start) <= STARTED_WITHIN]
        if same:
            started.remove(min(same, key=lambda one: abs(one.start - run.start)))
    if not latest.earlier:
        started = [run for run in started if not _is_own(run, latest)]
    found, until = list[TaskRun](), latest.start
    for run in sorted((*over, *started), key=lambda run: run.start, reverse=True):
        if until - run.start >= _SAME:
            found.append(replace(run, end=max(min(run.end or until, until), run.start)))
            until = run.start
    most = max(latest.earlier, len(found))
    return [replace(run, earlier=most - number) for number, run in enumerate(found, 1)]


def _run(event: BatchEvent, start: datetime, end: datetime | None) -> TaskRun:
    return TaskRun(event.pool or "", event.node or "", start, end, 0)


def _time(event: BatchEvent, name: str) -> datetime | None:
    return parse_stamp(field_of(event.properties, "executionInfo", name))


def _is_own(one: TaskRun, other: TaskRun) -> bool:
    """Whether a start may be another run's, which is on its node; one that was retried is a run of its own."""
    return not one.is_retried_internally and (key_of(one.pool), key_of(one.node)) == (
        key_of(other.pool),
        key_of(other.node),
    )
