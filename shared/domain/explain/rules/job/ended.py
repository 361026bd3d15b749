"""The job has ended, or is ending, for any reason except its time limit."""

from shared.domain.explain.evidence import ENDING, EXPIRED, Evidence, Found
from shared.domain.explain.texts import left

_NO_POOL = "autopoolcreationfailed"
_REASONS = {
    "alltaskscomplete": "all of its tasks had completed",
    "jmcomplete": "its job manager task completed",
    "taskfailed": "a task failed, as its exit conditions ask for",
    "userterminate": "somebody terminated it",
    "terminatejobschedule": "its job schedule was terminated",
    _NO_POOL: "its own pool couldn't be made",
}


def ended(e: Evidence) -> Found:
    if e.deleted or e.job.state not in ENDING or e.terminate_reason == EXPIRED or e.scheduling_error:
        return None
    rule, is_so = ENDING[e.job.state]
    reason = e.job.terminate_reason
    why = _REASONS.get(e.terminate_reason, f"it was ended with the reason '{reason}'" if reason else None)
    advice = (
        "Give the job a pool specification that can be allocated: see the pool's quota, image and network."
        if e.terminate_reason == _NO_POOL
        else "Submit the tasks that are left to a new job: one that has ended takes none up again."
    )
    return e.about_job(
        rule,
        e.lasting_severity,
        title=f"The job {is_so}",
        sentence=f"It {is_so}{f': {why}' if why else ''}.{left(e)}",
        advice=advice if e.waiting_tasks else "Nothing is to be done.",
        evidence={"state": e.job.state, "terminateReason": reason, "waitingTasks": e.waiting_tasks},
        since=e.job.state_transition_time,
    )
