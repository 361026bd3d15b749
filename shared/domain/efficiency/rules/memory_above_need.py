"""The rule on slots with far more memory than tasks need."""

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.offers import GIB
from shared.domain.efficiency.rules.remedies import remedy_for
from shared.domain.efficiency.texts import size_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MEMORY_FAR_ABOVE


def memory_above_need(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job where 95 % of the tasks used at most 40 % of their slots' memory.

    It isn't named where neither more slots nor another VM size would help.
    """
    memory, offered = e.enough("memory"), e.offer.memory
    if memory is None or not offered:
        return None
    usual, remedy = memory.quantile(95), remedy_for(e)
    if remedy is None or usual > MEMORY_FAR_ABOVE * offered:
        return None
    return e.found(
        "memoryAboveNeed",
        title=f"Tasks use {round(100 * usual / offered)} % of their memory",
        sentence=f"95 % of {memory.count:,} runs used at most {size_text(usual)}, and all at most"
        f" {size_text(memory.highest.value)}, of the {size_text(offered)} that their slots offer.",
        advice=remedy.advice,
        evidence={"memoryGiB": round(usual / GIB, 2), "offeredMemoryGiB": round(offered / GIB, 2), **remedy.evidence},
        saving=remedy.saving,
    )
