"""A pool's autoscale formula can't be evaluated, so the pool keeps its target."""

from collections.abc import Iterator

from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import Outcome
from shared.domain.core.amounts import amount
from shared.domain.findings.finding import Finding, Scope

POOL_AUTOSCALE_FAILED = "poolAutoScaleFailed"


def autoscale_failed(e: AccountEvidence) -> Iterator[Outcome]:
    for report in e.pools:
        facts, scale = report.pool.facts, report.pool.facts.auto_scale
        if scale is None or scale.error is None or facts.state != "active":
            continue
        said = ": ".join(part for part in (scale.error.code, scale.error.message.rstrip(".")) if part)
        finding = Finding(
            rule=POOL_AUTOSCALE_FAILED,
            scope=Scope("pool", facts.id),
            severity="limiting" if facts.nodes else "blocking",
            title=f"The pool '{facts.id}' doesn't scale",
            sentence=f"Its formula can't be evaluated ({said}), so it keeps its {amount(facts.nodes, 'node')}.",
            advice="Correct the formula; Batch evaluates one without enabling it (az batch pool autoscale evaluate).",
            evidence={"code": scale.error.code, "message": scale.error.message, "asOf": report.verdict.as_of},
            since=scale.evaluated_at,
        )
        yield Outcome(finding)
