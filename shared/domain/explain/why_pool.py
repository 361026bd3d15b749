"""Causes in the job's pool: it doesn't exist, is being deleted, has target 0, a failing formula, or no nodes.

Where slots are free these findings appear, but not as the cause.
"""

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import ENDING, Evidence
from shared.domain.explain.findings import Finding, Severity
from shared.domain.explain.pool_growth import formula_evidence, formula_sentences, target_of
from shared.domain.explain.resize_words import current_error, have_of, with_error
from shared.domain.explain.why_nodes import outweigh


def missing(e: Evidence) -> Finding | None:
    """Returns the finding only where Batch reported it: a pool that is merely unknown may be new."""
    if not e.pool_gone or e.job.state in ENDING or e.deleted:
        return None
    name = e.job.pool_id
    return Finding(
        "poolMissing",
        e.lasting_pool_severity,
        f"There is no pool '{name}'" if name else "The job has no pool",
        f"The job names the pool '{name}', which doesn't exist: its tasks have nowhere to run."
        if name
        else "Batch tells no pool for the job: its tasks have nowhere to run.",
        _pool_advice(e),
        {"poolId": name},
    )


def _pool_advice(e: Evidence) -> str:
    """Returns advice; Batch doesn't re-create a pool that it made for a job, nor can such a job get another."""
    if e.makes_pool:
        return "Batch made this pool for the job and makes no other: submit the tasks that are left to a new job."
    other = "disable the job, give it another pool and enable it again."
    return f"Create the pool under this id, or {other}" if e.job.pool_id else f"D{other[1:]}".replace("another", "a")


def deleting(e: Evidence) -> Finding | None:
    if e.pool is None or e.pool.facts.state != "deleting" or e.pool_gone:
        return None
    facts = e.pool.facts
    return Finding(
        "poolDeleting",
        e.lasting_pool_severity,
        f"The pool '{facts.id}' is being deleted",
        "It gives up its nodes and starts no tasks any more.",
        _pool_advice(e) if e.makes_pool else "Disable the job, give it another pool, and enable it again.",
        {"poolId": facts.id, "nodes": facts.nodes},
        facts.state_transition_time,
    )


def autoscale_failed(e: Evidence) -> Finding | None:
    """Returns the finding that the formula keeps a pool from growing that has its target number of working nodes."""
    return _formula_failed(e, e.growth_severity) if _has_its_nodes(e) and not _is_to_be_empty(e) else None


def autoscale_failed_as_well(e: Evidence) -> Finding | None:
    """Returns the same for a pool without its target number of working nodes; the causes for that come first."""
    if _has_its_nodes(e) or _is_to_be_empty(e):
        return None
    return _formula_failed(e, "info" if e.pool_severity == "info" else "limiting")


def _formula_failed(e: Evidence, severity: Severity) -> Finding | None:
    scale = e.pool.facts.auto_scale if e.pool else None
    if e.pool is None or scale is None or scale.error is None:
        return None
    facts, target = e.pool.facts, target_of(e.pool.facts)
    return Finding(
        "autoScaleFailed",
        severity,
        "The pool's autoscale formula can't be evaluated",
        f"The last evaluation failed{with_error(scale.error)}. So the pool '{facts.id}' keeps its target"
        f"{'' if target is None else f' of {amount(target, "node")}'}.",
        "Correct the formula; Batch evaluates one without enabling it (az batch pool autoscale evaluate)."
        f"{formula_sentences(facts)}",
        {
            "poolId": facts.id,
            "code": scale.error.code,
            "message": scale.error.message,
            "nodes": facts.nodes,
            "target": target,
            **formula_evidence(facts),
        },
        scale.evaluated_at,
    )


def _has_its_nodes(e: Evidence) -> bool:
    """Returns whether a steady pool has its target number of nodes, and nodes without tasks don't outweigh the others.

    Batch also counts nodes that it can't use, be they unusable or preempted.
    """
    return not (e.pool is None or e.pool.facts.is_resized or e.pool.facts.lacking or outweigh(e))


def no_target(e: Evidence) -> Finding | None:
    """Returns the finding that the pool's target is 0: it has no nodes, or removes them when their tasks are done."""
    if e.pool is None or not _is_to_be_empty(e):
        return None
    facts = e.pool.facts
    scale = facts.auto_scale
    if scale and scale.error:
        return _formula_failed(e, e.lasting_pool_severity)
    is_left = " It gives up its nodes when the tasks on them are done, and starts no more." if e.is_emptied else ""
    return Finding(
        "poolTargetZero",
        e.lasting_pool_severity,
        f"The pool '{facts.id}' is {'being emptied' if e.is_emptied else 'to have no nodes'}",
        "Its targets are 0 dedicated and 0 spot nodes"
        + (", as its autoscale formula says." if scale else ", and it doesn't scale by itself.")
        + is_left,
        "See why the formula gives no nodes while tasks wait: $PendingTasks counts them, but for those that wait for "
        f"other tasks, and what it knows is some minutes old.{formula_sentences(facts)}"
        if scale
        else "Resize the pool, or let it scale by itself (autoscale).",
        {
            "poolId": facts.id,
            "nodes": facts.nodes,
            "autoScale": False,
            "allocationState": facts.allocation_state,
            **formula_evidence(facts),
        },
        scale.evaluated_at if scale else facts.allocation_state_transition_time,
    )


def _is_to_be_empty(e: Evidence) -> bool:
    """Returns whether the pool's target is no nodes, and no node continues to take tasks."""
    if e.pool is None or e.pool.facts.state != "active" or target_of(e.pool.facts) != 0:
        return False
    return e.is_emptied or not (e.able or e.is_unseen)


def no_nodes(e: Evidence) -> Finding | None:
    """Returns the finding that the pool has no nodes despite its target, without a known resize or error."""
    if e.pool is None or e.pool.facts.nodes or e.states.total() or not target_of(e.pool.facts):
        return None
    if e.pool.facts.allocation_state != "steady" or current_error(e.pool):
        return None
    facts = e.pool.facts
    return Finding(
        "poolEmpty",
        e.pool_severity,
        f"The pool '{facts.id}' has no nodes",
        f"It has {have_of(facts)}, though it isn't being resized and tells no error.",
        f"See what its autoscale formula gives.{formula_sentences(facts)}"
        if facts.auto_scale
        else "Resize the pool again.",
        {"poolId": facts.id, "nodes": 0, "target": target_of(facts), **formula_evidence(facts)},
        facts.allocation_state_transition_time,
    )
