"""Causes in the load on the job's pool: all slots are in use, or will be before the job's tasks get them.

Source: "Jobs and tasks in Azure Batch". Of jobs on the same pool those of a higher priority come first, and those of
the same priority have equal chances, so a job's position is a range. Running tasks continue unless their job allows
preemption. Slots are free for an instant between two tasks and when a node has just started. Where more tasks compete
than slots are free, the competition is the cause, as in the moments before and after.
"""

from datetime import timedelta

from shared.domain.core.amounts import amount, are
from shared.domain.explain.evidence import Evidence
from shared.domain.explain.findings import Finding, Value
from shared.domain.explain.pool_growth import formula_evidence, formula_sentences, larger
from shared.domain.explain.rivals import Rival, holders, named, slots_of, tasks_of
from shared.domain.pools.pools import PoolFacts

_FAR = timedelta(days=365)


def higher_priority(e: Evidence) -> Finding | None:
    """Returns the finding that jobs of a higher priority have waiting tasks that can use all free slots."""
    ahead = e.ahead
    if not ahead or e.pool is None or not (_is_full(e) or (e.is_contested and slots_of(ahead) >= e.free)):
        return None
    facts, tasks, most = e.pool.facts, tasks_of(ahead), max(rival.priority for rival in ahead)
    one = len(ahead) == 1
    return Finding(
        "higherPriorityJobs",
        e.pool_severity,
        f"{'A job' if one else 'Jobs'} of higher priority {'goes' if one else 'go'} first",
        f"{amount(tasks, 'task')} of {amount(len(ahead), 'job')} with a priority of up to {most} {_wait(tasks)} for "
        f"the same pool: {named(ahead)}; this job has {e.job.priority or 0}. {_held(e, facts)}{_position(e)}",
        f"Raise this job's priority, lower that of the others, {larger(facts)}, or use another pool."
        f"{formula_sentences(facts)}",
        {
            "poolId": facts.id,
            "priority": e.job.priority or 0,
            "highestPriority": most,
            "jobs": tuple(f"{r.id} ({r.priority}): {r.contending}" for r in _most_first(e)[:5]),
            "otherJobs": max(len(ahead) - 5, 0),
            "freeSlots": e.free,
            **_numbers(e),
            **formula_evidence(facts),
        },
    )


def slots_busy(e: Evidence) -> Finding | None:
    """Returns the finding that usable nodes are full, lack room, or have free slots that others compete for."""
    if e.pool is None or e.pool.picture is None or not (_is_full(e) or e.is_contested):
        return None
    facts, free = e.pool.facts, e.free
    slots = _takers(e) * facts.slots_per_node
    used = max(slots - free, 0)
    others = min(sum(rival.running_slots for rival in e.rivals), used)  # jobs were counted at different times
    which = " of nodes that take its tasks" if _takers(e) < e.states.total() else ""
    return Finding(
        "slotsBusy",
        e.pool_severity,
        _full_title(e, facts.id),
        f"{used:,} of {amount(slots, 'slot')}{which} are in use, {others:,} of them by other jobs. "
        f"{_scattered(e)}{_held(e, facts)}{_line(e)}{_position(e)}",
        f"Wait, {larger(facts)}, or use another pool."
        + ("" if facts.slots_per_node > 1 else " With more taskSlotsPerNode a node runs several small tasks.")
        + formula_sentences(facts),
        {
            "poolId": facts.id,
            "slots": slots,
            "usedSlots": used,
            "freeSlots": free,
            "slotsOfOtherJobs": others,
            **_numbers(e),
            **formula_evidence(facts),
        },
    )


def _full_title(e: Evidence, pool_id: str) -> str:
    if e.is_contested:
        return f"More tasks wait for the pool '{pool_id}' than it has slots free"
    if e.free:
        return f"No node of the pool '{pool_id}' has room for {_which(e)}"
    if _takers(e) < e.states.total():
        return f"All slots that the job can use in the pool '{pool_id}' are busy"
    return f"All slots of the pool '{pool_id}' are busy"


def _takers(e: Evidence) -> int:
    """Returns the number of nodes that take tasks of this job."""
    return len(e.fit) if e.nodes else e.able


def _scattered(e: Evidence) -> str:
    """Returns a text on free slots that don't suffice."""
    if e.is_contested:
        return f"{are(e.free, 'slot')} free at the moment, for which more tasks stand in line. "
    if not e.free or e.waiting is None:
        return ""
    others = "" if e.lacks_room else "Whether one that wasn't looked at requires fewer isn't known. "
    return f"{are(e.free, 'slot')} free, but on no node the {e.waiting.least_slots} that a task requires. {others}"


def _held(e: Evidence, facts: PoolFacts) -> str:
    """Returns a text on who holds the slots: other jobs, with their tasks' slots, and this one."""
    told = [*holders(e.rivals), *([f"this job ({amount(e.runs, 'task')})"] if e.runs else ())]
    return f"The slots of '{facts.id}' are held by {', '.join(told)}. " if told else ""


