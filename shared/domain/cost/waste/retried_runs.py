"""The rule on runs that failed and were retried, which only Batch's event log shows."""

from shared.domain.cost.waste.evidence import HELD, PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours, percent


def retried_runs(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on a pool that spent an hour of nodes or more on runs that were retried."""
    cost, held = pool.cost("retried"), pool.cost(*HELD)
    return e.found(
        "retriedRuns",
        pool.scope,
        cost,
        title="Runs failed and were retried",
        sentence=f"In {e.days_text} runs that failed and were retried held slots worth {hours(cost.time)},"
        f" {percent(cost.time, held.time)} % of what tasks held in the pool.",
        advice="Correct why they fail, or set a lower maxTaskRetryCount, so that a task that can't succeed ends sooner."
        " The tasks of a job with their retries: az batch task list --job-id JOB --select id,executionInfo",
        evidence={"retriedShare": percent(cost.time, held.time)},
    )
