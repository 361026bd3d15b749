"""The rule on start tasks that fail again and again."""

from shared.domain.cost.waste.evidence import PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours
from shared.domain.findings.thresholds import MIN_FAILING_HOURS


def failing_start_task(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on a pool that had nodes with a failed start task in at least three hours."""
    cost = pool.cost("startTaskFailed")
    if pool.failing_hours < MIN_FAILING_HOURS:
        return None
    return e.found(
        "failingStartTask",
        pool.scope,
        cost,
        title=f"The start task had failed in {pool.failing_hours} hours",
        sentence=f"In {pool.failing_hours} hours of {e.days_text} nodes stood there with a failed start task, which get"
        f" no tasks and cost as others do: {hours(cost.time)}.",
        advice="Read what the start task printed, correct it, then reboot or remove these nodes: az batch node file"
        f" download --pool-id {pool.facts.id} --node-id NODE --file-path startup/stderr.txt --destination stderr.txt",
        evidence={"failingHours": pool.failing_hours},
    )
