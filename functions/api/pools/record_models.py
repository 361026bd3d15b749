"""The JSON of recorded node states and interruptions."""

from collections.abc import Iterator
from datetime import datetime

from functions.http.answers import Answer
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.nodes.interruptions import DAY, HOUR, Interruptions
from shared.domain.nodes.node_records import NOT_SEEN
from shared.domain.nodes.nodes import Node


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


class StateAnswer(Answer):
    """A state that a node was in; `state` is null if no poll saw it.

    It began at `since` and ended at `until`, null if unknown; the `current` state has not ended.
    """

    state: str | None
    since: datetime | None
    until: datetime | None
    current: bool


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


def states_of(node: Node) -> Iterator[StateAnswer]:
    """Yields the states of a node, latest first; each ends when the next one began.

    A node's clock may go back, so the start of a state is capped at the start of the state that followed it.
    """
    yield StateAnswer(state=node.state, since=stamp(node.transition), until=None, current=True)
    until = earliest = node.transition
    for past in node.record.past:
        state = None if past.state == NOT_SEEN else past.state
        since = min(past.since, earliest) if earliest else past.since
        yield StateAnswer(state=state, since=stamp(since), until=stamp(until), current=False)
        until = since
        earliest = since or earliest


def stamp(milliseconds: int) -> datetime | None:
    """Returns the time for milliseconds since 1970, None for 0."""
    return from_milliseconds(milliseconds) if milliseconds else None
