"""The pool's start task doesn't start the agent."""

from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.findings.finding import Finding


def without_agent(e: ReportEvidence) -> Finding | None:
    if e.starts_agent:
        return None
    return e.finding(
        "startTaskWithoutAgent",
        "The pool's start task doesn't start the agent",
        "The start task doesn't name the agent's file, and nothing else on the node reports.",
        "Take the start task that is offered for the pool. It reaches only nodes that start again.",
    )
