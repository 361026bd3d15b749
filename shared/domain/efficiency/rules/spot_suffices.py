"""The rule on jobs that pay for dedicated nodes, though spot nodes lose little of their work."""

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.texts import percent_text
from shared.domain.findings.finding import Amount, Finding
from shared.domain.findings.thresholds import MAX_SPOT_INTERRUPTED, MIN_WASTED


def spot_suffices(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job that ran on both kinds of nodes, an hour or more on each, and lost at most 10 %.

    A job that ran on dedicated nodes alone gives no evidence about spot nodes; the account's waste names its pool.
    """
    spot, dedicated = e.context.spot, e.context.dedicated
    if min(spot.held, dedicated.held) < MIN_WASTED or spot.interrupted > MAX_SPOT_INTERRUPTED * spot.held:
        return None
    if dedicated.cost is None or dedicated.otherwise is None or dedicated.otherwise >= dedicated.cost:
        return None
    share = dedicated.held / (dedicated.held + spot.held)
    return e.found(
        "spotSuffices",
        title="Spot nodes would have sufficed",
        sentence=f"{percent_text(share)} of the time of its tasks was on dedicated nodes; on spot nodes"
        f" {percent_text(spot.interrupted / spot.held)} of it gave no result.",
        advice="Give the job a pool with more spot and fewer dedicated nodes.",
        evidence={"interruptedShare": round(100 * spot.interrupted / spot.held)},
        saving=Amount(dedicated.cost - dedicated.otherwise, "money"),
    )
