"""Usable nodes are full, lack room, or have free slots that others compete for."""

from shared.domain.core.amounts import amount, are
from shared.domain.explain.autoscale_formula import formula_evidence, formula_sentences
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.pool_size import larger
from shared.domain.explain.rules.slots import queue_position as queue
from shared.domain.findings.thresholds import MAX_SHOWN_JOBS

_SPREAD = (
    "The pool spreads tasks over its nodes (nodeFillType), so free slots are on several of them; pack fills one node "
    "before the next. "
)


def slots_busy(e: Evidence) -> Found:
    facts = e.facts
    if facts is None or not (queue.is_full(e) or e.is_contested):
        return None
    nodes = len(e.fit) if e.nodes else e.able  # that take tasks of this job
    slots, is_partial = nodes * facts.slots_per_node, nodes < e.states.total()
    used = max(slots - e.free, 0)
    others = min(sum(job.running_slots for job in e.competing_jobs), used)  # jobs were counted at different times
    of_nodes = " of nodes that take its tasks" if is_partial else ""
    return e.about_pool(
        "slotsBusy",
        e.pool_severity,
        title=_title(e, facts.id, is_partial=is_partial),
        sentence=f"{used:,} of {amount(slots, 'slot')}{of_nodes} are in use, {others:,} of them by other jobs. "
        f"{_free_sentence(e)}{queue.holder_sentence(e, facts.id)}{_yielding_sentence(e)}{queue.share_sentence(e)}"
        f"{queue.position_sentence(e)}",
        advice=f"Wait, {larger(facts)}, or use another pool."
        + ("" if facts.slots_per_node > 1 else " With more taskSlotsPerNode a node runs several small tasks.")
        + formula_sentences(facts),
        evidence={
            "slots": slots,
            "usedSlots": used,
            "freeSlots": e.free,
            "slotsOfOtherJobs": others,
            **queue.figures(e),
            **formula_evidence(facts),
        },
    )


def _title(e: Evidence, pool_id: str, *, is_partial: bool) -> str:
    if e.is_contested:
        return f"More tasks wait for the pool '{pool_id}' than it has slots free"
    if e.free:
        tasks = "one of its tasks" if e.lacks_room or not e.waiting else f"the first {e.waiting.looked:,} of its tasks"
        return f"No node of the pool '{pool_id}' has room for {tasks}"
    if is_partial:
        return f"All slots that the job can use in the pool '{pool_id}' are busy"
    return f"All slots of the pool '{pool_id}' are busy"


def _yielding_sentence(e: Evidence) -> str:
    """Returns a text on running tasks that Batch may requeue for this job."""
    jobs = [
        job for job in e.competing_jobs if job.running and job.rules.allows_preemption and job.priority < e.priority
    ]
    if not jobs:
        return ""
    one, names = len(jobs) == 1, ", ".join(f"'{job.id}'" for job in jobs[:MAX_SHOWN_JOBS])
    more = f" and {amount(len(jobs) - MAX_SHOWN_JOBS, 'more job')}" if len(jobs) > MAX_SHOWN_JOBS else ""
    allow = "that job allows" if one else "those jobs allow"
    return f"Batch may requeue running tasks of {names}{more} for it, as {allow} preemption. "


def _free_sentence(e: Evidence) -> str:
    """Returns a text on free slots that don't suffice."""
    if e.is_contested:
        return f"{are(e.free, 'slot')} free at the moment, for which more tasks stand in line. "
    if not e.free or e.waiting is None:
        return ""
    others = "" if e.lacks_room else "Whether one that wasn't looked at requires fewer isn't known. "
    free = f"{are(e.free, 'slot')} free, but on no node the {e.waiting.least_slots} that a task requires. {others}"
    is_spread = e.facts is not None and e.facts.spreads_tasks and e.able > 1 and e.free >= e.waiting.least_slots
    return f"{free}{_SPREAD if is_spread else ''}"
