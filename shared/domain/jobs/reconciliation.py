"""Decides when a job needs a read that finds the changes which deltas miss.

Deltas show neither deleted tasks nor reports later than the overlap. A repair lists the uncompleted tasks; a full read
lists all tasks into a new generation. Both cost pages, so neither starts for a passing difference.
"""

import zlib
from datetime import datetime, timedelta
from typing import Literal

from shared.domain.jobs.jobs import Job
from shared.domain.jobs.snapshots import AGREEMENT_LASTS, JobSnapshot
from shared.domain.tasks.tasks import VALIDATED_TASKS, TaskCounts

type Reading = Literal["repair", "fullRead"]

LASTING = 2  # comparisons in a row; Get Task Counts lags, so a single difference may pass
_PAGE = 1000
_GAP = timedelta(seconds=1)  # per page of a full read, after one that didn't help
_LISTED_GAP = timedelta(seconds=10)  # per page of all tasks, after a list of the live ones that didn't help
_TURN = timedelta(minutes=15)  # least time between full reads of a job with unreadable leaves


def wanted_reading(job: Job, *, age: timedelta) -> Reading | None:
    """Returns the read that a job needs beside its deltas: for a lasting difference, or at an `age` of its full read.

    A repair is chosen where it lists at most half as many pages as a full read.
    """
    snapshot = job.snapshot
    if snapshot is None or job.deleted or job.finalized:
        return None
    affordable = _helped(snapshot) or snapshot.as_of - snapshot.full_read_at >= _GAP * pages_of(snapshot.counts.total)
    if snapshot.agreement.disagreements >= LASTING or _is_unconfirmed(snapshot):
        if snapshot.agreement.disagreements <= LASTING and 2 * pages_of(live_of(snapshot.counts)) <= pages_of(
            snapshot.counts.total
        ):
            return "repair"
        return "fullRead" if affordable else None
    due = snapshot.looked_at - snapshot.full_read_at >= age * _spread(job.key)
    return "fullRead" if due and affordable else None


def may_be_replaced(snapshot: JobSnapshot, now: datetime) -> bool:
    """Returns whether a generation with unreadable leaves is old enough to be replaced.

    A young one may belong to a newer version, and both versions would then read all tasks in turns.
    """
    return now - snapshot.full_read_at >= _TURN


def may_be_begun_anew(job: Job, now: datetime | None) -> bool:
    """Returns the same for a generation that is being built, if its read plan is unreadable."""
    return now is not None and job.building_since is not None and now - job.building_since >= _TURN


def live_of(counts: TaskCounts) -> int:
    """Returns the number of uncompleted tasks."""
    return counts.total - counts.completed


def pages_of(tasks: int) -> int:
    """Returns the number of pages of a list of `tasks`; an empty list has one, too."""
    return max(1, -(-tasks // _PAGE))


def _helped(snapshot: JobSnapshot) -> bool:
    """Returns whether counts agreed since the last full read, so that a difference now is a new one."""
    return snapshot.agreement.at is not None and snapshot.agreement.at >= snapshot.full_read_at


def _is_unconfirmed(snapshot: JobSnapshot) -> bool:
    """Returns whether tasks move too fast for Get Task Counts to agree, and weren't listed for a while.

    If the last list of tasks brought no agreement either, the wait grows with the number of tasks.
    """
    settled = snapshot.agreed_since_it_moved and not snapshot.agreement.disagreements
    if snapshot.counts.total > VALIDATED_TASKS or settled:
        return False
    agreed = snapshot.agreement.at
    if agreed and agreed >= snapshot.live_read_at:
        return snapshot.as_of - agreed > AGREEMENT_LASTS
    return snapshot.as_of - snapshot.live_read_at > max(AGREEMENT_LASTS, _LISTED_GAP * pages_of(snapshot.counts.total))


def _spread(key: str) -> float:
    """Returns 0.9 to 1.1, by job, so that jobs whose first reads coincided have their next ones apart."""
    return 0.9 + 0.2 * zlib.crc32(key.encode()) / 2**32
