"""The rule on jobs that pay for dedicated nodes, though spot nodes lose little of their work."""

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.rules.remedies import found_on_spot
from shared.domain.efficiency.spot_notes import spot_sufficed
from shared.domain.findings.finding import Finding


def spot_suffices(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job that ran on both kinds of nodes, an hour or more on each, and lost at most 10 %."""
    note = spot_sufficed(e.context.dedicated, e.context.spot)
    return found_on_spot(e, note) if note else None
