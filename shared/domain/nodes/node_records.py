"""A node's history: its earlier states, its falls into bad states, and its interruptions.

A node's own time stamps reveal more than polls see. The same state since a later time, or a boot that no observed state
explains, shows that another state was missed. That state is recorded as unknown, never guessed. A change that leaves no
such trace isn't recorded.
"""

from datetime import timedelta
from typing import NamedTuple

from shared.domain.nodes.interruptions import NONE, Interruptions

MAX_PAST = 20
FLAP_WINDOW = timedelta(hours=1)
FLAPS = 3
MAX_FALLS = 20
NOT_SEEN = ""
PREEMPTED = "preempted"
_WINDOW = FLAP_WINDOW // timedelta(milliseconds=1)
_MINUTE = 60_000
_BAD = frozenset(("unusable", "unknown", "starttaskfailed", "rebooting", "reimaging"))
_DOWN = frozenset(
    (
        *("creating", "rebooting", "reimaging", "upgradingos", "deallocating", "deallocated", "leavingpool"),
        *("unusable", "unknown", PREEMPTED),
    )
)
_STARTING = "starting"
_RISING = frozenset((_STARTING, "waitingforstarttask"))  # a list may show these before the boot that led to them


class EarlierState(NamedTuple):
    """An earlier state of a node, NOT_SEEN if unknown, with its start in milliseconds since 1970 (0 if unknown)."""

    state: str
    since: int


class NodeVersion(NamedTuple):
    """The properties of a node that reveal a change: state, its start, and the last boot; 0 where unknown."""

    state: str
    transition: int
    booted: int


class NodeRecord(NamedTuple):
    """The stored history of a node, first seen `since` then; 0 for a node that isn't stored yet.

    `past` are the states before the present one, latest first, each lasting until the next began. `falls` are the times
    within one hour, latest first, at which it entered a bad state.
    """

    since: int = 0
    past: tuple[EarlierState, ...] = ()
    falls: tuple[int, ...] = ()
    interruptions: Interruptions = NONE

    @property
    def is_whole(self) -> bool:
        """False where states were missed or dropped, and for a node without a record."""
        return bool(self.since) and len(self.past) < MAX_PAST and all(past.state != NOT_SEEN for past in self.past)

    def flaps(self, now: int) -> int:
        """Returns the number of falls within the hour before `now`, up to MAX_FALLS."""
        return sum(_over(at) > now for at in self.falls)

    @property
    def flaps_until(self) -> int:
        """The time until which the node counts as flapping unless it falls again, 0 where it doesn't."""
        return _over(self.falls[FLAPS - 1]) if len(self.falls) >= FLAPS else 0

    def fell(self, at: int) -> "NodeRecord":
        latest = sorted((at, *self.falls), reverse=True)
        kept = [fall for fall in latest if _over(fall) > latest[0]]
        return self._replace(falls=tuple(kept[:MAX_FALLS]))


NO_RECORD = NodeRecord()


def first_record(now: NodeVersion, *, since: int, known_as_of: int | None) -> NodeRecord:
    """Returns the record of a node that a list as of `since` shows for the first time.

    Events before the pool's nodes were last known, `known_as_of` (None: never), don't count.
    """
    record = NodeRecord(since)
    is_news = known_as_of is not None and now.transition > known_as_of
    return _entered(record, now, at=since) if is_news else record


def followed(
    record: NodeRecord, before: NodeVersion, now: NodeVersion, *, known_as_of: int, at: int, spot: bool
) -> NodeRecord:
    """Returns the record after a list as of `at` showed other stamps than `before`, which held at `known_as_of`.

    Events are dated `at` at the latest, because the clock of a node may be ahead.
    """
    if _rebooted(before, now) and not _was_to_boot(before, now):
        record = record.fell(min(now.booted, at))
        record = record._replace(interruptions=record.interruptions.restarted()) if spot else record
    if (before.state, before.transition) == (now.state, now.transition):
        return record
    past = [EarlierState(before.state, before.transition), *record.past]
    if was_missed(before, now):
        past.insert(0, EarlierState(NOT_SEEN, min(max(known_as_of, before.transition), now.transition)))
    record = record._replace(past=tuple(past[:MAX_PAST]))
    if now.state in _BAD and before.state in _BAD and before.state != now.state:
        return record  # from bad to bad, as from unusable to rebooting, is the same fall
    return _entered(record, now, at=at)


def was_missed(before: NodeVersion, now: NodeVersion) -> bool:
    """Returns whether the stamps show that a node was in another state between two observed ones."""
    if before.state == now.state:
        return before.transition != now.transition
    is_next = before.state in _RISING or now.state == _STARTING or _booted_within(now)
    return _rebooted(before, now) and not (is_next and _was_to_boot(before, now))


def _rebooted(before: NodeVersion, now: NodeVersion) -> bool:
    return bool(before.booted) and now.booted > before.booted


def _booted_within(now: NodeVersion) -> bool:
    """Returns whether the last boot was within the present state, which leads to one: lists may show it late."""
    return now.state in _DOWN and 0 < now.transition < now.booted


def _was_to_boot(before: NodeVersion, now: NodeVersion) -> bool:
    """Returns whether the previous state leads to a boot, or the present one did; a starting node boots once."""
    if _booted_within(now):
        return True
    if before.state in _RISING:
        return now.state != _STARTING or now.transition == before.transition
    return before.state in _DOWN


def _entered(record: NodeRecord, now: NodeVersion, *, at: int) -> NodeRecord:
    moment = min(now.transition, at)
    if now.state == PREEMPTED:
        return record._replace(interruptions=record.interruptions.interrupted(moment))
    return record.fell(moment) if now.state in _BAD else record


def _over(fall: int) -> int:
    """Returns the time from which a fall no longer counts: the end of the minute in which its hour is over."""
    return ((fall + _WINDOW) // _MINUTE + 1) * _MINUTE
