"""The rule on nodes that have room for more tasks, though none of their resources is far above need by itself."""

from shared.domain.efficiency.evidence import THOUSAND, EfficiencyEvidence
from shared.domain.efficiency.rules.remedies import remedy_for
from shared.domain.efficiency.texts import number_text, size_text
from shared.domain.findings.finding import Finding


def slots_too_few(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job whose nodes have room for half as many tasks again as their slots let them run."""
    cores, memory, room = e.enough("cores"), e.enough("memory"), e.offer.room
    remedy = remedy_for(e) if e.more_tasks else None
    if cores is None or memory is None or room is None or remedy is None:
        return None
    busy = cores.quantile(95) / THOUSAND
    return e.found(
        "slotsTooFew",
        title="Nodes have room for more tasks",
        sentence=f"95 % of {cores.count:,} runs kept at most {busy:.1f} of {number_text(room.cores)} cores busy on"
        f" average, and none used more than {size_text(memory.highest.value)} of {size_text(room.memory)}.",
        advice=remedy.advice,
        evidence={"cores": round(busy, 2), "offeredCores": room.cores, **remedy.evidence},
        saving=remedy.saving,
    )
