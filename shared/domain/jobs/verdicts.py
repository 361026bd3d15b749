"""How sure a count is, in one word and one sentence.

`exact`: no read is pending, at most 200,000 tasks, and Get Task Counts agrees. `unverified`: complete, but not so
confirmed. `catchingUp`: the first read is running, or more changed than a round may read. `stale`: the last polls
failed or didn't happen.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from shared.domain.jobs.jobs import Job
from shared.domain.jobs.snapshots import AGREEMENT_LASTS, Agreement, JobSnapshot, Source
from shared.domain.reads.read_plans import Progress
from shared.domain.tasks.tasks import VALIDATED_TASKS, TaskCounts

type Level = Literal["exact", "unverified", "catchingUp", "stale"]

OVERTAKEN = "The stored data differs from the data last confirmed; the next poll shows which of them holds."
_GRACE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict; `source` is the kind of read that gave the counts, `none` without one.

    `checked_at` is the last request to Batch, even one that found nothing new: never before `as_of`.
    """

    as_of: datetime | None
    source: Source | Literal["none"]
    level: Level
    reason: str
    checked_at: datetime | None = None


def verdict_of(
    job: Job,
    *,
    failure: str | None,
    now: datetime,
    interval: timedelta,
    off_reason: str | None = None,
    progress: Progress | None = None,
    is_behind: bool = False,
) -> Verdict:
    """Returns the verdict on a job's counts.

    `failure` is the reason why its last poll failed, `interval` the account's poll interval. `off_reason` is a sentence
    on since when the account isn't watched, None while it is. `progress` is that of a long first read. `is_behind`:
    more changed than a round may read, so the queue reads it.
    """
    level: Level
    snapshot = job.snapshot
    if snapshot is None and job.deleted:
        return Verdict(None, "none", "unverified", "The job was deleted before its tasks were read.")
    if snapshot is None and off_reason:
        return Verdict(None, "none", "stale", off_reason)
    if snapshot is None:
        reason = f"Its tasks couldn't be read yet: {failure}" if failure else _first_read(progress)
        return Verdict(None, "none", "stale" if failure else "catchingUp", reason)
    as_of, looked_at = snapshot.confirmed_as_of, snapshot.looked_at
    if off_reason and not (job.deleted or job.finalized):
        return Verdict(as_of, snapshot.source, "stale", off_reason, looked_at)
    unpolled = timedelta() if job.finalized else now - looked_at
    if job.deleted:
        level, reason = "unverified", "The job was deleted; these are its last known counts."
    elif stale := stale_reason(failure, age=unpolled, interval=interval):
        level, reason = "stale", stale
    else:
        level, reason = _judge(snapshot, as_of, now)
    if is_behind and not failure:
        level, reason = "catchingUp", "Too many changes for one poll; catching up in the background."
    return Verdict(as_of, snapshot.source, level, reason, looked_at)


def _judge(snapshot: JobSnapshot, confirmed_as_of: datetime, now: datetime) -> tuple[Level, str]:
    if snapshot.counts.total > VALIDATED_TASKS:
        age = in_words(max(now - snapshot.full_read_at, timedelta()))
        return (
            "unverified",
            f"Above {VALIDATED_TASKS:,} tasks nothing confirms counts; the last full read was {age} ago.",
        )
    return _judge_agreement(snapshot, confirmed_as_of)


def _judge_agreement(snapshot: JobSnapshot, confirmed_as_of: datetime) -> tuple[Level, str]:
    """Returns level and reason by the last comparison. One unexplained difference makes `unverified`: a repair follows.

    Each sentence names the time as of which it is true; later events show with a later poll.
    """
    agreement, then = snapshot.agreement, at_second(snapshot.as_of)
    if agreement.disagreements:
        return "unverified", _difference(snapshot.counts, agreement)
    if agreement.at is None:
        return "unverified", f"As of {then}, Get Task Counts hadn't agreed with these counts yet."
    if snapshot.agreed_since_it_moved:
        return "exact", f"Get Task Counts agreed as of {at_second(confirmed_as_of)}."
    if snapshot.as_of - agreement.at > AGREEMENT_LASTS:
        return (
            "unverified",
            f"As of {then}, Get Task Counts had last agreed {in_words(snapshot.as_of - agreement.at)} before.",
        )
    if agreement.at < snapshot.as_of:
        age = in_words(snapshot.as_of - agreement.at)
        return "exact", f"As of {then}, Get Task Counts had agreed {age} before, and tasks had only moved in between."
    return "exact", f"Get Task Counts agreed as of {then}."


def _first_read(progress: Progress | None) -> str:
    if progress is None:
        return "Its tasks are being read for the first time."
    if progress.expected is None:
        return f"Its tasks were listed for the first time; of those that changed meanwhile {progress.tasks:,} are read."
    return f"Its tasks are being read for the first time: {progress.tasks:,} of about {progress.expected:,} so far."


def _difference(counts: TaskCounts, agreement: Agreement) -> str:
    if agreement.service_counts is None:
        return "Tasks that are counted here are gone; the tasks are being read again."
    ours, theirs = counts.as_service_counts(), agreement.service_counts.as_service_counts()
    names = ("active", "running", "completed", "succeeded", "failed")
    parts = [
        f"{getattr(theirs, n):,} {n} (here {getattr(ours, n):,})"
        for n in names
        if getattr(ours, n) != getattr(theirs, n)
    ]
    if not parts:
        return "Get Task Counts agreed, but which of the running tasks are still preparing is being looked up."
    times = f"{agreement.disagreements} times" if agreement.disagreements > 1 else "once"
    return f"Get Task Counts differed {times}: {', '.join(parts)}. If that lasts, the tasks are read again."


def stale_reason(failure: str | None, *, age: timedelta, interval: timedelta) -> str | None:
    """Returns why polls leave something out of date, None if they don't: the last failed, or was too long ago.

    `age` is the time since it, `interval` that between two polls.
    """
    if failure:
        return f"The last poll failed: {failure}"
    return f"Not polled for {in_words(age)}." if age > stale_after(interval) else None


def stale_after(interval: timedelta) -> timedelta:
    """Returns the age beyond which something polled at an interval is out of date."""
    return 3 * interval + _GRACE


def at_second(moment: datetime) -> str:
    """Returns a text like `2026-01-31 12:00:00 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def in_words(age: timedelta) -> str:
    """Returns an age in its largest whole unit, like `3 min`."""
    seconds = int(age.total_seconds())
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
