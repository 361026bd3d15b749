"""What replays of a pool's scaling take for granted, in sentences."""

from collections.abc import Sequence
from datetime import timedelta

from shared.domain.core.amounts import amount
from shared.domain.core.stamps import format_stamp
from shared.domain.efficiency.scaling.estimates import Misfit
from shared.domain.efficiency.scaling.plans import SeenPool
from shared.domain.efficiency.scaling.scaling_plans import ScalingPlan, ScalingStep
from shared.services.efficiency.scaling_evidence import PoolEvidence

_SECOND = 1000  # milliseconds
_MINUTE = timedelta(minutes=1)
_SAMPLES = (
    "Samples of tasks follow from the tasks' stamps, and those of nodes from polls; the newest that a formula finds is"
    " 30 seconds old."
)


def scaling_notes(
    evidence: PoolEvidence, plan: ScalingPlan, seen: SeenPool, misfit: Misfit, problem: str | None
) -> Sequence[str]:
    """Returns the assumptions of the replays, the one as it was by `plan`; `misfit` is its own, from what was seen."""
    gap = plan.gap / _SECOND
    found = [
        misfit_note(misfit, has_waits=seen.mean_wait is not None),
        f"{_SAMPLES} {_start_ups(evidence, plan)}",
        f"Tasks run in the order of their creation, as long as they did, {gap:,.1f} s after a slot is free for them.",
        "Batch has as many nodes as are asked for, and interrupts no spot node.",
    ]
    if any(task.ready < plan.since for task in plan.tasks):
        found.append("Tasks that were there at the begin are counted from then on.")
    if plan.falls:
        found.append(removals_note(plan.falls, is_partly_read=evidence.is_partly_read))
    if evidence.has_dependencies:
        found.append("Tasks of jobs with dependencies are ready when they began: how long each waited isn't known.")
    if evidence.changed and evidence.changed > evidence.since:
        found.append(
            f"The formula changed at {format_stamp(evidence.changed)}: until then the replay as it was follows the"
            " recorded targets, and since then targets are compared."
        )
    if problem:
        found.append(f"The pool's own formula isn't replayed, and its targets are followed. {problem}")
    if evidence.unseen:
        found.insert(
            1, f"No poll saw the pool for {evidence.unseen / _MINUTE:,.0f} minutes: nodes stay as before them."
        )
    return found


def misfit_note(misfit: Misfit, *, has_waits: bool) -> str:
    """Returns how far the replay as it was is from what was seen; of waits only where tasks were."""
    text = f"A replay as it was differs by {misfit.nodes:.1%} from the hours of nodes that were seen"
    waits = f", and by {misfit.mean_wait / _SECOND:,.0f} s from the mean wait" if has_waits else ""
    return f"{text}{waits}; the spread includes that."


def removals_note(falls: Sequence[ScalingStep], *, is_partly_read: bool = False) -> str:
    """Returns what happens to runs on nodes that leave by recorded targets."""
    known = sum(step.option is not None for step in falls)
    text = "Where recorded targets fall, runs on nodes that leave"
    if not known:
        rest = "not all events of these times were read" if is_partly_read else "nothing else is recorded"
        return f"{text} are requeued, as by Batch's default: {rest}."
    text = f"{text} go on, end or are requeued, as is recorded"
    if known == len(falls):
        return f"{text}."
    text = f"{text} for {known:,} of {amount(len(falls), 'time')}; else they are requeued, as by Batch's default"
    return f"{text}, as not all events were read." if is_partly_read else f"{text}."


def _start_ups(evidence: PoolEvidence, plan: ScalingPlan) -> str:
    seen = len(evidence.start_ups)
    if not seen:
        return "No start-up of a node was measured in this time, so nodes are ready as soon as a formula asks for them."
    ready = plan.start_ups[0] / _SECOND
    return f"Nodes are ready {ready:,.0f} s after a formula asks for them, the median of {amount(seen, 'start-up')}."
