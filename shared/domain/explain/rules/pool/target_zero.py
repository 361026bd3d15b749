"""The pool's target is 0: it has no nodes, or removes them when their tasks are done."""

from shared.domain.explain.autoscale_formula import formula_evidence, formula_sentences
from shared.domain.explain.evidence import Evidence, Found


def target_zero(e: Evidence) -> Found:
    facts = e.facts
    if facts is None or not e.is_to_be_empty:
        return None
    scale = facts.auto_scale
    if scale and scale.error:
        return None
    is_left = " It gives up its nodes when the tasks on them are done, and starts no more." if e.is_emptied else ""
    return e.about_pool(
        "poolTargetZero",
        e.lasting_pool_severity,
        title=f"The pool '{facts.id}' is {'being emptied' if e.is_emptied else 'to have no nodes'}",
        sentence="Its targets are 0 dedicated and 0 spot nodes"
        + (", as its autoscale formula says." if scale else ", and it doesn't scale by itself.")
        + is_left,
        advice="See why the formula gives no nodes while tasks wait: $PendingTasks counts them, but for those that "
        f"wait for other tasks, and what it knows is some minutes old.{formula_sentences(facts)}"
        if scale
        else "Resize the pool, or let it scale by itself (autoscale).",
        evidence={
            "nodes": facts.nodes,
            "autoScale": False,
            "allocationState": facts.allocation_state,
            **formula_evidence(facts),
        },
        since=scale.evaluated_at if scale else facts.allocation_state_transition_time,
    )
