"""The job's time ran out."""

from shared.domain.explain.evidence import EXPIRED, Evidence, Found
from shared.domain.explain.texts import left


def expired(e: Evidence) -> Found:
    """Returns the finding that the job's time ran out, not that the job ended for other reasons."""
    limit, start = e.rules.max_wall_clock_time, e.job.start_time or e.job.creation_time
    is_due = e.job.state == "active" and limit is not None and start + limit <= e.now
    if e.deleted or not (e.terminate_reason == EXPIRED or is_due):
        return None
    bound = f" of {limit}" if limit is not None else ""
    return e.about_job(
        "jobExpired",
        e.lasting_severity,
        title="The job's time has run out",
        sentence=f"It may run no longer than its maxWallClockTime{bound}, and Batch ends it then with all of its tasks."
        + left(e),
        advice="Submit the tasks that are left to a new job with a longer maxWallClockTime, or with none.",
        evidence={"maxWallClockTime": limit, "startTime": start, "waitingTasks": e.waiting_tasks},
        since=e.job.end_time or (start + limit if limit is not None else None),
    )
