"""The rule on time limits of jobs that end nothing in time."""

from datetime import timedelta

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.limits import ends_in_time, sufficient_limit
from shared.domain.efficiency.texts import span_text
from shared.domain.findings.finding import Finding


def time_limit_too_long(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a completed job whose maxWallClockTime is ten times the time that it took, or longer.

    It says nothing where the tasks' own limit ends one that hangs in time.
    """
    durations, known = e.enough("duration"), e.context.time_limit
    if durations is None or known is None:
        return None
    limit, took = known
    usual, measured = (timedelta(milliseconds=one) for one in (durations.quantile(95), durations.highest.value))
    longest = measured if e.longest_run is None else e.longest_run
    own = e.context.task_limit.limit if e.context.task_limit else None
    if ends_in_time(limit, took) or (own is not None and ends_in_time(own, longest)):
        return None
    job, task = sufficient_limit(took), None if e.longest_run is None else sufficient_limit(longest)
    of_tasks = f", and that of its tasks to {span_text(task)}" if task else ""
    return e.found(
        "timeLimitTooLong",
        title="The job's time limit is far too long",
        sentence=f"The job may take {span_text(limit)}, and took {span_text(took)}; 95 % of {durations.count:,} runs"
        f" ended within {span_text(usual)}, and all within {span_text(longest)}. A task that hangs would hold its slots"
        " until the limit.",
        advice=f"Set maxWallClockTime of the job to {span_text(job)}{of_tasks}.",
        evidence={
            "maxWallClockTime": limit,
            "jobTime": took,
            "usualRun": usual,
            "longestRun": longest,
            "sufficientLimit": job,
            "sufficientTaskLimit": task,
        },
    )