def _line(e: Evidence) -> str:
    """Returns a text on jobs that compete with this one with equal chances."""
    return f"As many chances have {named(e.equal)}. " if e.equal else ""


def _which(e: Evidence) -> str:
    return "one of its tasks" if e.lacks_room or not e.waiting else f"the first {e.waiting.looked:,} of its tasks"


def room(e: Evidence) -> Finding | None:
    """Returns the finding that there is room for all waiting tasks and no known obstacle, where no cause was found."""
    if not e.waits or e.pool is None or e.pool.picture is None or not e.able or e.lacks_room is not False:
        return None
    if e.is_contested:
        return None
    line = _in_line(e)
    return Finding(
        "slotsFree",
        "info",
        "Slots are free for its waiting tasks",
        f"{are(e.free, 'slot')} free in the pool '{e.pool.facts.id}', and nothing was found that keeps tasks "
        f"from starting there. {_rivals(e)}".rstrip(),
        "Batch mostly starts tasks within seconds; look again in a minute.",
        {
            "poolId": e.pool.facts.id,
            "freeSlots": e.free,
            "waitingTasks": e.waits,
            "tasksAhead": line["tasksAhead"],
            "tasksOfSamePriority": line["tasksOfSamePriority"],
        },
    )


def _rivals(e: Evidence) -> str:
    """Returns a text on other jobs' tasks that may take the free slots."""
    if not _is_sure(e):
        return "Whether waiting tasks of other jobs could take them first isn't known."
    tasks = tasks_of(e.ahead) + tasks_of(e.equal)
    if not tasks:
        return ""
    return f"{amount(tasks, 'task')} of other jobs of the same or a higher priority {_wait(tasks)} for slots, too."


def _is_full(e: Evidence) -> bool:
    """Returns whether tasks wait, some node may get tasks, and none has room for the smallest that was read."""
    if not e.waits or e.pool is None or e.pool.picture is None or not e.able or e.lacks_room is False:
        return False
    return not e.free or (
        e.waiting is not None and bool(e.nodes) and e.waiting.least_slots <= e.pool.facts.slots_per_node
    )


def _position(e: Evidence) -> str:
    least, equal = tasks_of(e.ahead), tasks_of(e.equal)
    sure = _is_sure(e)
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
        return f"{place}. Whether those of some jobs could start isn't known, so when it is its turn can't be said."
    soon = _time_for(e, least + 1)
    if soon is not None:
        return f"{place}; as tasks ended lately, its next may start in about {_words(soon)}."
    if e.per_minute is None:
        return f"{place}. How fast tasks ended lately isn't known, so when it is its turn can't be told."
    if not e.per_minute:
        return f"{place}. No task ended lately, so when it is its turn can't be told."
    return f"{place}; as tasks ended lately, it would take more than a year until its next may start."


def _is_sure(e: Evidence) -> bool:
    """Returns False where waiting tasks of other jobs don't count because it is unknown whether they could start."""
    return not any(rival.is_doubtful for rival in e.rivals)


def _numbers(e: Evidence) -> dict[str, Value]:
    ahead, equal = tasks_of(e.ahead), tasks_of(e.equal)
    return {
        "waitingTasks": e.waits,
        "waitingSlots": e.waiting_slots,
        **_in_line(e),
        "holders": holders(e.rivals),
        "tasksEndedPerMinute": e.per_minute,
        "estimatedWait": _time_for(e, ahead + 1),
        "estimatedWaitOfLast": _time_for(e, ahead + equal + e.waits),
    }


def _in_line(e: Evidence) -> dict[str, Value]:
    """Returns other jobs' tasks, and their slots, that come or may come before its own; None where unknown."""
    counts = {
        "tasksAhead": tasks_of(e.ahead),
        "slotsAhead": slots_of(e.ahead),
        "tasksOfSamePriority": tasks_of(e.equal),
        "slotsOfSamePriority": slots_of(e.equal),
    }
    return {name: count if _is_sure(e) else None for name, count in counts.items()}


def _most_first(e: Evidence) -> list[Rival]:
    return sorted(e.ahead, key=lambda rival: (-rival.contending_slots, rival.id))


def _time_for(e: Evidence, tasks: int) -> timedelta | None:
    """Returns how long it takes at the recent rate until so many tasks have ended, each making room for another."""
    if not e.per_minute or not _is_sure(e):
        return None
    minutes = tasks / e.per_minute
    return timedelta(seconds=round(minutes * 60)) if minutes < _FAR.total_seconds() / 60 else None


def _words(span: timedelta) -> str:
    seconds = span.total_seconds()
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return amount(round(seconds / size), unit)
    return amount(round(seconds), "second")


def _wait(tasks: int) -> str:
    return "waits" if tasks == 1 else "wait"
