"""Events as stored in rows: those of one minute packed together, with their identities.

Repeats are detected here. The service delivers events more than once, at most hours apart, each time with a different
time. The same event a day later is a new one.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import batched
from typing import Any, NamedTuple

import msgspec

from shared.domain.events.batch_events import IDENTITY_BYTES, BatchEvent, minute_of
from shared.domain.events.event_marks import marks_of

WINDOW = timedelta(hours=6)
_WINDOW_MINUTES = WINDOW // timedelta(minutes=1)
_MAX_EVENTS = 4_000  # of a chunk: their identities and marks, four of 4 bytes each, fit into a property of 64 KiB
_MAX_BYTES = 300_000  # of a chunk's JSON: no row holds more than a megabyte, however badly that compresses


class Identities:
    """The identities of stored events by minute, concatenated, 12 bytes each."""

    def __init__(self, stored: Iterable[tuple[int, bytes]] = ()) -> None:
        self._minutes: dict[int, bytes] = {}
        for minute, packed in stored:
            self.add(minute, packed)

    def add(self, minute: int, packed: bytes) -> None:
        self._minutes[minute] = self._minutes.get(minute, b"") + packed

    def near(self, wanted: frozenset[bytes], first: int, last: int) -> dict[bytes, list[int]]:
        """Returns the minutes in which each of `wanted` is stored, within the window around `first` to `last`."""
        found: dict[bytes, list[int]] = defaultdict(list)
        for minute, packed in self._minutes.items():
            if first - _WINDOW_MINUTES <= minute <= last + _WINDOW_MINUTES:
                for identity in _split(packed):
                    if identity in wanted:
                        found[identity].append(minute)
        return found

    def news(self, events: Sequence[BatchEvent]) -> list[BatchEvent]:
        """Returns the events that repeat neither a stored event nor a preceding one within the window."""
        if not events:
            return []
        minutes = [minute_of(event.at) for event in events]
        near = self.near(frozenset(event.identity for event in events), min(minutes), max(minutes))
        fresh = []
        for event, minute in zip(events, minutes, strict=True):
            known = near.setdefault(event.identity, [])
            if not any(abs(minute - other) <= _WINDOW_MINUTES for other in known):
                known.append(minute)
                fresh.append(event)
        return fresh


def windows_of(events: Sequence[BatchEvent]) -> list[tuple[int, int]]:
    """Returns ranges of minutes, both ends included, that may contain repeats of the events."""
    found: list[tuple[int, int]] = []
    for minute in sorted({minute_of(event.at) for event in events}):
        first, last = minute - _WINDOW_MINUTES, minute + _WINDOW_MINUTES
        if found and first <= found[-1][1] + 1:
            first = found.pop()[0]
        found.append((first, last))
    return found


def by_minute(events: Iterable[BatchEvent]) -> dict[int, list[BatchEvent]]:
    found: dict[int, list[BatchEvent]] = defaultdict(list)
    for event in events:
        found[minute_of(event.at)].append(event)
    return dict(found)


class Chunk(NamedTuple):
    """The content of a row: identities, marks, and the packed events."""

    identities: bytes
    marks: bytes
    values: list[list[Any]]


def chunks_of(events: Sequence[BatchEvent]) -> Iterator[Chunk]:
    """Yields the events of a minute in as many chunks as needed."""
    some, values, size = list[BatchEvent](), list[list[Any]](), 0
    for event in events:
        value = _packed(event)
        more = len(msgspec.json.encode(value))
        if values and (size + more > _MAX_BYTES or len(values) == _MAX_EVENTS):
            yield _chunk(some, values)
            some, values, size = [], [], 0
        some.append(event)
        values.append(value)
        size += more
    if values:
        yield _chunk(some, values)


def events_of(identities: bytes, values: Sequence[Sequence[Any]]) -> list[BatchEvent]:
    """Unpacks the output of `chunks_of`."""
    return [_unpacked(identity, value) for identity, value in zip(_split(identities), values, strict=True)]


def _chunk(events: Sequence[BatchEvent], values: list[list[Any]]) -> Chunk:
    return Chunk(b"".join(event.identity for event in events), marks_of(events), values)


def _split(packed: bytes) -> Iterator[bytes]:
    return (bytes(some) for some in batched(packed, IDENTITY_BYTES, strict=True))


def _packed(event: BatchEvent) -> list[Any]:
    value = [event.at.timestamp(), event.kind, event.job, event.task, event.pool, event.node, event.properties]
    return [*value, event.claimed.timestamp()] if event.claimed else value


def _unpacked(identity: bytes, value: Sequence[Any]) -> BatchEvent:
    at, kind, job, task, pool, node, properties, *claimed = value
    said = _moment(claimed[0]) if claimed else None
    return BatchEvent(_moment(at), kind, job, task, pool, node, properties, identity, said)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
