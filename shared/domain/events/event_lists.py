"""Which events a list shows, and in which order: the latest first, by identity where they were logged at once."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Self

from shared.domain.core.keys import key_of
from shared.domain.events.batch_events import BatchEvent, minute_of

_LAST_MINUTE = 0xFFFFFFFE
_MICROSECONDS = 1_000_000
_MINUTE = 60 * _MICROSECONDS


class Position(NamedTuple):
    """The place of an event in lists: microseconds since 1970, and its identity."""

    at: int
    identity: bytes

    @classmethod
    def before_minute(cls, minute: int) -> Self:
        """Behind all events of a minute, as lists go."""
        return cls(minute * _MINUTE, b"")

    @classmethod
    def parse(cls, text: str) -> Self:
        """What `text` wrote. Raises ValueError."""
        at, separator, identity = text.partition("-")
        if not separator or not 0 <= int(at, 16) <= _LAST_MINUTE * _MINUTE:
            raise ValueError(f"no position: '{text}'")
        return cls(int(at, 16), bytes.fromhex(identity))

    @property
    def text(self) -> str:
        return f"{self.at:x}-{self.identity.hex()}"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """What a list shows: of each set one of its values; empty sets and None let everything through.

    Ids and kinds are compared without case, as Batch does.

    `since` is included, `until` isn't.
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
        """The first and the last minute in which such events stand, where none is older than `oldest`."""
        since = max(self.since, oldest) if self.since else oldest
        return max(minute_of(since), 0), max(minute_of(self.until), 0) if self.until else _LAST_MINUTE


def position_of(event: BatchEvent) -> Position:
    return Position(round(event.at.timestamp() * _MICROSECONDS), event.identity)


def last_minute_of(position: Position | None) -> int:
    """The last minute in which events behind a position stand."""
    if position is None:
        return _LAST_MINUTE
    return (position.at if position.identity else position.at - 1) // _MINUTE


def _is_among(wanted: frozenset[str], found: str | None) -> bool:
    return not wanted or (found is not None and key_of(found) in map(key_of, wanted))
