"""The rule on nodes that start, and then run little or nothing."""

from datetime import timedelta

from shared.domain.cost.waste.evidence import BUSY, PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours


def starts_without_runs(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on a pool whose nodes took longer to start than they ran tasks."""
    start, run = pool.cost("starting", "startTask"), pool.cost(*BUSY)
    if start.time <= run.time:
        return None
    return e.found(
        "startsWithoutRuns",
        pool.scope,
        start,
        title="Nodes start for longer than they run tasks",
        sentence=f"In {e.days_text} nodes took {hours(start.time)} to start, with their start tasks, and ran tasks for"
        f" {hours(run.time)}.",
        advice="Start nodes less often: let the pool shrink later, submit jobs together, or shorten the start-up, as"
        " with an image that contains what the start task installs. What an autoscale formula did: az batch pool show"
        f" --pool-id {pool.facts.id} --query autoScaleRun",
        evidence={"startTime": timedelta(milliseconds=start.time), "runTime": timedelta(milliseconds=run.time)},
    )
