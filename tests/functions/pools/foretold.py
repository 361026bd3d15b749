"""Compares the tasks that start next with the queue that the API answered before, as far as Batch promises an order."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

type Json = dict[str, Any]


def violations(queue: Json, started: Sequence[str]) -> list[str]:
    """Returns sentences on starts that the queue excludes; `started` are jobs' ids in the order of their tasks' starts.

    A task may start only where no job of a lower rank has ready tasks left, except for wider ones, which it may pass.
    Jobs of one rank take turns while each of them has ready tasks. A job with an unknown number of them may start any,
    and one with held tasks may start those once others have ended.
    """
    jobs = {job["id"]: job for job in queue["value"]}
    taken = Counter[str]()
    found = list[str]()
    for place, name in enumerate(started):
        job = jobs.get(name)
        if job is None or job["rank"] is None:
            found.append(f"start {place} is of {name}, none of whose tasks could start")
            continue
        if job["readyTasks"] is not None and taken[name] >= job["readyTasks"] and not job["heldTasks"]:
            found.append(f"start {place} is of {name}, whose {job['readyTasks']} ready tasks had started")
        for other in jobs.values():
            if _has_left(other, taken) and other["rank"] < job["rank"] and not _may_pass(job, other):
                found.append(f"start {place} is of {name}, before {other['id']} of rank {other['rank']}")
        taken[name] += 1
        equal = [other["id"] for other in jobs.values() if other["rank"] == job["rank"] and _has_left(other, taken)]
        if equal and taken[name] - min(taken[other] for other in equal) > 1:
            found.append(f"start {place} is of {name}, though others of its rank had fewer")
    return found


def _has_left(job: Json, taken: Counter[str]) -> bool:
    """Returns whether a job is known to have tasks that would take a free slot."""
    return job["rank"] is not None and taken[job["id"]] < (job["readyTasks"] or 0)


def _may_pass(job: Json, other: Json) -> bool:
    """Returns whether a job's tasks need fewer slots than each of the other's, so that they fit where those don't."""
    return bool((job["mostSlots"] or 1) < (other["leastSlots"] or 1))
