"""Batch can't reach the node either."""

from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.findings.finding import Finding
from shared.domain.nodes.node_causes import cause_of

_STATES = ("unknown", "unusable")


def out_of_reach(e: ReportEvidence) -> Finding | None:
    if e.node.state not in _STATES:
        return None
    sentence = cause_of(e.node) or "Batch can't use the node."
    advice = "Reboot or reimage the node. Records in its spool arrive once its agent runs again."
    return e.finding("nodeOutOfReach", "Batch can't use the node either", sentence, advice)
