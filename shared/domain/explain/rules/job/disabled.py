"""The job is disabled, is being disabled, or is being enabled."""

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.texts import wait


def disabled(e: Evidence) -> Found:
    if e.deleted or e.job.state not in {"disabled", "disabling", "enabling"}:
        return None
    if e.job.state == "enabling":
        return e.about_job(
            "jobEnabling",
            e.lasting_severity,
            title="The job is being enabled",
            sentence="Its tasks can start as soon as it is active again.",
            advice="Wait a moment.",
            evidence={"state": e.job.state},
            since=e.job.state_transition_time,
        )
    tasks = e.waiting_tasks
    waiting = f" {amount(tasks, 'task')} {wait(tasks)} until it is enabled." if tasks else ""
    return e.about_job(
        "jobDisabled",
        e.lasting_severity,
        title="The job is disabled" if e.job.state == "disabled" else "The job is being disabled",
        sentence=f"A disabled job starts no tasks.{waiting}",
        advice=f"Enable it when its tasks should run: az batch job enable --job-id {e.job.id}",
        evidence={"state": e.job.state, "waitingTasks": tasks},
        since=e.job.state_transition_time,
    )
