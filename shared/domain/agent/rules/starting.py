"""The node is still starting, and its agent begins with the start task."""

from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.findings.finding import Finding
from shared.domain.nodes.node_causes import cause_of

_STATES = ("creating", "rebooting", "reimaging", "starting", "upgradingos", "waitingforstarttask")


def starting(e: ReportEvidence) -> Finding | None:
    if e.node.state not in _STATES or (e.node.start and e.node.start.has_failed):
        return None
    sentence = cause_of(e.node) or "The node is starting."
    advice = "Wait: the agent starts with the start task, and its first report follows within three minutes."
    return e.finding("nodeStarting", "The node is still starting", sentence, advice)
