"""The rule on failed tasks, by job."""

from collections.abc import Sequence
from shlex import quote

from shared.domain.core.amounts import amount
from shared.domain.cost.waste.evidence import FailedJob, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours
from shared.domain.findings.finding import Scope


def failed_tasks(e: WasteEvidence, job: FailedJob) -> Waste | None:
    """Returns the finding on a job whose failed tasks held nodes for an hour or more."""
    known = sorted((job.failures or {}).items(), key=lambda each: -each[1])
    causes = tuple(f"{category}: {number:,}" for category, number in known)
    return e.found(
        "failedTasks",
        Scope("job", job.job_id),
        job.cost,
        title="Failed tasks took nodes' time",
        sentence=f"In {e.days_text} failed tasks of the job held slots worth {hours(job.cost.time)}."
        + _commonest(known),
        advice="Correct the cause before you submit its tasks again; the job's failures have examples: az batch task"
        f" list --job-id {quote(job.job_id)} --filter \"executionInfo/result eq 'failure'\"",
        evidence={"failures": causes},
    )


def _commonest(known: Sequence[tuple[str, int]]) -> str:
    """Returns a sentence on the first of categories with their numbers; empty without any."""
    if not known:
        return ""
    category, number = known[0]
    whole = sum(each for _, each in known)
    part = "Most" if 2 * number > whole else f"{number:,}"
    return f" {part} of its {amount(whole, 'failure')} are {category}."
