"""The rule on time limits of tasks that end nothing in time."""

from datetime import timedelta

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.limits import ends_in_time, sufficient_limit
from shared.domain.efficiency.texts import span_text
from shared.domain.findings.finding import Finding


def task_time_limit_too_long(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on tasks whose maxWallClockTime is ten times the longest run, or longer.

    It says nothing where the job's own limit would end a task that hangs in time, and while tasks of the job are left,
    as those that completed first are its shortest.
    """
    durations, known = e.enough("duration"), e.context.task_limit
    if durations is None or known is None or known.reason or known.limit is None:
        return None
    usual, longest = timedelta(milliseconds=durations.quantile(95)), e.longest_run
    if longest is None or e.context.runs is None or not e.context.runs.are_over:
        return None
    if any(ends_in_time(limit, longest) for limit in (known.limit, known.job) if limit is not None):
        return None
    task = sufficient_limit(longest)
    return e.found(
        "taskTimeLimitTooLong",
        title="The time limit of tasks is far too long",
        sentence=f"A task may run for {span_text(known.limit)}; 95 % of {durations.count:,} runs ended within"
        f" {span_text(usual)}, and all within {span_text(longest)}. A task that hangs would hold its slots until the"
        " limit.",
        advice=f"Set maxWallClockTime of the tasks to {span_text(task)}.",
        evidence={
            "taskTimeLimit": known.limit,
            "exampleTasks": known.tasks,
            "usualRun": usual,
            "longestRun": longest,
            "sufficientTaskLimit": task,
        },
    )
