"""The rule on a smaller VM size that suffices, though none of the resources is far above need by itself."""

from shared.domain.efficiency.evidence import THOUSAND, EfficiencyEvidence
from shared.domain.efficiency.rules.remedies import remedy_for
from shared.domain.efficiency.texts import number_text, size_text
from shared.domain.findings.finding import Finding


def other_size(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job whose tasks would fit on nodes of a known VM size with fewer vCPUs.

    It says nothing where memory is short, as fewer cores would make no difference to that.
    """
    cores, memory, room = e.enough("cores"), e.enough("memory"), e.offer.room
    remedy = None if e.is_memory_near_limit else remedy_for(e)
    if cores is None or memory is None or room is None or remedy is None:
        return None
    busy = cores.quantile(95) / THOUSAND
    return e.found(
        "otherSize",
        title="A smaller VM size suffices",
        sentence=f"95 % of {cores.count:,} runs kept at most {busy:.1f} of {number_text(room.cores)} cores busy on"
        f" average, and none used more than {size_text(memory.highest.value)} of {size_text(room.memory)}.",
        advice=remedy.advice,
        evidence={"cores": round(busy, 2), "offeredCores": room.cores, **remedy.evidence},
        saving=remedy.saving,
    )
