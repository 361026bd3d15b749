"""Compares the tasks that start next with the queue that the API answered before, as far as Batch promises an order."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

type Json = dict[str, Any]


def violations(
    queue: Json,
    started: Sequence[str],
    running: Sequence[Mapping[str, int]] = (),
    held: Sequence[Mapping[str, int]] = (),
    passing: Sequence[Collection[str]] = (),
) -> list[str]:
    """Returns sentences on starts that the queue excludes; `started` are jobs' ids in the order of their tasks' starts.

    `running` and `held` are the numbers of running and held tasks by job before each start; without the former jobs at
    their maxParallelTasks start none, without the latter all held tasks of the queue may have been released.
    A task may start only where no job of a lower rank has ready tasks left, except for wider ones, which it may pass:
    those of the jobs that `passing` has before each start, without it those of jobs that only have wider ones.
    Jobs of one rank take turns while each of them has ready tasks. One at its maxParallelTasks has a ready task
    whenever one of its own has ended, and as it missed turns before, others needn't wait for it. A job with an unknown
    number of ready tasks may start any, and one with held tasks may start as many more as aren't held any longer.
    """
    jobs = {job["id"]: job for job in queue["value"]}
    taken = Counter[str]()
    found = list[str]()
    for place, name in enumerate(started):
        job = jobs.get(name)
        if job is None or job["rank"] is None:
            found.append(f"start {place} is of {name}, none of whose tasks could start")
            continue
        runs = running[place] if running else None
        if (
            job["readyTasks"] is not None
            and not _has_left(job, taken, runs)
            and taken[name] >= _released(job, runs, held[place] if held else {})
        ):
            found.append(f"start {place} is of {name}, whose {job['readyTasks']} ready tasks had started")
        if runs is not None and _is_bound(job, runs) and runs[name] >= job["maxParallelTasks"]:
            found.append(f"start {place} is of {name}, which ran {runs[name]} tasks, its maxParallelTasks")
        for other in jobs.values():
            may_pass = other["id"] in passing[place] if passing else _may_pass(job, other)
            if _has_left(other, taken, runs) and other["rank"] < job["rank"] and not may_pass:
                found.append(f"start {place} is of {name}, before {other['id']} of rank {other['rank']}")
        taken[name] += 1
        equal = [
            other["id"]
            for other in jobs.values()
            if other["rank"] == job["rank"] and not _is_bound(other, runs) and _has_left(other, taken, runs)
        ]
        if equal and taken[name] - min(taken[other] for other in equal) > 1:
            found.append(f"start {place} is of {name}, though others of its rank had fewer")
    return found


def waiting_slots(account: Any, pool: str, *, held: bool) -> dict[str, list[int]]:
    """Returns the slots of waiting tasks by job of a pool, those `held` (by others, or by their width) or the rest."""
    slots = account.pools[pool].slots_per_node
    return {
        job.id: [task.slots for task in job.tasks if task.state == "active" and _is_held(job, task, slots) == held]
        for job in account.jobs.values()
        if job.pool_id == pool
    }


def true_held(account: Any, pool: str) -> dict[str, int]:
    """Returns the numbers of waiting tasks, by job of a pool, that wait for another one, or fit on no node."""
    return {job: len(slots) for job, slots in waiting_slots(account, pool, held=True).items()}


def _is_held(job: Any, task: Any, slots_per_node: int) -> bool:
    wanted = [job.tasks.get(name) for name in (task.spec.get("dependsOn") or {}).get("taskIds", ())]
    return task.slots > slots_per_node or any(one is None or one.state != "completed" for one in wanted)


def _is_bound(job: Json, runs: Mapping[str, int] | None) -> bool:
    return runs is not None and job["maxParallelTasks"] is not None


def _released(job: Json, runs: Mapping[str, int] | None, held: Mapping[str, int]) -> int:
    """Returns the number of a job's tasks that were ready or have been released since."""
    ready = job["waitingTasks"] - job["heldTasks"] if _is_bound(job, runs) else job["readyTasks"]
    return int(ready + job["heldTasks"] - held.get(job["id"], 0))


def _has_left(job: Json, taken: Counter[str], runs: Mapping[str, int] | None) -> bool:
    """Returns whether a job is known to have tasks that would take a free slot."""
    if runs is not None and _is_bound(job, runs):
        left = job["waitingTasks"] - (job["heldTasks"] or 0) - taken[job["id"]]
        return left > 0 and runs[job["id"]] < job["maxParallelTasks"] and job["rank"] is not None
    return job["rank"] is not None and taken[job["id"]] < (job["readyTasks"] or 0)


def _may_pass(job: Json, other: Json) -> bool:
    """Returns whether a job's tasks need fewer slots than each of the other's, so that they fit where those don't."""
    return bool((job["mostSlots"] or 1) < (other["leastSlots"] or 1))
