"""The rule on tasks that use nearly all memory of their slots, or are killed for lack of it."""

from shared.domain.core.amounts import amount
from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.offers import GIB
from shared.domain.efficiency.texts import size_text
from shared.domain.findings.finding import Finding

_AT_LIMIT = "Raise the memory limit of the tasks' containers (--memory in containerRunOptions), or let them use less."


def memory_near_limit(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job where one task in twenty reached 90 % of its slots' memory, or any was killed."""
    memory, offered, kills = e.enough("memory"), e.offer.memory, e.own_kills
    if not e.is_memory_near_limit and kills is None:
        return None
    sentence = f"The kernel killed {amount(kills.tasks, 'task')} for lack of memory." if kills else ""
    evidence: dict[str, float | int | None] = {"killedTasks": kills.tasks if kills else None}
    if memory and offered:
        near = memory.quantile(95)
        seen = f"In 5 % of {memory.count:,} runs the peak was {size_text(near)} or more, of the {size_text(offered)}"
        sentence = f"{seen} that their slots offer. " + (
            sentence or "The kernel kills tasks when a node has no memory left."
        )
        evidence |= {"memoryGiB": round(near / GIB, 2), "offeredMemoryGiB": round(offered / GIB, 2)}
    size = e.larger_size
    return e.found(
        "memoryNearLimit",
        title="Tasks were killed for lack of memory" if kills else "Tasks use nearly all of their memory",
        sentence=sentence,
        advice=_advice(e, size),
        evidence={**evidence, "sufficientSize": size},
    )


def _advice(e: EfficiencyEvidence, size: str | None) -> str:
    """Returns the advice: a higher limit of containers, fewer tasks on a node, or a size with more memory."""
    if e.own_kills and e.own_kills.is_limit:
        return _AT_LIMIT
    fewer, tasks = e.fewer_tasks, e.offer.tasks
    larger = f" A node of {size} has enough memory for as many of these tasks." if size else ""
    if fewer:
        return (
            f"Let a node run at most {fewer} of these tasks instead of {tasks}: raise requiredSlots of the tasks, or"
            f" lower taskSlotsPerNode of a new pool.{larger}"
        )
    alone = "only one of these tasks runs on a node as it is" if tasks == 1 else "a node hasn't enough for one of them"
    return f"Take a VM size with more memory for each vCPU; {alone}.{larger}"
