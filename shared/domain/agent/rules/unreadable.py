"""Something of the node arrived, and nothing of it could be read."""

from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.findings.finding import Finding


def unreadable(e: ReportEvidence) -> Finding | None:
    if not e.blob:
        return None
    advice = "Look at the rejects of the account, and at what writes this blob."
    return e.finding("blobUnreadable", "A blob of the node arrived without any series", e.unread, advice, blob=e.blob)
