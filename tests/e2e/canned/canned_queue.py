"""The queue of a pool in the API's JSON, for the canned server."""

from collections.abc import Sequence
from typing import Any

from tests.e2e.canned.canned_values import stamp


def queued(name: str, rank: int | None = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": name,
        "state": "active",
        "priority": 0,
        "creationTime": stamp(3_600),
        "rank": rank,
        "waitingTasks": 50,
        "waitingSlots": 50,
        "readyTasks": 50,
        "runningTasks": 4,
        "leastSlots": None,
        "mostSlots": None,
        "maxParallelTasks": None,
        "allowTaskPreemption": False,
        "share": 1.0,
        "cause": "slotsBusy",
        "title": "All slots of the pool 'render-d4s' are busy",
        "expectedStart": stamp(-200),
        "reason": None,
    } | changes


def queue(jobs: Sequence[dict[str, Any]] = (), **changes: Any) -> dict[str, Any]:
    """Returns a queue of these jobs."""
    return {
        "value": list(jobs),
        "count": len(jobs),
        "account": "demo",
        "pool": "render-d4s",
        "asOf": stamp(3),
        "jobDefaultOrder": "none",
        "freeSlots": 0,
        "tasksEndedPerMinute": 12.5,
        "waitingTasks": sum(job["waitingTasks"] for job in jobs),
        "moreJobs": 0,
        "unknown": [],
    } | changes


def busy_queue() -> dict[str, Any]:
    """Returns the queue of a full pool: an urgent job, two that share, and one that is disabled."""
    behind, unstored = "50 tasks of a job of higher priority go first", "It isn't stored."
    off = {"state": "disabled", "readyTasks": 0, "runningTasks": 0, "share": None, "title": "The job is disabled"}
    return queue(
        [
            queued("urgent", priority=100),
            queued("night-1", 2, share=0.5, title=behind, expectedStart=stamp(-260)),
            queued("night-2", 2, share=0.5, title=behind, readyTasks=None, expectedStart=None, reason=unstored),
            queued("off", None, **off, expectedStart=None, reason="The job is disabled."),
        ]
    )
