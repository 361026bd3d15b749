"""The rule on nodes that take longer to start than the job's tasks run on them."""

from datetime import timedelta

from shared.domain.core.amounts import amount
from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.texts import percent_text, span_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MAX_START_UP_SHARE, MIN_START_UPS


def start_up_exceeds_work(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job for which nodes spent more time to start than to run its tasks.

    The time of its runs is that of all completed tasks, by the mean of the measured ones.
    """
    durations, found = e.enough("duration"), e.context.start_ups
    if durations is None or found is None or found.nodes < MIN_START_UPS:
        return None
    work = durations.mean * max(e.completed or 0, durations.count) / e.offer.tasks
    share = found.time / (found.time + work) if found.time else 0.0
    if share <= MAX_START_UP_SHARE:
        return None
    return e.found(
        "startUpExceedsWork",
        title="Nodes take longer to start than to run the job",
        sentence=f"{amount(found.nodes, 'node')} began to work while the job ran, after {span_text(found.median)} at"
        f" the median. {percent_text(share)} of the time of nodes for this job was start-up; the rest ran tasks.",
        advice="Let nodes run more of it: fewer nodes for this job, jobs that follow each other on the same pool, or a"
        " pool that shrinks later. The pool's start-ups show which part takes longest.",
        evidence={
            "nodes": found.nodes,
            "startUp": found.median,
            "startUpShare": round(share, 2),
            "workTime": _span(work),
        },
    )


def _span(milliseconds: float) -> timedelta:
    return timedelta(seconds=round(milliseconds / 1000))
