"""The job is ready and has nothing to start: no tasks at all, or only completed ones."""

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import ENDING, Evidence, Found


def no_waiting_tasks(e: Evidence) -> Found:
    if e.counts is None or e.waiting_tasks or e.running_tasks or e.deleted or e.job.state in ENDING:
        return None
    if not e.counts.total:
        return e.about_job(
            "noTasks",
            "info",
            title="The job has no tasks",
            sentence="Nothing was added to it yet, or all of it was deleted.",
            advice="Add tasks; those of a job manager or a submitting program come when that runs.",
            evidence={"tasks": 0},
        )
    return e.about_job(
        "allTasksCompleted",
        "info",
        title="All of its tasks have completed",
        sentence=f"{amount(e.counts.completed, 'task')} completed, {e.counts.failed:,} of them failed. The job is "
        f"{e.job.state} and takes more tasks.",
        advice="Terminate it if nothing is to come: a job that isn't over counts against the account's quota of jobs. "
        "With onAllTasksComplete set to terminateJob it ends by itself.",
        evidence={"completed": e.counts.completed, "failed": e.counts.failed},
    )
