"""A failing task with unlimited retries takes a slot each time: a hint apart from the cause."""

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import ENDING, Evidence, Found
from shared.domain.findings.finding import Amount


def unlimited_retries(e: Evidence) -> Found:
    found = e.retried
    if found is None or e.deleted or e.job.state in ENDING:
        return None
    others = f" {amount(found.others, 'more task')} of the job failed and run again, too." if found.others else ""
    place = "a slot" if e.facts is None or e.facts.slots_per_node > 1 else "a node"
    return e.about_job(
        "tasksRetriedForEver",
        "info",
        title=f"The task '{found.id}' fails and is tried again without end",
        sentence=f"It has failed {amount(found.retries, 'time')} so far, and its maxTaskRetryCount of -1 sets no "
        f"bound: it takes {place} each time and never completes unless it succeeds.{others}",
        advice="See its stdout.txt and stderr.txt, then terminate it, or give it a bound: "
        f"az batch task reset --job-id {e.job.id} --task-id {found.id} --max-task-retry-count 3",
        evidence={"taskId": found.id, "retries": found.retries, "otherTasks": found.others},
        amount=Amount(1 + found.others, "tasks"),
    )
