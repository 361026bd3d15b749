"""Causes that lie in the job's pool: it isn't there, wants no nodes, couldn't get them, or is still getting them.

Where slots are free these are told, but not as the cause of anything.
"""

from dataclasses import replace

from shared.domain.amounts import amount
from shared.domain.evidence import ENDING, Evidence, Finding, Severity
from shared.domain.pool_settings import Problem
from shared.domain.pools import Pool, PoolFacts
from shared.domain.resize_advice import resize_words
from shared.domain.resize_errors import ResizeError
from shared.domain.why_nodes import outweigh


def missing(e: Evidence) -> Finding | None:
    """Only where Batch said so: a pool that just isn't known may be new."""
    if not e.pool_gone or e.job.state in ENDING or e.deleted:
        return None
    name = e.job.pool_id
    return Finding(
        "poolMissing",
        e.later_severity,
        f"There is no pool '{name}'" if name else "The job has no pool",
        f"The job names the pool '{name}', which doesn't exist: its tasks have nowhere to run."
        if name
        else "Batch tells no pool for the job: its tasks have nowhere to run.",
        "Create the pool under this id, or disable the job, give it another pool and enable it again."
        if name
        else "Disable the job, give it a pool and enable it again.",
        {"poolId": name},
    )


def deleting(e: Evidence) -> Finding | None:
    if e.pool is None or e.pool.facts.state != "deleting" or e.pool_gone:
        return None
    facts = e.pool.facts
    return Finding(
        "poolDeleting",
        e.later_severity,
        f"The pool '{facts.id}' is being deleted",
        "It gives up its nodes and starts no tasks any more.",
        "Disable the job, give it another pool, and enable it again.",
        {"poolId": facts.id, "nodes": facts.nodes},
        facts.state_transition_time,
    )


def autoscale_failed(e: Evidence) -> Finding | None:
    """The formula keeps a pool from growing that has the nodes that it is to have, and those work."""
    return _formula_failed(e, e.growth_severity) if _has_its_nodes(e) and not _is_to_be_empty(e) else None


def autoscale_failed_as_well(e: Evidence) -> Finding | None:
    """The pool hasn't even the nodes that it is to have, or they don't work: what keeps those comes first."""
    if _has_its_nodes(e) or _is_to_be_empty(e):
        return None
    return _formula_failed(e, "info" if e.pool_severity == "info" else "limiting")


def _formula_failed(e: Evidence, severity: Severity) -> Finding | None:
    scale = e.pool.facts.auto_scale if e.pool else None
    if e.pool is None or scale is None or scale.error is None:
        return None
    facts, target = e.pool.facts, _target(e.pool.facts)
    return Finding(
        "autoScaleFailed",
        severity,
        "The pool's autoscale formula can't be evaluated",
        f"The last evaluation failed{_with(scale.error)}. So the pool '{facts.id}' keeps its target"
        f"{'' if target is None else f' of {amount(target, "node")}'}.",
        "Correct the formula; Batch evaluates one without enabling it (az batch pool autoscale evaluate).",
        {
            "poolId": facts.id,
            "code": scale.error.code,
            "message": scale.error.message,
            "nodes": facts.nodes,
            "target": target,
        },
        scale.evaluated_at,
    )


def _has_its_nodes(e: Evidence) -> bool:
    """True where a pool at rest has as many nodes as it is to have, and those that get no tasks don't outweigh.

    Batch counts nodes that it has no use of as nodes that the pool has, be they unusable or taken back by Azure.
    """
    return not (e.pool is None or e.pool.facts.is_resized or e.pool.facts.lacking or outweigh(e))


def _is_to_be_empty(e: Evidence) -> bool:
    """True of a pool that is to have no nodes; one that is on the way there may have some yet."""
    if e.pool is None or e.pool.facts.state != "active" or _target(e.pool.facts) != 0:
        return False
    return not (e.able or e.is_unseen)


def no_target(e: Evidence) -> Finding | None:
    """The pool is to have no nodes, for the reason that its formula fails, if it does."""
    if e.pool is None or not _is_to_be_empty(e):
        return None
    facts = e.pool.facts
    scale = facts.auto_scale
    if scale and scale.error:
        return _formula_failed(e, e.pool_severity)
    return Finding(
        "poolTargetZero",
        e.pool_severity,
        f"The pool '{facts.id}' is to have no nodes",
        "Its targets are 0 dedicated and 0 spot nodes"
        + (", as its autoscale formula says." if scale else ", and it doesn't scale by itself."),
        "See why the formula gives no nodes while tasks wait: $PendingTasks counts them, but for those that wait for "
        "other tasks, and what it knows is some minutes old. A target of 0 stays until the next evaluation."
        if scale
        else "Resize the pool, or let it scale by itself (autoscale).",
        {
            "poolId": facts.id,
            "nodes": facts.nodes,
            "autoScale": scale is not None,
            "evaluatedAt": scale.evaluated_at if scale else None,
            "results": scale.results if scale else None,
        },
        scale.evaluated_at if scale else facts.allocation_state_transition_time,
    )


def resize_failed(e: Evidence) -> Finding | None:
    """The last attempt ended with an error and the pool is smaller than it should be."""
    error = _current(e.pool)
    if e.pool is None or error is None or not e.pool.facts.lacking:
        return None
    means, advice = resize_words(error.code)
    facts = e.pool.facts
    return Finding(
        "resizeFailed",
        e.growth_severity,
        means.rstrip("."),
        f"The last resize of the pool '{facts.id}' {_ended(error)}. It has {_have(facts)}.",
        advice,
        {
            "poolId": facts.id,
            "code": error.code,
            "message": error.message,
            "dedicatedNodes": facts.dedicated.current,
            "targetDedicatedNodes": facts.dedicated.target,
            "spotNodes": facts.spot.current,
            "targetSpotNodes": facts.spot.target,
        },
        error.ended_at,
    )


