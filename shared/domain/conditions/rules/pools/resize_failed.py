"""A pool's last resize ended with an error, and it still lacks nodes."""

from collections.abc import Iterator

from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import Outcome
from shared.domain.core.amounts import amount
from shared.domain.findings.finding import Amount, Finding, Scope
from shared.domain.pools.resize_advice import resize_words

POOL_RESIZE_FAILED = "poolResizeFailed"


def resize_failed(e: AccountEvidence) -> Iterator[Outcome]:
    for report in e.pools:
        facts, errors = report.pool.facts, report.pool.current_errors
        if not errors or not facts.lacking:
            continue
        error = errors[0]
        means, advice = resize_words(error.code, scales=facts.auto_scale is not None)
        again = f", {error.attempts:,} times in a row" if error.attempts > 1 else ""
        finding = Finding(
            rule=POOL_RESIZE_FAILED,
            scope=Scope("pool", facts.id),
            severity="limiting" if facts.nodes else "blocking",
            title=f"The pool '{facts.id}' lacks {amount(facts.lacking, 'node')}",
            sentence=f"Its resize ended with {error.code or 'an error'}{again}. {means}",
            advice=advice,
            evidence={
                "code": error.code, "message": error.message, "nodes": facts.nodes, "attempts": error.attempts,
                "asOf": report.verdict.as_of,
            },
            since=error.first_seen,
            amount=Amount(facts.lacking, "nodes"),
        )  # fmt: skip
        yield Outcome(finding)
