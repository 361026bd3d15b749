"""Tasks of the job fail on some nodes beyond what chance explains: a hint on each node, apart from the cause."""

from shared.domain.contrasts.rules.failing_nodes import stored_node_findings
from shared.domain.explain.evidence import Evidence
from shared.domain.findings.finding import Finding


def failing_nodes(e: Evidence) -> list[Finding]:
    return [] if e.failing_nodes is None or e.deleted else list(stored_node_findings(e.job.id, e.failing_nodes))
