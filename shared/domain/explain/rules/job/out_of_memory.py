"""The kernel killed tasks of the job for lack of memory: they fail, or run again and die again."""

from collections import Counter

from shared.domain.core.amounts import amount
from shared.domain.core.keys import key_of
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.node_events import OOM_KILL
from shared.domain.explain.evidence import ENDING, Evidence, Found
from shared.domain.findings.finding import Amount
from shared.domain.findings.thresholds import MAX_EXAMPLES

_AT_NODE = (
    "Let these tasks take more task slots (requiredSlots), the pool's nodes have fewer of them (taskSlotsPerNode), or "
    "take a VM size with more memory."
)
_AT_LIMIT = "Raise the memory limit of the tasks' containers (--memory in containerRunOptions), or let them use less."


def out_of_memory(e: Evidence) -> Found:
    """Returns the finding on tasks of which a process was killed within the last hour."""
    events = [event for event in e.node_events or () if _is_kill(e, event)]
    if not events or e.deleted or e.job.state in ENDING:
        return None
    tasks = {key_of(event.task or ""): event.task or "" for event in events}
    nodes = Counter(event.node or "" for event in events).most_common()
    number, first = len(tasks), nodes[0][0]
    places = f"on node '{first}'" if len(nodes) == 1 else f"on {len(nodes)} nodes, most often on node '{first}'"
    is_limit = all(event.properties.get("is_cgroup_limit") is True for event in events)
    return e.about_job(
        "tasksOutOfMemory",
        "info",
        title=f"{amount(number, 'task')} of the job {'was' if number == 1 else 'were'} killed for lack of memory",
        sentence=f"Within the last hour the kernel killed processes of {amount(number, 'task')} {places}. "
        + ("The tasks' own memory limit was reached." if is_limit else "The node ran out of memory."),
        advice=_AT_LIMIT if is_limit else _AT_NODE,
        evidence={
            "poolId": e.job.pool_id,
            "killedTasks": number,
            "kills": len(events),
            "exampleTasks": tuple(list(tasks.values())[:MAX_EXAMPLES]),
            "examples": tuple(node for node, _ in nodes[:MAX_EXAMPLES]),
        },
        since=min(event.at for event in events),
        amount=Amount(number, "tasks"),
    )


def _is_kill(e: Evidence, event: BatchEvent) -> bool:
    """Returns whether an event is the kill of a task of this job, not of an earlier one with its id."""
    is_of_job = event.job is not None and key_of(event.job) == e.job.key and event.at >= e.job.creation_time
    return event.kind == OOM_KILL and is_of_job and event.task is not None
