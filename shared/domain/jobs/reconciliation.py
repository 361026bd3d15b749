"""When counts want more than a delta: which read makes good what deltas can't see.

Deltas show neither deleted tasks nor reports later than the overlap. A repair lists the tasks that haven't completed;
a full read lists all of them into a new generation. Both cost pages, so neither is begun for a passing difference.
"""

import zlib
from datetime import datetime, timedelta
from typing import Literal

from shared.domain.jobs.jobs import Job
from shared.domain.jobs.pictures import AGREEMENT_LASTS, Picture
from shared.domain.tasks.tasks import VALIDATED_TASKS, TaskCounts

type Reading = Literal["repair", "fullRead"]

LASTING = 2  # comparisons in a row; Get Task Counts lags, so a single difference may pass
_PAGE = 1000
_GAP = timedelta(seconds=1)  # for each page of a full read, after one that didn't help
_LISTED_GAP = timedelta(seconds=10)  # for each page of all tasks, after a list of the live ones that didn't help
_TURN = timedelta(minutes=15)  # the least between two full reads of a job whose leaves can't be read


def wanted_reading(job: Job, *, age: timedelta) -> Reading | None:
    """The read that a job needs beside its deltas: for a lasting difference, or once its last full read is of an `age`.

    A repair is worth it where it lists less than half of what a full read does.
    """
    picture = job.picture
    if picture is None or job.deleted or job.sealed:
        return None
    affordable = _helped(picture) or picture.as_of - picture.full_read_at >= _GAP * pages_of(picture.counts.total)
    if picture.agreement.disagreements >= LASTING or _is_unconfirmed(picture):
        if picture.agreement.disagreements <= LASTING and 2 * pages_of(live_of(picture.counts)) <= pages_of(
            picture.counts.total
        ):
            return "repair"
        return "fullRead" if affordable else None
    due = picture.looked_at - picture.full_read_at >= age * _spread(job.key)
    return "fullRead" if due and affordable else None


def may_be_replaced(picture: Picture, now: datetime) -> bool:
    """True where a generation with leaves that can't be read may give way to another by now.

    Not at once where it is young: a newer version may be writing it, and each would read all tasks in turns.
    """
    return now - picture.full_read_at >= _TURN


def may_be_begun_anew(job: Job, now: datetime | None) -> bool:
    """The same of a generation that is being built, where the plan of its read can't be read."""
    return now is not None and job.building_since is not None and now - job.building_since >= _TURN


def live_of(counts: TaskCounts) -> int:
    """Tasks that haven't completed."""
    return counts.total - counts.completed


def pages_of(tasks: int) -> int:
    """Pages of a list of so many tasks; an empty list has one, too."""
    return max(1, -(-tasks // _PAGE))


def _helped(picture: Picture) -> bool:
    """True where counts agreed since the last full read: a difference now is another one."""
    return picture.agreement.at is not None and picture.agreement.at >= picture.full_read_at


def _is_unconfirmed(picture: Picture) -> bool:
    """True where tasks move so fast that Get Task Counts wasn't seen to agree for long, nor were they listed since.

    Where it didn't agree since they were listed last either, that takes longer the more tasks there are.
    """
    settled = picture.agreed_since_it_moved and not picture.agreement.disagreements
    if picture.counts.total > VALIDATED_TASKS or settled:
        return False
    agreed = picture.agreement.at
    if agreed and agreed >= picture.live_read_at:
        return picture.as_of - agreed > AGREEMENT_LASTS
    return picture.as_of - picture.live_read_at > max(AGREEMENT_LASTS, _LISTED_GAP * pages_of(picture.counts.total))


def _spread(key: str) -> float:
    """From 0.9 to 1.1, by the job: so that jobs that were first read together aren't read again together."""
    return 0.9 + 0.2 * zlib.crc32(key.encode()) / 2**32
