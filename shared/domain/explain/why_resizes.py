"""Causes in a pool's resizes: the last one failed, one is running, an earlier one failed.

Where slots are free these findings appear, but not as the cause.
"""

from dataclasses import replace

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import Evidence
from shared.domain.explain.findings import Finding
from shared.domain.explain.pool_growth import formula_evidence, formula_sentences, larger, target_of
from shared.domain.explain.resize_words import current_error, ended_with, have_of
from shared.domain.pools.pools import Pool, PoolFacts
from shared.domain.pools.resize_advice import resize_words
from shared.domain.pools.resize_errors import ResizeError


def resize_failed(e: Evidence) -> Finding | None:
    """Returns the finding that the last attempt ended with an error and the pool is below its target."""
    error = current_error(e.pool)
    if e.pool is None or error is None or not e.pool.facts.lacking:
        return None
    facts = e.pool.facts
    means, advice = resize_words(error.code, scales=facts.auto_scale is not None)
    return Finding(
        "resizeFailed",
        e.growth_severity,
        means.rstrip("."),
        f"The last resize of the pool '{facts.id}' {ended_with(error)}. It has {have_of(facts)}.",
        f"{advice}{formula_sentences(facts)}",
        {
            "poolId": facts.id,
            "code": error.code,
            "message": error.message,
            "dedicatedNodes": facts.dedicated.current,
            "targetDedicatedNodes": facts.dedicated.target,
            "spotNodes": facts.spot.current,
            "targetSpotNodes": facts.spot.target,
            **formula_evidence(facts),
        },
        error.ended_at,
    )


def resizing(e: Evidence) -> Finding | None:
    """Returns the finding that nodes are coming, or that some leave and none takes tasks; not for a target of 0."""
    if e.pool is None or not e.pool.facts.is_resized or target_of(e.pool.facts) == 0:
        return None
    facts = e.pool.facts
    if facts.state != "active" or not (facts.lacking or not (e.able or e.is_unseen)):
        return None
    word = "being resized" if facts.allocation_state == "resizing" else "ending a resize"
    target = target_of(facts)
    shrinks = target is not None and not facts.lacking and facts.nodes > target
    finding = Finding(
        "poolResizing",
        "info" if e.is_outranked and facts.lacking else e.pool_severity,
        f"The pool '{facts.id}' is {word}",
        f"It has {amount(facts.nodes, 'node')} and is to have {target:,}; none of them takes tasks."
        if shrinks
        else f"It has {have_of(facts)}; tasks start when nodes have come and started.",
        f"Wait until the nodes that are too many have left, or {larger(facts)}.{formula_sentences(facts)}"
        if shrinks
        else "Wait: nodes mostly take some minutes. A resize that takes much longer ends with an error that says why.",
        {
            "poolId": facts.id,
            "allocationState": facts.allocation_state,
            "nodes": facts.nodes,
            "target": target,
            **formula_evidence(facts),
        },
        facts.allocation_state_transition_time,
    )
    failed = _failed_just_before(e.pool)
    return _again(finding, failed, facts) if failed else finding


def _again(finding: Finding, failed: ResizeError, facts: PoolFacts) -> Finding:
    """Returns the finding for an attempt after a failed one, whose outcome is uncertain."""
    one = failed.attempts == 1
    attempts = "an attempt" if one else f"{failed.attempts:,} attempts"
    which = "the attempt before" if one else f"each of the {attempts} before"
    return replace(
        finding,
        title=f"The pool '{facts.id}' is being resized after {attempts} that failed",
        detail=f"It has {have_of(facts)}; {which} {ended_with(failed)}.",
        advice=f"It may fail again. {resize_words(failed.code, scales=facts.auto_scale is not None)[1]}",
        evidence={**finding.evidence, "code": failed.code, "message": failed.message, "attempts": failed.attempts},
        since=failed.first_seen,
    )


def _failed_just_before(pool: Pool) -> ResizeError | None:
    """Returns the error of the attempt before the running one, while nodes are missing."""
    began = pool.facts.attempt.began
    if began is None or not pool.facts.lacking:
        return None
    return next((error for error in pool.errors if error.retried_at == began), None)


def stale_error(e: Evidence) -> Finding | None:
    """Returns the finding on a past error that Batch doesn't report of the last attempt; it explains nothing now."""
    stale = e.pool.errors[0] if e.pool and e.pool.errors else None  # current errors come first
    if e.pool is None or stale is None or stale.is_current or not e.waits:
        return None
    failed = _failed_just_before(e.pool)
    if failed and failed.retried_at == stale.retried_at:  # reported with the running attempt
        return None
    return Finding(
        "resizeFailedBefore",
        "info",
        "An earlier resize failed",
        f"A resize of the pool '{e.pool.facts.id}' {ended_with(stale)}. Batch doesn't tell it "
        "of the last attempt any more.",
        "Nothing is to be done about it now.",
        {"poolId": e.pool.facts.id, "code": stale.code, "message": stale.message, "lastSeen": stale.last_seen},
        stale.ended_at,
    )
