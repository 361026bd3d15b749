"""What a node's seconds between two lists of nodes count as, by its stamps where these show more than the lists.

Each moment between the start of the state that the earlier list showed and that of the later one belongs to exactly one
billing class, however the clock of the node is off: stamps are clipped to these bounds and taken in their order.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from shared.domain.nodes.nodes import FAILURE, Node
from shared.domain.usage.billing_classes import READY, BillingClass, class_of

_BOOTS = frozenset(  # states from which a boot follows, or during which one is reported
    (
        *("creating", "starting", "waitingforstarttask", "rebooting", "reimaging", "upgradingos"),
        *("preempted", "deallocating", "deallocated", "unusable", "unknown"),
    )
)
_BOOTS_WITHIN = _BOOTS - {"creating", "starting", "waitingforstarttask"}


class UsageSpan(NamedTuple):
    """A part of a node's life, in milliseconds since 1970, and what it counts as."""

    start: int
    end: int
    billing_class: BillingClass


class ListGap(NamedTuple):
    """The times of two lists of a pool's nodes, and the longest time without a sight of a node that counts as watched.

    All are milliseconds, the times since 1970.
    """

    known_as_of: int
    at: int
    longest: int


class Removal(NamedTuple):
    """The resize, or deletion of the pool, that removed nodes between two lists; 0 where its start or end is unknown.

    Times are milliseconds since 1970. Nodes were gone `before` a time in any case.
    """

    began: int
    ended: int
    before: int


def ended_spans(old: Node | None, now: Node, start: int, gap: ListGap) -> tuple[UsageSpan, ...]:
    """Returns the time of a node from `start` until its present state began, or until the later list at most.

    `old` is the node in the earlier list, whose state counts from `start` on; None for a node that is new.
    """
    end = _between(start, now.transition or gap.at, gap.at)
    seen = _between(start, gap.known_as_of, end) if old else start
    spans = [UsageSpan(start, seen, class_of(old.state))] if old else []
    if seen < end:
        booted = _has_booted(old, now, end)
        moments = [(seen, _unseen_class(old, now, start, booted=booted)), *_milestones(old, now, booted=booted)]
        spans.extend(_stretches(moments, end, gap.longest))
    return _non_empty(spans)


def gone_spans(old: Node, start: int, gap: ListGap, removal: Removal) -> tuple[UsageSpan, ...]:
    """Returns the time of a node that the later list lacks: in its last state, then leaving.

    Where nothing dates its end, it counts as gone in the middle, or as unwatched until the end of a long gap.
    """
    last = max(start, min(gap.at, removal.before))
    seen = _between(start, gap.known_as_of, last)
    low = _between(seen, removal.began, last) if removal.began else seen
    high = _between(low, removal.ended, last) if removal.ended else last
    is_watched = high - low <= gap.longest or (removal.began and removal.ended)
    gone = high if removal.ended or not is_watched else (low + high) // 2
    leaves = low if removal.began else (low + gone) // 2 if removal.ended else gone
    shown = class_of(old.state)
    state: BillingClass = "ready" if shown in READY else shown
    spans = (
        UsageSpan(start, seen, shown),
        UsageSpan(seen, low, state if low - seen <= gap.longest else "unwatched"),
        UsageSpan(low, leaves, state if is_watched else "unwatched"),
        UsageSpan(leaves, gone, "leaving" if is_watched else "unwatched"),
    )
    return _non_empty(spans)


def _unseen_class(old: Node | None, now: Node, start: int, *, booted: bool) -> BillingClass:
    """Returns what a node counts as from its last sight until the next stamp."""
    if old is None:
        return "starting" if start <= now.allocated else "unwatched"
    shown = class_of(old.state)
    if booted and old.state not in _BOOTS:
        return "unwatched"  # it rebooted or was preempted, and nothing says when that began
    return "ready" if shown in READY else shown


def _has_booted(old: Node | None, now: Node, end: int) -> bool:
    """Returns whether a node booted before its present state, since the earlier list."""
    if now.booted > end and now.state in _BOOTS_WITHIN:
        return False
    return now.booted > (old.booted if old else 0)


def _milestones(old: Node | None, now: Node, *, booted: bool) -> Iterator[tuple[int, BillingClass]]:
    """Yields the stamps of a node's last start, each with what follows it."""
    if booted:
        yield now.booted, "starting"
    run, starts = now.start, booted or old is None or class_of(old.state) in {"starting", "startTask"}
    if run is None or not run.start or not starts or (booted and run.start < now.booted):
        return
    yield run.start, "startTask"
    if run.end >= run.start and now.state != "starttaskfailed":
        failed = run.result == FAILURE and class_of(now.state) not in READY
        yield run.end, "startTaskFailed" if failed else "ready"


def _stretches(moments: Sequence[tuple[int, BillingClass]], end: int, longest: int) -> Iterator[UsageSpan]:
    """Yields the spans from each moment to the next; only those between two stamps may be long."""
    until, last = moments[0][0], len(moments) - 1
    for number, (_, named) in enumerate(moments):
        start, until = until, _between(until, moments[number + 1][0], end) if number < last else end
        is_stamped = 0 < number < last
        yield UsageSpan(start, until, named if is_stamped or until - start <= longest else "unwatched")


def _non_empty(spans: Iterable[UsageSpan]) -> tuple[UsageSpan, ...]:
    return tuple(span for span in spans if span.end > span.start)


def _between(low: int, moment: int, high: int) -> int:
    return max(low, min(moment, high))
