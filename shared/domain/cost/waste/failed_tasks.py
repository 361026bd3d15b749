"""The rule on failed tasks, by job."""

from shlex import quote

from shared.domain.core.amounts import amount
from shared.domain.cost.waste.evidence import FailedJob, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours
from shared.domain.findings.finding import Scope


def failed_tasks(e: WasteEvidence, job: FailedJob) -> Waste | None:
    """Returns the finding on a job whose failed tasks held nodes for an hour or more."""
    known = sorted((job.failures or {}).items(), key=lambda each: -each[1])
    causes = tuple(f"{category}: {number:,}" for category, number in known)
    named = f" Most of its {amount(sum(number for _, number in known), 'failure')} are {known[0][0]}." if known else ""
    return e.found(
        "failedTasks",
        Scope("job", job.job_id),
        job.cost,
        title="Failed tasks took nodes' time",
        sentence=f"In {e.days_text} failed tasks of the job held slots worth {hours(job.cost.time)}.{named}",
        advice="Correct the cause before you submit its tasks again; the job's failures have examples: az batch task"
        f" list --job-id {quote(job.job_id)} --filter \"executionInfo/result eq 'failure'\"",
        evidence={"failures": causes},
    )
