"""The last resize ended with an error, and the pool is below its target."""

from shared.domain.explain.autoscale_formula import formula_evidence, formula_sentences
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.pool_size import current_error, nodes_of_targets
from shared.domain.explain.texts import with_error
from shared.domain.findings.finding import Amount
from shared.domain.pools.resize_advice import resize_words
from shared.domain.quotas.core_quotas import core_quota, quota_evidence, quota_sentence


def resize_failed(e: Evidence) -> Found:
    facts, error = e.facts, current_error(e.pool)
    if facts is None or error is None or not facts.lacking:
        return None
    means, advice = resize_words(error.code, scales=facts.auto_scale is not None)
    quota = core_quota(error.code, facts.vm_size, e.quotas)
    return e.about_pool(
        "resizeFailed",
        e.growth_severity,
        title=means.rstrip("."),
        sentence=f"The last resize of the pool '{facts.id}' ended{with_error(error)}. "
        f"It has {nodes_of_targets(facts)}.{quota_sentence(quota)}",
        advice=f"{advice}{formula_sentences(facts)}",
        evidence={
            "code": error.code,
            "message": error.message,
            "dedicatedNodes": facts.dedicated.current,
            "targetDedicatedNodes": facts.dedicated.target,
            "spotNodes": facts.spot.current,
            "targetSpotNodes": facts.spot.target,
            **quota_evidence(quota),
            **formula_evidence(facts),
        },
        since=error.ended_at,
        amount=Amount(facts.lacking, "nodes"),
    )
