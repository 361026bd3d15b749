"""The node has no machine, or loses it."""

from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.findings.finding import Finding
from shared.domain.nodes.node_causes import cause_of

_STATES = ("deallocated", "deallocating", "leavingpool", "preempted")


def no_machine(e: ReportEvidence) -> Finding | None:
    if e.node.state not in _STATES:
        return None
    sentence = cause_of(e.node) or "The node has no machine."
    return e.finding("nodeWithoutMachine", "The node has no machine", sentence, "Nothing is to be done.")
