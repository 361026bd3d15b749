"""What a job's time on dedicated and on spot nodes shows: that spot nodes lose its work, or would have sufficed."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from shared.domain.efficiency.job_context import NodeKindUse
from shared.domain.efficiency.texts import percent_text
from shared.domain.findings.finding import Value
from shared.domain.findings.thresholds import MAX_SPOT_INTERRUPTED, MIN_SPOT_LOST, MIN_WASTED


class SpotNote(NamedTuple):
    """A rule's conclusion; `saving` is money, None if unknown, on nodes of one kind: `dedicated` or spot ones."""

    rule: str
    title: str
    sentence: str
    advice: str
    evidence: Mapping[str, Value]
    saving: Decimal | None
    dedicated: bool


def spot_note(dedicated: NodeKindUse, spot: NodeKindUse) -> SpotNote | None:
    """Returns the first conclusion that applies."""
    return lost_on_spot(spot) or spot_sufficed(dedicated, spot)


def lost_on_spot(spot: NodeKindUse) -> SpotNote | None:
    """Returns the note on a job whose runs on spot nodes spent 30 % of their time, and an hour, without a result.

    It advises dedicated nodes where the work that gave a result would have cost less on these.
    """
    if spot.interrupted < MIN_WASTED or spot.interrupted < MIN_SPOT_LOST * spot.held:
        return None
    lost = spot.interrupted / spot.held
    saving = None
    if spot.cost is not None and spot.otherwise is not None:
        saving = spot.cost - spot.otherwise * (spot.held - spot.interrupted) / spot.held
    is_cheaper = saving is not None and saving > 0
    instead = (
        "Take dedicated nodes for this job: what gave a result would have cost less on them."
        if is_cheaper
        else "Make its tasks shorter or let them save checkpoints, or take a VM size with more spot capacity."
    )
    return SpotNote(
        rule="spotLosesWork",
        title=f"Spot nodes lost {percent_text(lost)} of the work",
        sentence=f"Runs on spot nodes that ended without a result took {percent_text(lost)} of the time that the job's"
        " tasks held there.",
        advice=instead,
        evidence={"interruptedShare": round(100 * lost)},
        saving=saving if is_cheaper else None,
        dedicated=False,
    )


def spot_sufficed(dedicated: NodeKindUse, spot: NodeKindUse) -> SpotNote | None:
    """Returns the note on a job that ran on both kinds of nodes, an hour or more on each, and lost at most 10 %.

    A job that ran on dedicated nodes alone gives no evidence about spot nodes; the account's waste names its pool.
    """
    if min(spot.held, dedicated.held) < MIN_WASTED or spot.interrupted > MAX_SPOT_INTERRUPTED * spot.held:
        return None
    if dedicated.cost is None or dedicated.otherwise is None or dedicated.otherwise >= dedicated.cost:
        return None
    share, lost = dedicated.held / (dedicated.held + spot.held), spot.interrupted / spot.held
    return SpotNote(
        rule="spotSuffices",
        title="Spot nodes would have sufficed",
        sentence=f"{percent_text(share)} of the time of its tasks was on dedicated nodes; on spot nodes"
        f" {percent_text(lost)} of it gave no result.",
        advice="Give the job a pool with more spot and fewer dedicated nodes.",
        evidence={"interruptedShare": round(100 * lost)},
        saving=dedicated.cost - dedicated.otherwise,
        dedicated=True,
    )
