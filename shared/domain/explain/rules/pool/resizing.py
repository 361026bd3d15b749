"""Nodes are coming, or some leave and none takes tasks."""

from dataclasses import replace

from shared.domain.core.amounts import amount
from shared.domain.explain.autoscale_formula import formula_evidence, formula_sentences
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.pool_size import error_before_resize, larger, nodes_of_targets, target_of
from shared.domain.explain.texts import with_error
from shared.domain.findings.finding import Finding
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.resize_advice import resize_words
from shared.domain.pools.resize_errors import ResizeError


def resizing(e: Evidence) -> Found:
    """Returns the finding on a running resize, and on the failed ones before it; not for a target of 0."""
    facts = e.facts
    if facts is None or not facts.is_resized or target_of(facts) == 0:
        return None
    if facts.state != "active" or not (facts.lacking or not (e.able or e.is_unseen)):
        return None
    word = "being resized" if facts.allocation_state == "resizing" else "ending a resize"
    target = target_of(facts)
    shrinks = target is not None and not facts.lacking and facts.nodes > target
    finding = e.about_pool(
        "poolResizing",
        "info" if e.is_outranked and facts.lacking else e.pool_severity,
        title=f"The pool '{facts.id}' is {word}",
        sentence=f"It has {amount(facts.nodes, 'node')} and is to have {target:,}; none of them takes tasks."
        if shrinks
        else f"It has {nodes_of_targets(facts)}; tasks start when nodes have come and started.",
        advice=f"Wait until the nodes that are too many have left, or {larger(facts)}.{formula_sentences(facts)}"
        if shrinks
        else "Wait: nodes mostly take some minutes. A resize that takes much longer ends with an error that says why.",
        evidence={
            "allocationState": facts.allocation_state,
            "nodes": facts.nodes,
            "target": target,
            **formula_evidence(facts),
        },
        since=facts.allocation_state_transition_time,
    )
    failed = error_before_resize(e.pool)
    return _again(finding, failed, facts) if failed else finding


def _again(finding: Finding, failed: ResizeError, facts: PoolFacts) -> Finding:
    """Returns the finding for an attempt after a failed one, whose outcome is uncertain."""
    one = failed.attempts == 1
    attempts = "an attempt" if one else f"{failed.attempts:,} attempts"
    which = "the attempt before" if one else f"each of the {attempts} before"
    return replace(
        finding,
        title=f"The pool '{facts.id}' is being resized after {attempts} that failed",
        sentence=f"It has {nodes_of_targets(facts)}; {which} ended{with_error(failed)}.",
        advice=f"It may fail again. {resize_words(failed.code, scales=facts.auto_scale is not None)[1]}",
        evidence={**finding.evidence, "code": failed.code, "message": failed.message, "attempts": failed.attempts},
        since=failed.first_seen,
    )
