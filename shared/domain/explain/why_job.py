"""Causes in the job itself: its state, its time limit, its task limit, its tasks' requirements.

Each rule is a function of the evidence that returns a finding, or None where it doesn't apply.
"""

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import ENDING, Evidence
from shared.domain.explain.findings import Finding
from shared.domain.jobs.jobs import COMPLETED

_EXPIRED = "maxwallclocktimeexpiry"
_NO_POOL = "autopoolcreationfailed"
_ENDED = {
    "alltaskscomplete": "all of its tasks had completed",
    "jmcomplete": "its job manager task completed",
    "taskfailed": "a task failed, as its exit conditions ask for",
    "userterminate": "somebody terminated it",
    "terminatejobschedule": "its job schedule was terminated",
    _NO_POOL: "its own pool couldn't be made",
}
_START_OTHERWISE = (
    "Correct what the message tells, and submit the job again: one that has ended takes no tasks up again."
)
_START_ADVICE = {
    "autopoolcreationfailedwithquotareached": "Delete pools that nobody needs or ask for a higher quota (the Batch "
    "account's page Quotas), or let the job use a pool that is there; then submit it again.",
    "invalidapplicationpackagereferencesinautopool": "See that the application packages in the job's pool "
    "specification are in the Batch account, with their versions; then submit the job again.",
    "invalidautoscaleformulainautopool": "Correct the autoscale formula in the job's pool specification; then submit "
    "the job again.",
}


def deleted(e: Evidence) -> Finding | None:
    if not e.deleted:
        return None
    return Finding(
        "jobDeleted",
        e.lasting_severity,
        "The job was deleted",
        "Batch has no such job any more; what is told of it is what was known last.",
        "Create the job again if its tasks should run.",
    )


def expired(e: Evidence) -> Finding | None:
    """Returns the finding that the job's time ran out, not that the job ended for other reasons."""
    limit, start = e.rules.max_wall_clock_time, e.job.start_time or e.job.creation_time
    was_ended = (e.job.terminate_reason or "").lower() == _EXPIRED
    is_due = e.job.state == "active" and limit is not None and start + limit <= e.now
    if e.deleted or not (was_ended or is_due):
        return None
    bound = f" of {limit}" if limit is not None else ""
    return Finding(
        "jobExpired",
        e.lasting_severity,
        "The job's time has run out",
        f"It may run no longer than its maxWallClockTime{bound}, and Batch ends it then with all of its tasks."
        + _left(e),
        "Submit the tasks that are left to a new job with a longer maxWallClockTime, or with none.",
        {"maxWallClockTime": limit, "startTime": start, "waitingTasks": e.waits},
        e.job.end_time or (start + limit if limit is not None else None),
    )


def over(e: Evidence) -> Finding | None:
    """Returns the finding that the job has ended, or is ending, for any reason except its time limit."""
    if e.deleted or e.job.state not in ENDING:
        return None
    reason = e.job.terminate_reason
    if (reason or "").lower() == _EXPIRED or e.scheduling_error:
        return None
    why = _ENDED.get((reason or "").lower(), f"it was ended with the reason '{reason}'" if reason else None)
    code, is_so = _over_words(e.job.state)
    advice = (
        "Give the job a pool specification that can be allocated: see the pool's quota, image and network."
        if (reason or "").lower() == _NO_POOL
        else "Submit the tasks that are left to a new job: one that has ended takes none up again."
    )
    return Finding(
        code,
        e.lasting_severity,
        f"The job {is_so}",
        f"It {is_so}{f': {why}' if why else ''}.{_left(e)}",
        advice if e.waits else "Nothing is to be done.",
        {"state": e.job.state, "terminateReason": reason, "waitingTasks": e.waits},
        e.job.state_transition_time,
    )


def not_started(e: Evidence) -> Finding | None:
    """Returns the finding that the service couldn't start the job and completed it, as where its own pool fails."""
    error = e.scheduling_error
    if e.deleted or error is None:
        return None
    message = f": {error.message.rstrip('.')}" if error.message else ""
    return Finding(
        "autoPoolFailed" if e.makes_pool else "jobNotStarted",
        e.lasting_severity,
        "The job's own pool couldn't be made" if e.makes_pool else "Batch couldn't start the job",
        f"Batch tells {error.code or 'an error that has no name'}{message}, and so the job is {e.job.state}.{_left(e)}",
        _START_ADVICE.get(error.code.lower(), _START_OTHERWISE),
        {"code": error.code, "message": error.message, "state": e.job.state, "waitingTasks": e.waits},
        e.job.end_time or e.job.state_transition_time,
    )


def _over_words(state: str) -> tuple[str, str]:
    if state == COMPLETED:
        return "jobCompleted", "has completed"
    return ("jobDeleting", "is being deleted") if state == "deleting" else ("jobTerminating", "is being terminated")


