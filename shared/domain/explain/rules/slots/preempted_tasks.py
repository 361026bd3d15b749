"""Batch requeued running tasks of the job for jobs of a higher priority, as it allows preemption."""

from collections import Counter

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.findings.finding import Amount
from shared.domain.findings.thresholds import MAX_EXAMPLES, MAX_SHOWN_JOBS


def preempted_tasks(e: Evidence) -> Found:
    """Returns the finding on requeues within the last hour, if an event shows for one of them who took the slot."""
    requeues = e.requeues or ()
    preemptions = [each for each in requeues if each.taken_by]
    takers = Counter(each.taken_by for each in preemptions).most_common()
    if not takers or not e.rules.allows_preemption:
        return None
    tasks, number = {each.task for each in preemptions}, len(preemptions)
    named = ", ".join(f"'{job}' ({amount(times, 'time')})" for job, times in takers[:MAX_SHOWN_JOBS])
    more = f" and {amount(len(takers) - MAX_SHOWN_JOBS, 'more job')}" if len(takers) > MAX_SHOWN_JOBS else ""
    others = len(requeues) - number
    rest = f" The cause of {amount(others, 'more requeue')} isn't known: no event shows a job that took the slot."
    return e.about_job(
        "tasksPreempted",
        "info",
        title=f"{amount(len(tasks), 'running task')} of the job {'was' if len(tasks) == 1 else 'were'} requeued for "
        "jobs of a higher priority",
        sentence=f"The job allows preemption, and its priority is {e.priority}. Within the last hour Batch requeued "
        f"its running tasks {amount(number, 'time')} as tasks of a higher priority started on the same nodes: of "
        f"{named}{more}.{rest if others else ''}",
        advice="Batch starts these tasks again, from their beginning. To let running tasks end, set the job's "
        "allowTaskPreemption to false, or raise its priority.",
        evidence={
            "preemptedTasks": len(tasks),
            "requeuedTasks": len({each.task for each in requeues}),
            "requeues": len(requeues),
            "preemptingJobs": tuple(f"{job}: {times}" for job, times in takers[:MAX_SHOWN_JOBS]),
            "requeuesWithoutJob": others,
            "exampleTasks": tuple(
                f"{each.task} on {each.node}: {each.taken_by}" for each in preemptions[:MAX_EXAMPLES]
            ),
        },
        since=min(each.at for each in preemptions),
        amount=Amount(len(tasks), "tasks"),
    )
