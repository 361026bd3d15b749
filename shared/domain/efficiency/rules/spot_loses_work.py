"""The rule on jobs that lose much of their work on spot nodes."""

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.rules.remedies import found_on_spot
from shared.domain.efficiency.spot_notes import lost_on_spot
from shared.domain.findings.finding import Finding


def spot_loses_work(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job whose runs on spot nodes spent 30 % of their time, and an hour, without a result."""
    note = lost_on_spot(e.context.spot)
    return found_on_spot(e, note) if note else None
