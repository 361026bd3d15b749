"""The pool's autoscale formula can't be evaluated, so the pool keeps its target.

The finding stands at one of three places: as the cause of a target of 0; before resizes, where the pool has its target
number of working nodes and can't grow; behind them, where causes for the missing nodes come first.
"""

from shared.domain.core.amounts import amount
from shared.domain.explain.autoscale_formula import formula_evidence, formula_sentences
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.pool_size import target_of
from shared.domain.explain.rules.nodes.node_groups import outweigh
from shared.domain.explain.texts import with_error
from shared.domain.findings.finding import Severity


def at_target_zero(e: Evidence) -> Found:
    return _autoscale_failed(e, e.lasting_pool_severity) if e.is_to_be_empty else None


def at_its_target(e: Evidence) -> Found:
    return _autoscale_failed(e, e.growth_severity) if _has_its_nodes(e) and not e.is_to_be_empty else None


def below_its_target(e: Evidence) -> Found:
    if _has_its_nodes(e) or e.is_to_be_empty:
        return None
    return _autoscale_failed(e, "info" if e.pool_severity == "info" else "limiting")


def _autoscale_failed(e: Evidence, severity: Severity) -> Found:
    facts = e.facts
    scale = facts.auto_scale if facts else None
    if facts is None or scale is None or scale.error is None:
        return None
    target = target_of(facts)
    return e.about_pool(
        "autoScaleFailed",
        severity,
        title="The pool's autoscale formula can't be evaluated",
        sentence=f"The last evaluation failed{with_error(scale.error)}. So the pool '{facts.id}' keeps its target"
        f"{'' if target is None else f' of {amount(target, "node")}'}.",
        advice="Correct the formula; Batch evaluates one without enabling it (az batch pool autoscale evaluate)."
        f"{formula_sentences(facts)}",
        evidence={
            "code": scale.error.code,
            "message": scale.error.message,
            "nodes": facts.nodes,
            "target": target,
            **formula_evidence(facts),
        },
        since=scale.evaluated_at,
    )


def _has_its_nodes(e: Evidence) -> bool:
    """Returns whether a steady pool has its target number of nodes, and nodes without tasks don't outweigh the others.

    Batch also counts nodes that it can't use, be they unusable or preempted.
    """
    return not (e.facts is None or e.facts.is_resized or e.facts.lacking or outweigh(e))
