"""Forecasts from a job's statistics as of a moment: throughput, and the time of completion where it can be estimated.

An estimate extrapolates the last minutes. Where they allow none, it gives a reason instead of a date.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from shared.domain.core.amounts import amount
from shared.domain.jobs.jobs import COMPLETED, Job
from shared.domain.jobs.verdicts import Verdict
from shared.domain.tasks.job_statistics import JobStatistics
from shared.domain.tasks.tasks import TaskCounts

WINDOWS = {5: "the last 5 minutes", 15: "the last 15 minutes", 60: "the last hour"}
_ENOUGH = 20  # completions that make a short window better than a longer one
_FAR = timedelta(days=3650)
_NONE = "None of its tasks completed in the last hour."
_YOUNG = "Its tasks completed within the last minute only."
_UNKNOWN = "Not all completions of the last hour are known."
_STANDING = {
    COMPLETED: "The job has completed; its remaining tasks won't run.",
    "disabled": "The job is disabled: its tasks wait until it is enabled again.",
    "disabling": "The job is being disabled: its tasks will wait until it is enabled again.",
    "terminating": "The job is being terminated.",
    "deleting": "The job is being deleted.",
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """When a job's `remaining` tasks will have completed and the basis of that, or the reason why it is unknown."""

    remaining: int
    completion: datetime | None = None
    basis: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class JobForecast:
    """A job's throughput and estimate. `completed` are the tasks that ended in each of WINDOWS before `as_of`.

    Windows are in whole minutes and exclude the current one. A number is None where some of its minutes are unknown.
    `per_minute` are tasks a minute in each window; minutes before the job's creation don't count.
    """

    as_of: datetime
    statistics: JobStatistics
    completed: dict[int, int | None]
    per_minute: dict[int, float | None]
    estimate: Estimate


def forecast_of(job: Job, verdict: Verdict, *, tasks_ahead: int | None = None) -> JobForecast | None:
    """Returns the forecast for a job as of its verdict, None where it has no statistics.

    `tasks_ahead` is the number of waiting tasks of jobs that go first on its pool. None (not counted) counts as 0.
    """
    snapshot, as_of = job.snapshot, verdict.as_of
    statistics = snapshot.statistics.unpack() if snapshot and snapshot.statistics else None
    if snapshot is None or as_of is None or statistics is None:
        return None
    end, minutes = _minute(as_of), {minute for minute, _ in statistics.completions}
    completed = statistics.completed_before(end, WINDOWS)
    lived = max(1, end - _minute(job.facts.creation_time))
    per_minute = {
        window: None if number is None else number / min(window, lived) for window, number in completed.items()
    }
    lately = (end in minutes, end - 1 in minutes)
    estimate = _estimate(job, verdict, completed, as_of, lived=lived, lately=lately)
    if estimate.completion and (reason := _overtaken(snapshot.counts, tasks_ahead or 0)):
        estimate = Estimate(estimate.remaining, reason=reason)
    return JobForecast(as_of, statistics, completed, per_minute, estimate)


def _estimate(
    job: Job,
    verdict: Verdict,
    completed: dict[int, int | None],
    as_of: datetime,
    *,
    lived: int,
    lately: tuple[bool, bool],
) -> Estimate:
    """Returns the estimate, or the reason for none.

    `lived` is the number of minutes since the job's creation, including the minute of creation; at least 1. `lately`:
    whether tasks completed in the current minute, which is in no window, and in the one before it.
    """
    counts = job.snapshot.counts if job.snapshot else None
    remaining = counts.total - counts.completed if counts else 0
    reason = _standstill(job, verdict, remaining, went_on=any(lately))
    if reason:
        return Estimate(remaining, reason=reason)
    window, number = _basis(completed)
    if not number:
        return Estimate(remaining, reason=_UNKNOWN if number is None else _YOUNG if lately[0] else _NONE)
    basis = WINDOWS[window] if window <= lived else "the minutes since its creation"
    seconds = ceil(remaining * min(window, lived) * 60 / number)
    if seconds > _FAR.total_seconds():
        return Estimate(remaining, reason=f"As {basis} went, it would take more than ten years.")
    return Estimate(remaining, as_of + timedelta(seconds=seconds), f"throughput of {basis}")


def _standstill(job: Job, verdict: Verdict, remaining: int, *, went_on: bool) -> str | None:
    """Returns the reason why the last minutes predict nothing, as a sentence; None where they do.

    `went_on`: tasks completed within two minutes, so a moment without running tasks may be a short gap.
    """
    counts = job.snapshot.counts if job.snapshot else None
    if job.deleted:
        return "The job was deleted."
    if counts is None or not remaining:
        return "All of its tasks have completed." if counts and counts.total else "The job has no tasks."
    if job.facts.state in _STANDING:
        return _STANDING[job.facts.state]
    if verdict.level in {"stale", "catchingUp"}:
        return f"Its counts are not up to date. {verdict.reason}"
    return _blocked(job, counts, went_on=went_on)


def _blocked(job: Job, counts: TaskCounts, *, went_on: bool) -> str | None:
    """Returns the reason, as far as the job itself shows it, why its tasks may not continue as before, or None."""
    depends = job.facts.rules.uses_task_dependencies
    if not counts.running + counts.preparing and (depends or not went_on):
        return "None of its tasks is running; the explanation of the job says why."
    if depends and counts.failed and counts.active:
        return "Some of its tasks failed, and those that wait may depend on them for good."
    return None


def _overtaken(counts: TaskCounts, ahead: int) -> str | None:
    """Returns the reason why a date would be wrong, or None.

    It would be where at least as many tasks as the job has left are ahead of its waiting ones.
    """
    if not counts.active or ahead < counts.total - counts.completed:
        return None
    return f"{amount(ahead, 'task')} of jobs that go first {'waits' if ahead == 1 else 'wait'} for the same pool."


def _basis(completed: dict[int, int | None]) -> tuple[int, int | None]:
    """Returns the shortest window that has enough completions, else the longest."""
    return next(
        ((window, number) for window, number in completed.items() if (number or 0) >= _ENOUGH), (60, completed[60])
    )


def _minute(moment: datetime) -> int:
    """Returns the minutes since 1970."""
    return int(moment.timestamp() // 60)
