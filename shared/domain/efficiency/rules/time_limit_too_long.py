"""The rule on time limits of jobs that end nothing in time."""

from datetime import timedelta

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.texts import span_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import LIMIT_HEADROOM, MIN_LIMIT_EXCESS, MIN_LIMIT_RATIO

_ROUNDED = timedelta(minutes=10)


def time_limit_too_long(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a completed job whose maxWallClockTime is ten times the time that it took, or longer."""
    durations, known = e.enough("duration"), e.context.time_limit
    if durations is None or known is None:
        return None
    limit, took = known
    if limit < took * MIN_LIMIT_RATIO or limit - took < MIN_LIMIT_EXCESS:
        return None
    usual, longest = (timedelta(milliseconds=one) for one in (durations.quantile(95), durations.highest.value))
    job, task = _rounded(took * LIMIT_HEADROOM), _rounded(longest * LIMIT_HEADROOM)
    return e.found(
        "timeLimitTooLong",
        title="The job's time limit is far too long",
        sentence=f"The job may take {span_text(limit)}, and took {span_text(took)}; 95 % of {durations.count:,} runs"
        f" ended within {span_text(usual)}, and all within {span_text(longest)}. A task that hangs would hold its slots"
        " until the limit.",
        advice=f"Set maxWallClockTime of the job to {span_text(job)}, and that of its tasks to {span_text(task)}.",
        evidence={
            "maxWallClockTime": limit,
            "jobTime": took,
            "usualRun": usual,
            "longestRun": longest,
            "sufficientLimit": job,
            "sufficientTaskLimit": task,
        },
    )


def _rounded(span: timedelta) -> timedelta:
    """Returns the next whole ten minutes, ten at least."""
    return max(-(-span // _ROUNDED), 1) * _ROUNDED
