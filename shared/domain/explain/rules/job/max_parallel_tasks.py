"""The job runs as many tasks at once as its maxParallelTasks allows."""

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.texts import wait


def max_parallel_tasks(e: Evidence) -> Found:
    most = e.rules.max_parallel_tasks
    if most is None or not e.waiting_tasks or e.running_tasks < most or e.job.state != "active":
        return None
    return e.about_job(
        "maxParallelTasks",
        e.severity,
        title="The job runs as many tasks at once as it may",
        sentence=f"Its maxParallelTasks is {most:,}, and {amount(e.running_tasks, 'task')} of it run or prepare. "
        f"{amount(e.waiting_tasks, 'task')} {wait(e.waiting_tasks)}.",
        advice="Raise the job's maxParallelTasks, or set it to -1 for no bound, if the pool has room for more.",
        evidence={"maxParallelTasks": most, "runningTasks": e.running_tasks, "waitingTasks": e.waiting_tasks},
    )
