"""The pool has no nodes despite its target, without a known resize or error."""

from shared.domain.explain.autoscale_formula import formula_evidence, formula_sentences
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.pool_size import current_error, nodes_of_targets, target_of


def empty(e: Evidence) -> Found:
    facts = e.facts
    if facts is None or facts.nodes or e.states.total() or not target_of(facts):
        return None
    if facts.allocation_state != "steady" or current_error(e.pool):
        return None
    return e.about_pool(
        "poolEmpty",
        e.pool_severity,
        title=f"The pool '{facts.id}' has no nodes",
        sentence=f"It has {nodes_of_targets(facts)}, though it isn't being resized and reports no error.",
        advice=f"See what its autoscale formula gives.{formula_sentences(facts)}"
        if facts.auto_scale
        else "Resize the pool again.",
        evidence={"nodes": 0, "target": target_of(facts), **formula_evidence(facts)},
        since=facts.allocation_state_transition_time,
    )
