"""The JSON of what befell nodes and pools: states, flaps, interruptions, autoscale evaluations."""

from collections.abc import Iterator
from datetime import datetime

from functions.answers import Answer
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.nodes.interruptions import DAY, HOUR, Interruptions
from shared.domain.nodes.node_records import NOT_SEEN
from shared.domain.nodes.nodes import Node


class InterruptionsAnswer(Answer):
    """How often spot nodes were preempted, as polls saw it, in `total` since `since`; `latest` is when last.

    The last hour and day are counted in whole five minutes, so they reach up to five minutes further back.
    `unexplainedRestarts` are restarts between two polls that may have been interruptions too: by so many the numbers
    may be too low.
    """

    total: int
    last_hour: int
    last_day: int
    latest: datetime | None
    since: datetime | None
    unexplained_restarts: int


class StateAnswer(Answer):
    """A state that a node was in; `state` is null where no poll saw it.

    It began at `since` and ended at `until`, null where that isn't known; the `current` one hasn't ended.
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
    """The states of a node, the latest first, each until the next one began.

    A node's clock may have gone back: no state is told to begin after one that followed it.
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
    """The time of milliseconds since 1970, None for 0."""
    return from_milliseconds(milliseconds) if milliseconds else None
