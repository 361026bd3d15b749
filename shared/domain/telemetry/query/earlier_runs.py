"""Earlier runs of a task, from Batch's events: Batch itself reports only the latest run.

An end event contains both times of its run. A run that failed and is retried has none: only its start event, and the
later start of the next run, show it. Events may be missing, so there may be more runs than these. There may also be
more than Batch counts: it excludes runs that ended when their node was preempted or lost, and internal retries.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.core.keys import key_of
from shared.domain.events.batch_events import BatchEvent, field_of, parse_stamp
from shared.domain.events.internal_retries import START, internal_retries
from shared.domain.telemetry.query.task_runs import TaskRun

STARTED_WITHIN = timedelta(minutes=10)
"""The latest start of a run after its scheduling time, which its start event contains."""
_SAME = timedelta(seconds=1)  # tolerance between the times of one run in Batch and in its events
_ENDS = ("TaskCompleteEvent", "TaskFailEvent", "TaskRequeueEvent")


def earlier_runs(events: Iterable[BatchEvent], latest: TaskRun) -> Sequence[TaskRun]:
    """Returns a task's earlier runs, latest first; a run without an end event lasts until the next begins.

    Where Batch counts no earlier runs, a start on the latest run's node belongs to that run, which may have started
    late.
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
    """Returns whether a start event may belong to a run on its node; an internally retried start is a separate run."""
    is_there = key_of(one.pool) == key_of(other.pool) and key_of(one.node) == key_of(other.node)
    return is_there and not one.is_retried_internally
