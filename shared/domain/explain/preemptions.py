"""Requeues of a job's running tasks, and the jobs that took their slots.

Batch reports no reason for a requeue (TaskRequeueEvent). Preemption is inferred: the job allows it, no user asked for
the requeue, which would raise `requeueCount`, and a task of a job of a higher priority started on the same node soon
afterwards.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.core.keys import key_of
from shared.domain.events.batch_events import BatchEvent, field_of
from shared.domain.findings.thresholds import SLOT_TAKEN_WITHIN

REQUEUED, STARTED = "TaskRequeueEvent", "TaskStartEvent"


@dataclass(frozen=True, slots=True)
class Requeue:
    """A requeue of a task on a node; `taken_by` is the job that took its slot, None where no event shows it."""

    task: str
    node: str
    at: datetime
    taken_by: str | None = None


def requeues_of(events: Iterable[BatchEvent]) -> list[Requeue]:
    """Returns the requeues, of events of one job, that no user asked for."""
    return [
        Requeue(event.task, event.node, event.at)
        for event in events
        if event.kind == REQUEUED and event.task and event.node
        if not field_of(event.properties, "executionInfo", "requeueCount")
    ]


def with_takers(
    requeues: Iterable[Requeue], starts: Iterable[BatchEvent], more_urgent: Mapping[str, str]
) -> tuple[Requeue, ...]:
    """Returns the requeues with the jobs that took the slots; `more_urgent` are ids of jobs by key."""
    by_node: dict[str, list[tuple[datetime, str]]] = {}
    for event in starts:
        if event.kind == STARTED and event.node and (job := more_urgent.get(key_of(event.job or ""))):
            by_node.setdefault(key_of(event.node), []).append((event.at, job))
    return tuple(
        Requeue(each.task, each.node, each.at, _first_after(each.at, by_node.get(key_of(each.node), ())))
        for each in requeues
    )


def _first_after(at: datetime, starts: Sequence[tuple[datetime, str]]) -> str | None:
    within = [(start, job) for start, job in starts if at <= start <= at + SLOT_TAKEN_WITHIN]
    return min(within)[1] if within else None
