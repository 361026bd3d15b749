"""Compares the API with the truth of a paused emulator."""

from local.prove.stack.api import Stack
from local.prove.stack.pool_truth import pool_differences

FIELDS = ("active", "preparing", "running", "completed", "succeeded", "failed", "total")
"""The counts of a job."""


def compare(stack: Stack) -> list[str]:
    """Returns every difference between the API and the truth, while the emulator is paused."""
    poll = stack.poll_all()
    problems = [] if poll["status"] == "succeeded" else [f"the poll ended as {poll['status']}: {poll['reasons']}"]
    shown, truth = stack.jobs(), stack.truth()
    problems += [f"{job}: not shown" for job in truth.keys() - shown.keys()]
    problems += [f"{job}: shown, but it doesn't exist" for job in shown.keys() - truth.keys()]
    for job in sorted(truth.keys() & shown.keys()):
        counts = shown[job]["taskCounts"] or {}
        problems += [
            f"{job}: {field} is {counts.get(field)}, in truth {truth[job][field]}"
            for field in FIELDS
            if counts.get(field) != truth[job][field]
        ]
    return [*problems, *pool_differences(stack.pools(), stack.true_pools())]