def resizing(e: Evidence) -> Finding | None:
    """Nodes are on their way; or some are going, and none takes tasks. A pool that is to have none is told as such."""
    if e.pool is None or not e.pool.facts.is_resized or _is_to_be_empty(e):
        return None
    facts = e.pool.facts
    if facts.state != "active" or not (facts.lacking or not (e.able or e.is_unseen)):
        return None
    word = "being resized" if facts.allocation_state == "resizing" else "ending a resize"
    target = _target(facts)
    shrinks = target is not None and not facts.lacking and facts.nodes > target
    finding = Finding(
        "poolResizing",
        e.pool_severity,
        f"The pool '{facts.id}' is {word}",
        f"It has {amount(facts.nodes, 'node')} and is to have {target:,}; none of them takes tasks."
        if shrinks
        else f"It has {_have(facts)}; tasks start when nodes have come and started.",
        "Wait until the nodes that are too many have left, or resize the pool again."
        if shrinks
        else "Wait: nodes mostly take some minutes. A resize that takes much longer ends with an error that says why.",
        {
            "poolId": facts.id,
            "allocationState": facts.allocation_state,
            "nodes": facts.nodes,
            "target": target,
        },
        facts.allocation_state_transition_time,
    )
    failed = _failed_just_before(e.pool)
    return _again(finding, failed, facts) if failed else finding


def _again(finding: Finding, failed: ResizeError, facts: PoolFacts) -> Finding:
    """Of an attempt that follows one that failed, nobody knows whether it will do better."""
    one = failed.attempts == 1
    attempts = "an attempt" if one else f"{failed.attempts:,} attempts"
    which = "the attempt before" if one else f"each of the {attempts} before"
    return replace(
        finding,
        title=f"The pool '{facts.id}' is being resized after {attempts} that failed",
        detail=f"It has {_have(facts)}; {which} {_ended(failed)}.",
        advice=f"It may fail again. {resize_words(failed.code)[1]}",
        evidence={**finding.evidence, "code": failed.code, "message": failed.message, "attempts": failed.attempts},
        since=failed.first_seen,
    )


def _failed_just_before(pool: Pool) -> ResizeError | None:
    """The error of the attempt before the one that goes on, while nodes are lacking still."""
    began = pool.facts.attempt.began
    if began is None or not pool.facts.lacking:
        return None
    return next((error for error in pool.errors if error.retried_at == began), None)


def no_nodes(e: Evidence) -> Finding | None:
    """The pool has none, though it should and nothing is known to go on or to have gone wrong."""
    if e.pool is None or e.pool.facts.nodes or e.states.total() or not _target(e.pool.facts):
        return None
    if e.pool.facts.allocation_state != "steady" or _current(e.pool):
        return None
    facts = e.pool.facts
    return Finding(
        "poolEmpty",
        e.pool_severity,
        f"The pool '{facts.id}' has no nodes",
        f"It has {_have(facts)}, though it isn't being resized and tells no error.",
        "See what its autoscale formula gives." if facts.auto_scale else "Resize the pool again.",
        {"poolId": facts.id, "nodes": 0, "target": _target(facts)},
        facts.allocation_state_transition_time,
    )


def stale_error(e: Evidence) -> Finding | None:
    """An error that isn't told of the last attempt any more explains nothing now; it is told as past."""
    stale = e.pool.errors[0] if e.pool and e.pool.errors else None  # current ones come before
    if e.pool is None or stale is None or stale.is_current or not e.waits:
        return None
    failed = _failed_just_before(e.pool)
    if failed and failed.retried_at == stale.retried_at:  # which is told with the attempt that goes on
        return None
    return Finding(
        "resizeFailedBefore",
        "info",
        "An earlier resize failed",
        f"A resize of the pool '{e.pool.facts.id}' {_ended(stale)}. Batch doesn't tell it "
        "of the last attempt any more.",
        "Nothing is to be done about it now.",
        {"poolId": e.pool.facts.id, "code": stale.code, "message": stale.message, "lastSeen": stale.last_seen},
        stale.ended_at,
    )


def _current(pool: Pool | None) -> ResizeError | None:
    return next((error for error in pool.errors if error.is_current), None) if pool else None


def _ended(error: ResizeError) -> str:
    return f"ended{_with(error)}"


def _with(error: ResizeError | Problem) -> str:
    """The code and the message of an error, as far as the service told any."""
    message = error.message.rstrip(".")
    told = ": ".join(part for part in (error.code, message) if part)
    return f" with {'' if error.code or not told else 'an error: '}{told or 'an error that has no name'}"


def _target(facts: PoolFacts) -> int | None:
    """All nodes that are to be, None where the service doesn't tell."""
    targets = [size.target for size in (facts.dedicated, facts.spot) if size.target is not None]
    return sum(targets) if targets else None


def _have(facts: PoolFacts) -> str:
    kinds = (("dedicated", facts.dedicated), ("spot", facts.spot))
    told = [f"{size.current:,} of {amount(size.target, f'{name} node')}" for name, size in kinds if size.target]
    return " and ".join(told) or amount(facts.nodes, "node")
