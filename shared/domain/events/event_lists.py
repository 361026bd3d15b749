"""Filters and order of event lists: latest first, by identity where the times are equal."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Self

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import EPOCH
from shared.domain.events.batch_events import BatchEvent, minute_of

_LAST_MINUTE = 0xFFFFFFFE
_MICROSECONDS = 1_000_000
_MINUTE = 60 * _MICROSECONDS


class Position(NamedTuple):
    """An event's position in lists: microseconds since 1970, and its identity."""

    at: int
    identity: bytes

    @classmethod
    def before_minute(cls, minute: int) -> Self:
        """Returns the position after all events of a minute, in the order of lists."""
        return cls(minute * _MINUTE, b"")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses the output of `text`. Raises ValueError."""
        at, separator, identity = text.partition("-")
        if not separator or not 0 <= int(at, 16) <= _LAST_MINUTE * _MINUTE:
            raise ValueError(f"no position: '{text}'")
        return cls(int(at, 16), bytes.fromhex(identity))

    @property
    def moment(self) -> datetime:
        return EPOCH + timedelta(microseconds=self.at)

    @property
    def text(self) -> str:
        return f"{self.at:x}-{self.identity.hex()}"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """A filter of a list: an event must have one value of each non-empty set; None is no bound.

    Ids and kinds are compared without case, as in Batch. `since` is included, `until` isn't.
    """

    jobs: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()
    pools: frozenset[str] = frozenset()
    nodes: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None

    def wants(self, event: BatchEvent) -> bool:
        return (
            (self.since is None or event.at >= self.since)
            and (self.until is None or event.at < self.until)
            and _is_among(self.kinds, event.kind)
            and _is_among(self.jobs, event.job)
            and _is_among(self.tasks, event.task)
            and _is_among(self.pools, event.pool)
            and _is_among(self.nodes, event.node)
        )

    def minutes(self, oldest: datetime) -> tuple[int, int]:
        """Returns the first and the last minute that may contain such events, where none is older than `oldest`."""
        since = max(self.since, oldest) if self.since else oldest
        return max(minute_of(since), 0), max(minute_of(self.until), 0) if self.until else _LAST_MINUTE


def position_of(event: BatchEvent) -> Position:
    return Position(round(event.at.timestamp() * _MICROSECONDS), event.identity)


def last_minute_of(position: Position | None) -> int:
    """Returns the last minute that may contain events after a position."""
    if position is None:
        return _LAST_MINUTE
    return (position.at if position.identity else position.at - 1) // _MINUTE


def _is_among(wanted: frozenset[str], found: str | None) -> bool:
    return not wanted or (found is not None and key_of(found) in map(key_of, wanted))
