"""The number of missed runs of a job schedule: jobs that fell due and were never created.

Source: the reference of `recurrenceInterval` and `startWindow`. A job falls due every interval. It is created
immediately, or when the previous one has ended within the start window. Otherwise the run is lost, as is one that still
waits when the next falls due.

Jobs are numbered in order of creation. So missed runs are the runs due less the jobs created, between two moments with
no change of the schedule between them. Where the numbers are inconsistent, no result is given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.jobs.jobs import COMPLETED
from shared.domain.schedules.schedules import Baseline, LastCount, Schedule, duration_of

_UNEVEN = timedelta(seconds=1)  # tolerance for the service's times as multiples of the interval
_SINCE_START = "Counted since its first run fell due."
_SINCE_SEEN = "Counted since it was first seen, or was last changed or enabled; earlier runs are unknown."
_NOT_BEGUN = "It hasn't begun: its first run is yet to fall due."
_NONE_DUE = "No run fell due since it was first seen, or was last changed or enabled; earlier runs are unknown."
_NOT_SEEN = "It was over, or disabled, when it was first seen."
_UNNUMBERED = "The id of its recent job has no number."
_ODD_INTERVAL = "Its recurrence interval isn't one of days, hours, minutes and seconds."
_ODD_WINDOW = "Its start window isn't one of days, hours, minutes and seconds."
_UNEVEN_RUNS = "Its next run isn't a whole number of recurrence intervals after its first: its runs can't be counted."
_TOO_MANY = "It made more jobs than fell due by its recurrence interval: its runs can't be counted."
_UNKNOWN_JOB = "The creation time of one of its jobs is unknown."


@dataclass(frozen=True, slots=True)
class MissedRuns:
    """Missed runs among those due from `since` and decided by `until`; `count` is None where that is unknown.

    `since` is also None where none has fallen due, so that none can have been missed. `basis` is the method of
    counting, or the reason for having no count.
    """

    count: int | None
    since: datetime | None
    until: datetime | None
    basis: str


class _UnknowableError(Exception):
    """The reason why missed runs can't be counted."""


def missed_runs(schedule: Schedule, made: Mapping[int, datetime], as_of: datetime) -> MissedRuns:
    """Returns the missed runs; a run that may still begin isn't missed.

    `made` are the creation times of its known jobs, by number. `as_of` is when the schedule was known to be as stored.
    """
    if schedule.facts.recurrence.interval is None:
        return _of_one(schedule, as_of)
    last = _count_as_of(schedule, as_of)
    if last is None or schedule.baseline is None:
        return MissedRuns(None, None, None, _NOT_SEEN)
    since, start = schedule.baseline.since, schedule.facts.start
    try:
        count = _count(schedule, last, made)
    except _UnknowableError as why:
        return MissedRuns(None, None, None, str(why))
    if since > last.as_of:
        return MissedRuns(count, None, last.as_of, _NOT_BEGUN if since == start else _NONE_DUE)
    return MissedRuns(count, since, last.as_of, _SINCE_START if since == start else _SINCE_SEEN)


def _count_as_of(schedule: Schedule, as_of: datetime) -> LastCount | None:
    """Returns the service's present count of runs, or the last one where it gives none."""
    facts = schedule.facts
    if facts.is_counting and facts.next_run_time and not schedule.deleted:
        return LastCount(facts.next_run_time, facts.jobs_made, as_of)
    return schedule.last_count


def _of_one(schedule: Schedule, as_of: datetime) -> MissedRuns:
    """Returns the missed runs of a schedule with a single run, which is lost if it completes without a job."""
    facts = schedule.facts
    if facts.recent_job or (facts.state == "active" and not schedule.deleted):
        if facts.start > as_of:
            return MissedRuns(0, None, as_of, _NOT_BEGUN)
        return MissedRuns(0, facts.start, as_of, "It runs once.")
    if (facts.state, facts.previous_state) in {(COMPLETED, "active"), (COMPLETED, None)}:
        return MissedRuns(1, facts.start, as_of, "It was to run once, and completed without a job.")
    return MissedRuns(None, None, None, "It ended, or was disabled, before its only run: that one may not be lost.")


def _count(schedule: Schedule, last: LastCount, made: Mapping[int, datetime]) -> int:
    """Returns the number of missed runs. Raises _UnknowableError."""
    baseline, interval = schedule.baseline, duration_of(schedule.facts.recurrence.interval)
    if baseline is None or baseline.made is None or last.made is None:
        raise _UnknowableError(_UNNUMBERED)
    if not interval:
        raise _UnknowableError(_ODD_INTERVAL)
    due = _whole((last.next_run_time - baseline.since), interval)
    jobs = last.made - baseline.made
    if jobs and baseline.since != schedule.facts.start and _next_was_due(baseline, made, baseline.made + 1):
        jobs -= 1
    if jobs > due or jobs < 0:
        raise _UnknowableError(_TOO_MANY)
    left = due - jobs
    return left - _may_begin(schedule, last, made, last.next_run_time - interval) if left else 0


def _whole(time: timedelta, interval: timedelta) -> int:
    number = round(time / interval)
    if number < 0 or abs(time - number * interval) > _UNEVEN:
        raise _UnknowableError(_UNEVEN_RUNS)
    return number


def _may_begin(schedule: Schedule, last: LastCount, made: Mapping[int, datetime], due: datetime) -> bool:
    """Returns whether the last run due has no job and isn't lost."""
    text = schedule.facts.recurrence.start_window
    window = duration_of(text)
    if text and window is None:
        raise _UnknowableError(_ODD_WINDOW)
    if window is not None and last.as_of - due > window:  # the service may write 29,000 years for no limit
        return False
    return not last.made or _at(made, last.made) < due


def _next_was_due(baseline: Baseline, made: Mapping[int, datetime], number: int) -> bool:
    """Returns whether the first counted job was for a run due before the baseline."""
    if baseline.next_was_due is not None:
        return baseline.next_was_due
    return _at(made, number) < baseline.since


def _at(made: Mapping[int, datetime], number: int) -> datetime:
    if number not in made:
        raise _UnknowableError(_UNKNOWN_JOB)
    return made[number]