def disabled(e: Evidence) -> Finding | None:
    if e.deleted or e.job.state not in {"disabled", "disabling", "enabling"}:
        return None
    if e.job.state == "enabling":
        return Finding(
            "jobEnabling",
            e.lasting_severity,
            "The job is being enabled",
            "Its tasks can start as soon as it is active again.",
            "Wait a moment.",
            {"state": e.job.state},
            e.job.state_transition_time,
        )
    return Finding(
        "jobDisabled",
        e.lasting_severity,
        "The job is disabled" if e.job.state == "disabled" else "The job is being disabled",
        "A disabled job starts no tasks." + (f" {_waiting(e)} until it is enabled." if e.waits else ""),
        f"Enable it when its tasks should run: az batch job enable --job-id {e.job.id}",
        {"state": e.job.state, "waitingTasks": e.waits},
        e.job.state_transition_time,
    )


def parallel_bound(e: Evidence) -> Finding | None:
    most = e.rules.max_parallel_tasks
    if most is None or not e.waits or e.runs < most or e.job.state != "active":
        return None
    return Finding(
        "maxParallelTasks",
        e.severity,
        "The job runs as many tasks at once as it may",
        f"Its maxParallelTasks is {most:,}, and {amount(e.runs, 'task')} of it run or prepare. {_waiting(e)}.",
        "Raise the job's maxParallelTasks, or set it to -1 for no bound, if the pool has room for more.",
        {"maxParallelTasks": most, "runningTasks": e.runs, "waitingTasks": e.waits},
    )


def all_too_large(e: Evidence) -> Finding | None:
    """Returns the finding that no waiting task that was read fits on a node: more nodes or room wouldn't help."""
    return _too_large(e) if e.waiting and e.pool and e.waiting.least_slots > e.pool.facts.slots_per_node else None


def some_too_large(e: Evidence) -> Finding | None:
    """Returns the finding that only some tasks fit; causes for these come first."""
    return _too_large(e) if e.waiting and e.pool and e.waiting.least_slots <= e.pool.facts.slots_per_node else None


def _too_large(e: Evidence) -> Finding | None:
    """Returns the finding that tasks require more slots than a node has, so that they wait forever."""
    if e.waiting is None or e.pool is None or e.waiting.most_slots <= e.pool.facts.slots_per_node:
        return None
    has = e.pool.facts.slots_per_node
    is_all = e.waiting.least_slots > has and e.waiting.looked >= e.waits
    title = "Its tasks require" if is_all else "Some of its tasks require"
    return Finding(
        "taskNeedsMoreSlots",
        e.lasting_pool_severity if is_all else "limiting",
        f"{title} more slots than a node has",
        f"A waiting task requires {e.waiting.most_slots:,} slots; nodes of the pool '{e.pool.facts.id}' have {has:,}, "
        "so it fits nowhere.",
        "Move the job to a pool with more taskSlotsPerNode, or submit tasks that require fewer slots.",
        {"requiredSlots": e.waiting.most_slots, "slotsPerNode": has, "lookedAt": e.waiting.looked},
    )


def _waiting(e: Evidence) -> str:
    return f"{amount(e.waits, 'task')} {'waits' if e.waits == 1 else 'wait'}"


def _left(e: Evidence) -> str:
    if not e.waits:
        return ""
    return f" {amount(e.waits, 'waiting task')} {'stays as it is' if e.waits == 1 else 'stay as they are'}."


def nothing_waits(e: Evidence) -> Finding | None:
    """Returns the finding that the job is ready and has nothing to start."""
    if e.counts is None or e.waits or e.runs or e.deleted or e.job.state in ENDING:
        return None
    if not e.counts.total:
        return Finding(
            "noTasks",
            "info",
            "The job has no tasks",
            "Nothing was added to it yet, or all of it was deleted.",
            "Add tasks; those of a job manager or a submitting program come when that runs.",
            {"tasks": 0},
        )
    return Finding(
        "allTasksCompleted",
        "info",
        "All of its tasks have completed",
        f"{amount(e.counts.completed, 'task')} completed, {e.counts.failed:,} of them failed. The job is "
        f"{e.job.state} and takes more tasks.",
        "Terminate it if nothing is to come: a job that isn't over counts against the account's quota of jobs. With "
        "onAllTasksComplete set to terminateJob it ends by itself.",
        {"completed": e.counts.completed, "failed": e.counts.failed},
    )


def retried(e: Evidence) -> Finding | None:
    """Returns a separate hint: a failing task with unlimited retries takes a slot each time."""
    found = e.retried
    if found is None or e.deleted or e.job.state in ENDING:
        return None
    others = f" {amount(found.others, 'more task')} of the job failed and run again, too." if found.others else ""
    place = "a slot" if e.pool is None or e.pool.facts.slots_per_node > 1 else "a node"
    return Finding(
        "tasksRetriedForEver",
        "info",
        f"The task '{found.id}' fails and is tried again without end",
        f"It has failed {amount(found.retries, 'time')} so far, and its maxTaskRetryCount of -1 sets no bound: "
        f"it takes {place} each time and never completes unless it succeeds.{others}",
        "See its stdout.txt and stderr.txt, then terminate it, or give it a bound: "
        f"az batch task reset --job-id {e.job.id} --task-id {found.id} --max-task-retry-count 3",
        {"taskId": found.id, "retries": found.retries, "otherTasks": found.others},
    )
