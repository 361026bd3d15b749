"""A job's position among the jobs on its pool, and the time until its tasks get slots, as evidence and sentences."""

from collections.abc import Sequence
from datetime import timedelta
from math import inf

from shared.domain.core.amounts import amount
from shared.domain.explain.competing_jobs import CompetingJob, holders, minutes_until, named, slots_of, tasks_of
from shared.domain.explain.evidence import Evidence
from shared.domain.findings.finding import Value
from shared.domain.findings.thresholds import MAX_ESTIMATED_WAIT, MAX_SHOWN_JOBS


def is_full(e: Evidence) -> bool:
    """Returns whether tasks wait, some node may get tasks, and none has room for the smallest that was read."""
    if not e.waiting_tasks or e.pool is None or e.pool.snapshot is None or not e.able or e.lacks_room is False:
        return False
    return not e.free or (
        e.waiting is not None and bool(e.nodes) and e.waiting.least_slots <= e.pool.facts.slots_per_node
    )


def take_all(e: Evidence, ahead: Sequence[CompetingJob]) -> bool:
    """Returns whether no slot is left for the job where tasks of these jobs go first."""
    return bool(ahead) and (is_full(e) or (e.is_contested and slots_of(ahead) >= e.free))


def retaking_jobs(e: Evidence) -> tuple[CompetingJob, ...]:
    """Returns jobs that go first and are bound by maxParallelTasks: they retake the slots that their tasks free."""
    return tuple(job for job in e.competing_jobs if _retakes(e, job))


def _retakes(e: Evidence, job: CompetingJob) -> bool:
    return job.retaking > 0 and e.rank_of(job) < e.rank


def is_sure(e: Evidence) -> bool:
    """Returns False where waiting tasks of other jobs don't count because it is unknown whether they could start."""
    rank = e.rank
    return all(job.is_held_exact for job in e.competing_jobs if e.rank_of(job) <= rank)


def in_line(e: Evidence) -> dict[str, Value]:
    """Returns other jobs' tasks, and their slots, that come or may come before its own; None where unknown."""
    counts = {
        "tasksAhead": tasks_of(e.ahead),
        "slotsAhead": slots_of(e.ahead),
        "tasksOfSamePriority": tasks_of(e.equal),
        "slotsOfSamePriority": slots_of(e.equal),
    }
    return {name: count if is_sure(e) else None for name, count in counts.items()}


def figures(e: Evidence) -> dict[str, Value]:
    """Returns the evidence of a position in the queue."""
    ahead, equal = tasks_of(e.ahead), tasks_of(e.equal)
    return {
        "waitingTasks": e.waiting_tasks,
        "waitingSlots": e.waiting_slots,
        **in_line(e),
        "slotsRetaken": sum(job.running_slots for job in retaking_jobs(e)) if is_sure(e) else None,
        "share": share_of(e),
        "holders": holders(e.competing_jobs),
        "tasksEndedPerMinute": e.per_minute,
        "estimatedWait": _time_for(e, ahead + 1),
        "estimatedWaitOfLast": _time_for(e, ahead + equal + e.waiting_tasks - e.oversized.number),
    }


def share_of(e: Evidence) -> float | None:
    """Returns the job's share of the slots that tasks ahead leave, from 0 to 1; None where that isn't known.

    Batch takes tasks uniformly from jobs of the same rank.
    """
    return round(1 / (1 + len(e.equal)), 6) if is_sure(e) and _is_ordered(e) else None


def _is_ordered(e: Evidence) -> bool:
    """Returns False where it isn't known which job of equal priority goes first, and there are others."""
    return not e.equal or (e.facts is not None and e.facts.job_order is not None)


def share_sentence(e: Evidence) -> str:
    """Returns a text on the jobs with which the job shares slots; empty without any."""
    if not e.equal or not _is_ordered(e):
        return ""
    share = f"1 in {1 + len(e.equal):,} slots" if is_sure(e) else "an equal share of slots"
    left = " that higher ones leave" if e.ahead else ""
    return (
        f"Batch takes tasks uniformly from jobs of the same priority, so {share}{left} is for this job, and the others "
        f"are for {named(e.equal)}. "
    )


def holder_sentence(e: Evidence, pool_id: str) -> str:
    """Returns a text on who holds the slots: other jobs, with their tasks' slots, and this one."""
    jobs = [*holders(e.competing_jobs), *([f"this job ({amount(e.running_tasks, 'task')})"] if e.running_tasks else ())]
    return f"The slots of '{pool_id}' are held by {', '.join(jobs)}. " if jobs else ""


def retaking_sentence(e: Evidence) -> str:
    """Returns a text on jobs that go first and keep the slots that they have; empty without any."""
    retaking = retaking_jobs(e)
    if not retaking:
        return ""
    shown = ", ".join(f"'{job.id}' ({job.rules.max_parallel_tasks})" for job in retaking[:MAX_SHOWN_JOBS])
    more = len(retaking) - MAX_SHOWN_JOBS
    others = f" and {amount(more, 'more job')}" if more > 0 else ""
    return (
        f"Slots that running tasks of {shown}{others} free go to waiting tasks of the same job, as it goes first and "
        "has more than its maxParallelTasks lets run. "
    )


def position_sentence(e: Evidence) -> str:
    return f"{retaking_sentence(e)}{_place_sentence(e)}"


def _place_sentence(e: Evidence) -> str:
    least, equal, sure = tasks_of(e.ahead), tasks_of(e.equal), is_sure(e)
    if least:
        others = (
            f"{'' if sure else 'At least '}{amount(least, 'task')} of other jobs {'comes' if least == 1 else 'come'}"
        )
    else:
        others = f"No task of another job {'comes' if sure else 'is known to come'}"
    place = f"{others} before its own"
    if equal:
        place += f", and {amount(equal, 'task')} of the same priority may"
    if not sure:
        return f"{place}. Whether those of some jobs could start isn't known, so its turn can't be estimated."
    soon = _time_for(e, least + 1)
    if soon is not None:
        return f"{place}; as tasks ended lately, its next may start in about {_duration(soon)}."
    if e.per_minute is None:
        return f"{place}. How fast tasks ended lately isn't known, so its turn can't be estimated."
    if not e.per_minute:
        return f"{place}. No task ended lately, so its turn can't be estimated."
    if _minutes_for(e, least + 1) == inf:
        return f"{place}. As tasks ended lately, no slot comes free for it, so its turn can't be estimated."
    return f"{place}; as tasks ended lately, it would take more than a year until its next may start."


def _time_for(e: Evidence, tasks: int) -> timedelta | None:
    """Returns how long it takes at the recent rate until so many tasks have ended, each making room for another."""
    if not is_sure(e):
        return None
    minutes = _minutes_for(e, tasks)
    return timedelta(seconds=round(minutes * 60)) if minutes < MAX_ESTIMATED_WAIT / timedelta(minutes=1) else None


def _minutes_for(e: Evidence, tasks: int) -> float:
    """Returns the minutes until so many slots came free that no other job retakes; infinite where that isn't known."""
    others_run = e.running_tasks > 0 or any(job.running and not _retakes(e, job) for job in e.competing_jobs)
    return minutes_until(tasks, e.per_minute or 0.0, retaking_jobs(e), others_run=others_run)


def _duration(span: timedelta) -> str:
    seconds = span.total_seconds()
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return amount(round(seconds / size), unit)
    return amount(round(seconds), "second")
