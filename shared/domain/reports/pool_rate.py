"""The rate at which tasks of all jobs end on a pool, which determines when other tasks get room.

Jobs are polled at different times, and finalized ones never again. So all their windows end at the same time, with the
last minute for which all ends are known, never with a job's own last poll.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.forecasts import WINDOWS
from shared.domain.jobs.jobs import COMPLETED, Job
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.job_statistics import MINUTE, JobStatistics

_ENOUGH = 20
_MAX_LENGTH = max(WINDOWS)
_OLDEST_LOOK = 15  # minutes: an older rate says little about now


@dataclass(frozen=True, slots=True)
class PoolRate:
    """Tasks that ended per minute on a pool, in all, and of each job by its key; jobs without any may be missing."""

    per_minute: float
    of_jobs: Mapping[str, float]


def pool_rate(reports: Sequence[JobReport], now: datetime) -> PoolRate | None:
    """Returns the rate in the shortest window with enough tasks; None where ends of some tasks are unknown.

    `reports` are those of all jobs on the pool. Windows are whole minutes, as ends are stored by minute. All of them
    end with the oldest poll of any job whose tasks may have ended since. The rate is unknown where that poll is more
    than 15 minutes ago, a job was never read, or no whole minute has passed since the first job was created.
    Minutes before its creation don't count. Deleted jobs count as last known.
    """
    looks = [look for report in reports if _may_change(report.job, now) and (look := report.verdict.as_of)]
    end = _minute(min([now, *looks]))
    if _minute(now) - end > _OLDEST_LOOK:
        return None
    counted = [report for report in reports if _may_have_ended_since(report.job, end - _MAX_LENGTH)]
    statistics = [(report.job.key, _job_statistics(report, end)) for report in counted]
    if any(one is None for _, one in statistics):
        return None
    lived = end - min((_minute(report.job.facts.creation_time) for report in counted), default=end - _MAX_LENGTH)
    return _rate([(key, one) for key, one in statistics if one], end, lived) if lived > 0 else None


def _rate(statistics: Sequence[tuple[str, JobStatistics]], end: int, lived: int) -> PoolRate | None:
    rate, completed = None, [(key, one.completed_before(end, WINDOWS)) for key, one in statistics]
    for window in WINDOWS:
        known = [(key, number) for key, of_job in completed if (number := of_job[window]) is not None]
        if len(known) == len(completed):
            minutes, ended = min(window, lived), sum(number for _, number in known)
            rate = PoolRate(round(ended / minutes, 3), {key: number / minutes for key, number in known})
            if ended >= _ENOUGH:
                return rate
    return rate


def _may_change(job: Job, now: datetime) -> bool:
    """Returns whether tasks of the longest window before `now` may have ended since the job was polled."""
    return job.is_live and _may_have_ended_since(job, _minute(now) - _MAX_LENGTH)


def _may_have_ended_since(job: Job, minute: int) -> bool:
    over = job.deleted_at or (job.facts.state_transition_time if job.facts.state == COMPLETED else None)
    return over is None or _minute(over) >= minute


def _job_statistics(report: JobReport, end: int) -> JobStatistics | None:
    """Returns when tasks of a job ended; None where that isn't known up to the minute `end`."""
    job, as_of = report.job, report.verdict.as_of
    stored = job.snapshot.statistics if job.snapshot else None
    if job.is_live and (as_of is None or _minute(as_of) < end):
        return None
    found = stored.unpack() if stored else None
    return JobStatistics() if found is None and job.deleted else found


def _minute(moment: datetime) -> int:
    return to_milliseconds(moment) // MINUTE
