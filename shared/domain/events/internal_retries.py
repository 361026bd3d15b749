"""Internal retries: task starts that nothing in Batch's log explains except the service itself.

`systemTaskVersion` is the service's own count of attempts, according to the documentation of events. The service starts
a task again after transient errors, such as a node in a bad state, without changing `retryCount`. A run that ended in
between, or was requeued, is another reason, and has an event in the log.
"""

from collections.abc import Iterable, Mapping

from shared.domain.core.keys import key_of
from shared.domain.events.batch_events import BatchEvent, field_of

START = "TaskStartEvent"
_OTHER_REASONS = frozenset(("TaskCompleteEvent", "TaskFailEvent", "TaskRequeueEvent"))

type TaskKey = tuple[str, str]


def task_of(event: BatchEvent) -> TaskKey | None:
    """Returns the keys of job and task that an event names."""
    return (key_of(event.job), key_of(event.task)) if event.job and event.task else None


def internal_retries(events: Iterable[BatchEvent]) -> Mapping[str, BatchEvent]:
    """Returns starts that are internal retries, by event id, each with the preceding start."""
    before: dict[TaskKey, BatchEvent] = {}
    found: dict[str, BatchEvent] = {}
    for event in sorted(events, key=lambda one: one.at):
        task = task_of(event)
        if task is None:
            continue
        if event.kind in _OTHER_REASONS:
            before.pop(task, None)
        elif event.kind == START:
            if task in before and _is_retry(event, before[task]):
                found[event.id] = before[task]
            before[task] = event
    return found


def _is_retry(event: BatchEvent, before: BatchEvent) -> bool:
    versions = [field_of(one.properties, "systemTaskVersion") for one in (before, event)]
    retries = [field_of(one.properties, "executionInfo", "retryCount") for one in (before, event)]
    return None not in versions and versions[0] != versions[1] and retries[0] == retries[1]
