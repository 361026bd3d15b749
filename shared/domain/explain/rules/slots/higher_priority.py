"""Jobs of a higher priority have waiting tasks that can use all free slots."""

from shared.domain.core.amounts import amount
from shared.domain.explain.autoscale_formula import formula_evidence, formula_sentences
from shared.domain.explain.competing_jobs import named, tasks_of
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.pool_size import larger
from shared.domain.explain.rules.slots import queue_position as queue
from shared.domain.explain.texts import wait
from shared.domain.findings.thresholds import MAX_SHOWN_JOBS


def higher_priority(e: Evidence) -> Found:
    facts, ahead = e.facts, [job for job in e.ahead if job.priority > e.priority]
    if facts is None or not queue.take_all(e, ahead):
        return None
    tasks, most, one = tasks_of(ahead), max(job.priority for job in ahead), len(ahead) == 1
    most_first = sorted(ahead, key=lambda job: (-job.contending_slots, job.id))
    return e.about_pool(
        "higherPriorityJobs",
        e.pool_severity,
        title=f"{amount(tasks, 'task')} of {'a job' if one else amount(len(ahead), 'job')} of higher priority "
        f"{'goes' if tasks == 1 else 'go'} first",
        sentence=f"{amount(tasks, 'task')} of {amount(len(ahead), 'job')} with a priority of up to {most} "
        f"{wait(tasks)} for the same pool: {named(ahead)}; this job has {e.priority}. "
        f"{queue.holder_sentence(e, facts.id)}{queue.position_sentence(e)}",
        advice=f"Raise this job's priority, lower that of the others, {larger(facts)}, or use another pool."
        f"{formula_sentences(facts)}",
        evidence={
            "priority": e.priority,
            "highestPriority": most,
            "jobs": tuple(f"{job.id} ({job.priority}): {job.contending}" for job in most_first[:MAX_SHOWN_JOBS]),
            "otherJobs": max(len(ahead) - MAX_SHOWN_JOBS, 0),
            "freeSlots": e.free,
            **queue.figures(e),
            **formula_evidence(facts),
        },
    )
