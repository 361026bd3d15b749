"""The node reported before, and no more."""

from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.findings.finding import Finding


def stopped(e: ReportEvidence) -> Finding | None:
    if e.seen is None:
        return None
    return e.finding(
        "agentStopped",
        "The node reported before",
        f"The last report is of {e.seen:%Y-%m-%d %H:%M} UTC. The agent ended since, or storage takes nothing from it.",
        "Run `python3 batchscope-agent.pyz status` on the node and read its log. An expired SAS, a role that was taken "
        "away, or a closed network keep records in the spool, which arrive later.",
    )
