"""The rule on nodes whose slots share too few cores."""

from shared.domain.core.amounts import amount
from shared.domain.efficiency.evidence import THOUSAND, EfficiencyEvidence
from shared.domain.efficiency.texts import percent_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MIN_ABOVE_OFFER, MIN_SATURATED


def slots_too_many(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job whose slots offer less than a core each, where runs used 93 % of it over their time.

    It is also named where several tasks share a node, and each uses a quarter more cores than its slots offer: where
    all slots are taken, they can't. Where cores aren't busy, slots that share them are no waste: tasks wait for
    something else. Nothing is said where no fewer tasks are advised than a node runs now. Where memory is short, tasks
    are advised that a node has memory for.
    """
    cores, offered, node = e.enough("cores"), e.offer.cores, e.offer.node.cores
    if cores is None or not offered or not node:
        return None
    busy, tasks = cores.mean_over_time / THOUSAND, e.offer.tasks
    is_shared = offered < 1 and busy >= MIN_SATURATED * offered
    if not is_shared and (tasks == 1 or busy < MIN_ABOVE_OFFER * offered):
        return None
    fewer = node if is_shared else max(int(node / busy), 1)
    if e.is_memory_near_limit or e.context.kills:
        fewer = min(fewer, e.fewer_tasks or fewer)
    if fewer >= tasks:
        return None
    slots = fewer * e.offer.required
    return e.found(
        "slotsTooMany",
        title="Tasks share too few cores",
        sentence=f"On average {cores.count:,} runs used {percent_text(busy / offered)} of the {offered:.2f} cores that"
        f" their slots offer: a node has {amount(node, 'core')}, and slots for {amount(tasks, 'such task')}.",
        advice=f"Set taskSlotsPerNode of a new pool to {slots}: a node then runs {amount(fewer, 'such task')} at once,"
        " with the cores that it can use, and fewer tasks hold memory.",
        evidence={
            "cores": round(busy, 2),
            "offeredCores": round(offered, 2),
            "slotsPerNode": e.offer.slots,
            "sufficientSlots": slots,
        },
    )
