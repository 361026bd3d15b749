"""Batch requeued running tasks of the job for jobs of a higher priority, as it allows preemption."""

from collections import Counter

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.findings.finding import Amount
from shared.domain.findings.thresholds import MAX_EXAMPLES, MAX_SHOWN_JOBS


def preempted_tasks(e: Evidence) -> Found:
    """Returns the finding on requeues within the last hour, if an event shows for one of them who took the slot."""
    requeues = e.requeues or ()
    takers = Counter(each.taken_by for each in requeues if each.taken_by).most_common()
    if not takers or not e.rules.allows_preemption:
        return None
    tasks, number = {each.task for each in requeues}, len(requeues)
    named = ", ".join(f"'{job}' ({amount(times, 'time')})" for job, times in takers[:MAX_SHOWN_JOBS])
    more = f" and {amount(len(takers) - MAX_SHOWN_JOBS, 'more job')}" if len(takers) > MAX_SHOWN_JOBS else ""
    unknown = number - sum(times for _, times in takers)
    rest = f" For {unknown:,} of the requeues no event shows which job took the slot." if unknown else ""
    return e.about_job(
        "tasksPreempted",
        "info",
        title=f"{amount(len(tasks), 'running task')} of the job {'was' if len(tasks) == 1 else 'were'} requeued for "
        "jobs of a higher priority",
        sentence=f"The job allows preemption, and its priority is {e.priority}. Within the last hour Batch requeued "
        f"its running tasks {amount(number, 'time')}. Then tasks of a higher priority started on the same nodes: of "
        f"{named}{more}.{rest}",
        advice="Batch starts these tasks again, from their beginning. To let running tasks end, set the job's "
        "allowTaskPreemption to false, or raise its priority.",
        evidence={
            "requeuedTasks": len(tasks),
            "requeues": number,
            "preemptingJobs": tuple(f"{job}: {times}" for job, times in takers[:MAX_SHOWN_JOBS]),
            "requeuesWithoutJob": unknown,
            "exampleTasks": tuple(f"{each.task} on {each.node}: {each.taken_by}" for each in requeues if each.taken_by)[
                :MAX_EXAMPLES
            ],
        },
        since=min(each.at for each in requeues),
        amount=Amount(len(tasks), "tasks"),
    )
