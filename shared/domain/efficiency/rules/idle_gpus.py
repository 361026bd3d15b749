"""The rule on GPUs that tasks don't use."""

from shared.domain.efficiency.evidence import THOUSAND, EfficiencyEvidence
from shared.domain.efficiency.texts import number_text, percent_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MAX_IDLE_GPUS


def idle_gpus(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job whose nodes have GPUs, where tasks used at most 5 % of theirs over their time.

    The agent writes figures of GPUs only for runs that held memory of one. Where none did, and nodes that reported
    other figures reported none of GPUs, their driver wasn't asked, so nothing is known.
    """
    offered, runs = e.offer.gpus, e.enough("duration")
    used, nodes = e.group.figures.get("gpus"), e.context.nodes
    if not offered or runs is None or not runs.time or (used is None and nodes and nodes.gpus is None):
        return None
    share = used.used / runs.time / THOUSAND / offered if used else 0.0
    if share > MAX_IDLE_GPUS:
        return None
    size = e.size_without_gpus
    instead = f" A node of {size} has room for as many of these tasks." if size else ""
    held = used.count if used else 0
    return e.found(
        "idleGpus",
        title="Tasks leave their GPUs idle",
        sentence=f"{held:,} of {runs.count:,} runs held memory of a GPU; over the time of all runs they used"
        f" {percent_text(share)} of the {number_text(offered, 'GPU')} that their slots offer.",
        advice=f"Check that the tasks find the GPUs, or take a VM size without them.{instead}",
        evidence={"offeredGpus": offered, "runsWithGpu": held, "usedGpuShare": round(share, 3), "sufficientSize": size},
        saving=e.saved_by_size(size) if size else None,
    )
