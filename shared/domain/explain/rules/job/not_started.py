"""The service couldn't start the job and completed it, as where its own pool fails."""

from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.texts import left

_ADVICE = (
    "Correct the cause that the message names, and submit the job again: one that has ended takes no tasks up again."
)
_ADVICE_BY_CODE = {
    "autopoolcreationfailedwithquotareached": "Delete pools that nobody needs or ask for a higher quota (the Batch "
    "account's page Quotas), or let the job use a pool that is there; then submit it again.",
    "invalidapplicationpackagereferencesinautopool": "See that the application packages in the job's pool "
    "specification are in the Batch account, with their versions; then submit the job again.",
    "invalidautoscaleformulainautopool": "Correct the autoscale formula in the job's pool specification; then submit "
    "the job again.",
}


def not_started(e: Evidence) -> Found:
    error = e.scheduling_error
    if e.deleted or error is None:
        return None
    message = f": {error.message.rstrip('.')}" if error.message else ""
    return e.about_job(
        "autoPoolFailed" if e.makes_pool else "jobNotStarted",
        e.lasting_severity,
        title="The job's own pool couldn't be made" if e.makes_pool else "Batch couldn't start the job",
        sentence=f"Batch reports {error.code or 'an error that has no name'}{message}, and so the job is {e.job.state}."
        f"{left(e)}",
        advice=_ADVICE_BY_CODE.get(error.code.lower(), _ADVICE),
        evidence={"code": error.code, "message": error.message, "state": e.job.state, "waitingTasks": e.waiting_tasks},
        since=e.job.end_time or e.job.state_transition_time,
    )
