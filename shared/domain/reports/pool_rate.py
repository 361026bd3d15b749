"""How fast tasks end on a pool, whatever job they are of: what room for others comes from.

Jobs are looked at at different moments, and those that are read for good never again. So the windows of all of them end
together, with the minute up to which the ends of all are known, and never with a job's own last look.
"""

from collections.abc import Sequence
from datetime import datetime

from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.jobs import COMPLETED, Job
from shared.domain.jobs.outlook import WINDOWS
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.insight import MINUTE, Insight

_ENOUGH = 20
_LONGEST = max(WINDOWS)
_OLDEST_LOOK = 15  # minutes: what tasks did before that says little of now


def ended_per_minute(reports: Sequence[JobReport], now: datetime) -> float | None:
    """Tasks a minute, of the shortest window that tells enough; None where the end of some tasks isn't known.

    `reports` are those of all jobs on the pool. The windows are whole minutes, as ends are kept by the minute; the last
    one is over as of the oldest look at any job whose tasks may have ended since. Where that is more than a quarter of
    an hour ago, or a job was never read, the rate isn't known. Minutes before the first of the jobs was created don't
    count. Of deleted jobs what was known counts.
    """
    looks = [look for report in reports if _may_change(report.job, now) and (look := report.verdict.as_of)]
    end = _minute(min([now, *looks]))
    if _minute(now) - end > _OLDEST_LOOK:
        return None
    counted = [report for report in reports if _may_have_ended_since(report.job, end - _LONGEST)]
    insights = [_insight(report, end) for report in counted]
    if None in insights:
        return None
    first = min((_minute(report.job.facts.creation_time) for report in counted), default=end)
    return _rate([insight for insight in insights if insight], end, max(1, end - first))


def _rate(insights: Sequence[Insight], end: int, lived: int) -> float | None:
    rate = None
    for window in WINDOWS:
        numbers = [insight.completed_in(end - window, end) for insight in insights]
        told = [number for number in numbers if number is not None]
        if len(told) == len(numbers):
            rate = round(sum(told) / min(window, lived), 3)
            if sum(told) >= _ENOUGH:
                return rate
    return rate


def _may_change(job: Job, now: datetime) -> bool:
    """True where tasks of the longest window before `now` may have ended since the job was looked at."""
    return job.is_live and _may_have_ended_since(job, _minute(now) - _LONGEST)


def _may_have_ended_since(job: Job, minute: int) -> bool:
    over = job.deleted_at or (job.facts.state_transition_time if job.facts.state == COMPLETED else None)
    return over is None or _minute(over) >= minute


def _insight(report: JobReport, end: int) -> Insight | None:
    """When tasks of a job ended; None where that isn't known up to the minute `end`."""
    job, as_of = report.job, report.verdict.as_of
    stored = job.picture.insight if job.picture else None
    if job.is_live and (as_of is None or _minute(as_of) < end):
        return None
    found = stored.unpack() if stored else None
    return Insight() if found is None and job.deleted else found


def _minute(moment: datetime) -> int:
    return to_milliseconds(moment) // MINUTE
