"""The rule on tasks that use nearly all memory of their slots."""

from shared.domain.efficiency.evidence import EfficiencyEvidence, size_text
from shared.domain.efficiency.offers import GIB
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MEMORY_NEAR


def memory_near_limit(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job where one task in twenty reached 90 % of its slots' memory."""
    memory, offered = e.enough("memory"), e.offer.memory
    if memory is None or not offered or memory.quantile(95) < MEMORY_NEAR * offered:
        return None
    fewer = e.offer.tasks - 1
    advice = (
        f"Let a node run {fewer} of these tasks instead of {e.offer.tasks}: raise requiredSlots of the tasks, or lower"
        " taskSlotsPerNode of a new pool."
        if fewer
        else "Take a VM size with more memory for each vCPU; only one of these tasks runs on a node as it is."
    )
    return e.found(
        "memoryNearLimit",
        title="Tasks use nearly all of their memory",
        sentence=f"In 5 % of {memory.count:,} runs the peak was {size_text(memory.quantile(95))} or more, of the"
        f" {size_text(offered)} that their slots offer. The kernel kills tasks when a node has no memory left.",
        advice=advice,
        evidence={"memoryGiB": round(memory.quantile(95) / GIB, 2), "offeredMemoryGiB": round(offered / GIB, 2)},
    )
