"""The resizes of a pool that polls saw, from which it follows since when a node was wished for."""

from collections.abc import Sequence
from typing import NamedTuple

from shared.domain.core.stamps import to_milliseconds
from shared.domain.pools.pool_facts import PoolFacts

MAX_RESIZES = 10


class Resize(NamedTuple):
    """Start and end of a resize in milliseconds since 1970; the end is 0 as long as no poll saw it."""

    start: int
    end: int = 0


def resizes_after(before: Sequence[Resize], facts: PoolFacts) -> tuple[Resize, ...]:
    """Returns the latest resizes, the last one first, after a list of pools showed `facts`.

    Two resizes between two lists count as one.
    """
    at = facts.allocation_state_transition_time
    if at is None:
        return tuple(before)
    moment = to_milliseconds(at)
    if facts.allocation_state == "resizing" and moment not in {one.start for one in before}:
        return (Resize(moment), *before)[:MAX_RESIZES]
    if facts.allocation_state == "steady" and before and not before[0].end:
        return (before[0]._replace(end=moment), *before[1:])
    return tuple(before)


def wished_at(resizes: Sequence[Resize], allocated: int) -> int:
    """Returns the start of the resize in which a node was allocated, 0 where no poll saw it."""
    for one in resizes:
        if one.start <= allocated:
            return one.start if not one.end or allocated <= one.end else 0
    return 0
