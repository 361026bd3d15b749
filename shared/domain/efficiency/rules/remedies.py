"""Advice that several rules give: more task slots per node, another VM size, or another kind of nodes."""

from typing import NamedTuple

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.spot_notes import SpotNote
from shared.domain.findings.finding import Amount, Finding, Value

_SHARES = ("half", "a third", "a quarter")


class Remedy(NamedTuple):
    """Advice, with the money that it saves, None where that isn't known, and its figures."""

    advice: str
    evidence: dict[str, Value]
    saving: Amount | None = None


def remedy_for(e: EfficiencyEvidence) -> Remedy | None:
    """Returns more slots per node where there is room for them, else a smaller VM size by name; None without either."""
    tasks = e.more_tasks
    if tasks:
        slots, each = _slots_for(tasks, e)
        narrower = f", and requiredSlots of the tasks to {each}" if each != e.offer.required else ""
        advice = (
            f"Set taskSlotsPerNode of a new pool to {slots}{narrower}: its nodes have room for {tasks} such tasks"
            f" instead of {e.offer.tasks}, so the same work needs {_share(e.offer.tasks, tasks)} of the nodes."
        )
        return Remedy(advice, {"slotsPerNode": e.offer.slots, "sufficientSlots": slots}, e.saved_by(tasks))
    size = e.sufficient_size
    if size is None:
        return None
    advice = f"A node of {size} has room for as many of these tasks: create the pool anew with this VM size."
    return Remedy(advice, {"slotsPerNode": e.offer.slots, "sufficientSize": size}, e.saved_by_size(size))


def _slots_for(tasks: int, e: EfficiencyEvidence) -> tuple[int, int]:
    """Returns slots of a node for so many tasks, and those of each task: as now, or one where Batch allows no more."""
    slots = tasks * e.offer.required
    return (slots, e.offer.required) if slots <= e.offer.node.most_slots else (tasks, 1)


def found_on_spot(e: EfficiencyEvidence, note: SpotNote) -> Finding:
    """Returns the finding of a note on dedicated and spot nodes."""
    return e.found(
        note.rule,
        title=note.title,
        sentence=note.sentence,
        advice=note.advice,
        evidence=note.evidence,
        saving=Amount(note.saving, "money") if note.saving is not None else None,
    )


def _share(part: int, whole: int) -> str:
    """Returns a share as text, say `a quarter` or `38 %`."""
    ratio = whole // part if whole % part == 0 else 0
    return _SHARES[ratio - 2] if 0 <= ratio - 2 < len(_SHARES) else f"{round(100 * part / whole)} %"
