"""The JSON of interruptions of spot nodes, of one node or of a pool, and its conversion from counted ones."""

from datetime import datetime

from functions.http.answers import Answer, stamp
from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.interruptions import DAY, HOUR, Interruptions


class InterruptionsAnswer(Answer):
    """The number of observed preemptions of spot nodes, in `total` since `since`; `latest` is the time of the last.

    The last hour and day are counted in whole five minutes, so they reach up to five minutes further back.
    `unexplainedRestarts` are restarts between two polls that may also have been interruptions, so the true numbers may
    be higher by as many.
    """

    total: int
    last_hour: int
    last_day: int
    latest: datetime | None
    since: datetime | None
    unexplained_restarts: int


def interruptions_answer(found: Interruptions, since: int, now: datetime) -> InterruptionsAnswer:
    at = to_milliseconds(now)
    return InterruptionsAnswer(
        total=found.total,
        last_hour=found.within(HOUR, at),
        last_day=found.within(DAY, at),
        latest=stamp(found.latest),
        since=stamp(since),
        unexplained_restarts=found.unexplained,
    )
