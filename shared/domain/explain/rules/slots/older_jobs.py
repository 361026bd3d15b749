"""Older jobs of the same priority have waiting tasks that go first, as the pool takes the oldest job first."""

from shared.domain.core.amounts import amount
from shared.domain.explain.autoscale_formula import formula_evidence, formula_sentences
from shared.domain.explain.competing_jobs import named, tasks_of
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.pool_size import larger
from shared.domain.explain.rules.slots import queue_position as queue
from shared.domain.findings.thresholds import MAX_SHOWN_JOBS


def older_jobs(e: Evidence) -> Found:
    facts, older = e.facts, [job for job in e.ahead if job.priority == e.priority]
    if facts is None or not older or not queue.take_all(e, e.ahead):
        return None
    tasks, oldest_first = tasks_of(older), sorted(older, key=lambda job: (job.creation_time, job.id))
    return e.about_pool(
        "olderJobs",
        e.pool_severity,
        title=f"{amount(tasks, 'task')} of {'an older job' if len(older) == 1 else amount(len(older), 'older job')} "
        f"{'goes' if tasks == 1 else 'go'} first",
        sentence=f"The pool '{facts.id}' has the jobDefaultOrder creationtime: of jobs of the same priority the older "
        f"one goes first. This job was created on {e.job.creation_time:%Y-%m-%d at %H:%M:%S} UTC, after "
        f"{named(older)}. {queue.holder_sentence(e, facts.id)}{queue.position_sentence(e)}",
        advice=f"Wait, raise this job's priority, {larger(facts)}, or use another pool.{formula_sentences(facts)}",
        evidence={
            "priority": e.priority,
            "creationTime": e.job.creation_time,
            "jobs": tuple(
                f"{job.id} ({job.creation_time:%Y-%m-%dT%H:%M:%SZ}): {job.contending}"
                for job in oldest_first[:MAX_SHOWN_JOBS]
            ),
            "otherJobs": max(len(older) - MAX_SHOWN_JOBS, 0),
            "freeSlots": e.free,
            **queue.figures(e),
            **formula_evidence(facts),
        },
    )
