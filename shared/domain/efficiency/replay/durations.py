"""How long runs take on other nodes: an assumption, with the sentence that states it."""

from typing import NamedTuple

from shared.domain.efficiency.offers import SlotOffer
from shared.domain.efficiency.texts import number_text
from shared.domain.findings.thresholds import MIN_SATURATED

CPU_BOUND = 0.8
"""From this share of their slots' vCPUs on, tasks run faster on more of them."""


class Stretch(NamedTuple):
    """How many times as long as seen a run takes, and why."""

    factor: float
    assumption: str


def stretch_of(cores: float | None, was: SlotOffer, will: SlotOffer) -> Stretch:
    """Returns how runs stretch between two offers; `cores` are those busy in a run on average, None if not measured.

    On another VM size, tasks that kept their slots' vCPUs busy take longer or less in proportion to these. So do tasks
    that shared a vCPU with others and get more of it, up to a whole one: whether they can use more isn't known. Else
    runs take longer where they keep more vCPUs busy than their node has.
    """
    before, after = was.node.cores, will.node.cores
    if cores is None:
        return Stretch(1.0, "A run takes as long as it did: its use of CPUs wasn't measured.")
    if not before or not after or not was.cores or not will.cores:
        return Stretch(1.0, "A run takes as long as it did: the vCPUs of its node aren't known.")
    usable = min(will.cores, 1.0) if was.cores < 1 else will.cores
    is_bound = cores >= CPU_BOUND * was.cores and was.node.vm_size != will.node.vm_size
    if is_bound or (cores >= MIN_SATURATED * was.cores and was.cores < usable <= 1):
        factor = was.cores / usable
        text = f"Runs kept {cores:.2g} of their {was.cores:.2g} vCPUs busy, so with {usable:.2g} they take"
        return Stretch(factor, f"{text} {factor:.2f} times as long.")
    needed, had = cores * will.tasks, max(cores * was.tasks / before, 1.0)
    factor = max(needed / after, 1.0) / had
    if factor <= 1:
        text = f"A run takes as long as it did: {will.tasks} on a node keep {needed:.2g} of its {after} vCPUs busy."
        return Stretch(1.0, text)
    text = (
        f"{will.tasks} runs on a node need {needed:.2g} of its {after} vCPUs, so they take {factor:.2f} times as long."
    )
    return Stretch(factor, text)


def lacking_gpus(gpus: float | None, was: SlotOffer, will: SlotOffer) -> str | None:
    """Returns a sentence where runs used GPUs, and the slots of another VM size offer fewer; None elsewhere."""
    if not gpus or was.node.vm_size == will.node.vm_size or will.gpus >= was.gpus:
        return None
    offered = f"{number_text(will.gpus, 'GPU')} to a task" if will.gpus else "none"
    text = f"Runs used GPUs, and {will.node.vm_size} offers {offered}"
    return f"{text}: they may fail or take longer, which no replay shows."


def lacking_memory(peak: float | None, will: SlotOffer) -> str | None:
    """Returns a sentence where the peaks of as many tasks as fit don't fit into a node's memory; None where they do."""
    if peak is None or will.node.memory is None or peak * will.tasks <= will.node.memory:
        return None
    return (
        f"The highest peaks of {will.tasks} tasks together exceed the memory of {will.node.vm_size}: some may run out"
        " of it, which no replay shows."
    )
