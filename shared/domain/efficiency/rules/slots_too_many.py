"""The rule on nodes whose slots share too few cores."""

from shared.domain.efficiency.evidence import THOUSAND, EfficiencyEvidence
from shared.domain.efficiency.texts import percent_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MIN_SATURATED


def slots_too_many(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job whose slots offer less than a core each, where runs used 93 % of it on average.

    Where cores aren't busy, slots that share them are no waste: tasks wait for something else.
    """
    cores, offered, node = e.enough("cores"), e.offer.cores, e.offer.node.cores
    if cores is None or not offered or not node or offered >= 1:
        return None
    busy = cores.mean / THOUSAND
    if busy < MIN_SATURATED * offered:
        return None
    slots = node * e.offer.required
    return e.found(
        "slotsTooMany",
        title="Tasks share too few cores",
        sentence=f"On average {cores.count:,} runs used {percent_text(busy / offered)} of the {offered:.2f} cores that"
        f" their slots offer: {e.offer.tasks} tasks run at once on {node} cores.",
        advice=f"Set taskSlotsPerNode of a new pool to {slots}: each task gets a core and ends sooner, and fewer"
        " hold memory at once.",
        evidence={
            "cores": round(busy, 2),
            "offeredCores": round(offered, 2),
            "slotsPerNode": e.offer.slots,
            "sufficientSlots": slots,
        },
    )
