"""The node started before the start task named the agent, as far as the nodes that report show."""

from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MIN_START_GAP


def started_before(e: ReportEvidence) -> Finding | None:
    if e.start is None or e.first_start is None or e.first_start - e.start < MIN_START_GAP:
        return None
    return e.finding(
        "startedBeforeAgent",
        "The node started before all nodes that report",
        f"Its start task began at {e.start:%Y-%m-%d %H:%M} UTC, that of the first node that reports at "
        f"{e.first_start:%Y-%m-%d %H:%M} UTC: the start task was probably changed in between.",
        "Reboot or reimage the node: a changed start task reaches only nodes that start again.",
        startTime=e.start,
    )
