"""The state of a blob's intake: what is stored between steps; and within them shapes, buffers, and what results.

A state is stored together with the offset where a step ends. Similar records share properties, across blobs as well, as
the nodes of a pool send similar records: these follow from the records' key alone, so they never become stale. Records
are buffered by them, and rolled up together.
"""

import zlib
from dataclasses import dataclass, field
from sys import getsizeof
from typing import Any, Literal

import msgspec

from shared.domain.events.batch_events import BatchEvent
from shared.domain.packing.compression import deflated, inflated
from shared.domain.telemetry.catalog.field_mappings import FieldMapping, mapping_of
from shared.domain.telemetry.records.metrics import InvalidPart, Metric
from shared.domain.telemetry.records.startup_records import identity_of_tags, is_once, named
from shared.domain.telemetry.rollups.folding import LEFT_TO_NODES, MAX_BLOB_SERIES, CounterCache, Fold, RecordGroup
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts
from shared.domain.telemetry.rollups.rollups import Rollups
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt, attempt_of
from shared.domain.telemetry.sessions.event_records import MAX_EVENTS, event_of, is_event
from shared.domain.telemetry.sessions.session import Session, Writer
from shared.domain.telemetry.sessions.sessions import Sessions

MAX_SHAPES = 4096
_MAX, _MAX_BYTES = 32 << 10, 16 << 20  # of one cache key, and of all keys
type ShapeKey = tuple[object, ...]
_LONG_AGO = 0
"""The nanosecond of the last sample of a session whose attempt has ended, so that it makes room for another at once."""


@dataclass(slots=True)
class State:
    """An intake's state for a blob; `memories` are by the number of a running session.

    `in_line` means that the next bytes continue an overlong line, whose end hasn't been read.
    """

    sessions: Sessions = field(default_factory=Sessions)
    memories: dict[int, CounterCache] = field(default_factory=dict)
    format: Literal[1] = 1
    in_line: bool = False

    @property
    def room_for_series(self) -> int:
        """Returns how many series may be new."""
        return MAX_BLOB_SERIES - sum(memory.count for memory in self.memories.values())

    def pack(self) -> bytes:
        """Returns the packed state: some 30 bytes per series."""
        return deflated(msgspec.json.encode(self))

    @classmethod
    def unpack(cls, packed: bytes) -> "State":
        """Raises ValueError for another format."""
        try:
            return msgspec.json.decode(inflated(packed), type=cls)
        except (zlib.error, ValueError) as error:  # msgspec's errors are ValueErrors, too
            raise ValueError(f"this is no state of a blob of this version: {error}") from error


@dataclass(slots=True)
class IngestResult:
    """The result of one or more successive steps, up to `end` of the blob.

    `rollups` are by session number. `cells` counts their minutes of series, `hours` are the affected pairs of session
    and hour since 1970. `sessions` are those that began or received new facts. `events` are those of known nodes,
    `attempts` the ended runs of tasks.
    """

    end: int
    cells: int = 0
    hours: set[tuple[int, int]] = field(default_factory=set)
    rollups: dict[int, Rollups] = field(default_factory=dict)
    sessions: dict[int, Session] = field(default_factory=dict)
    events: list[BatchEvent] = field(default_factory=list)
    attempts: list[MeasuredAttempt] = field(default_factory=list)
    rejected: tuple[InvalidPart, ...] = ()
    dropped: DroppedCounts = field(default_factory=DroppedCounts)

    def leave_out(self, metric: Metric, writer: Writer, session: Session | None) -> None:
        """Counts a record without a session, or without an accepted time."""
        if session is None and writer.is_of_task:
            self.dropped.of_too_many_tasks += 1
        elif session is None:
            self.dropped.of_too_many_nodes += 1
        elif metric.time is None:
            self.dropped.without_time += 1
        else:
            self.dropped.out_of_window += 1

    def add_event(self, metric: Metric, time: int, session: Session) -> None:
        """Adds the event that a record reports; beyond the limit of a step, or of an unknown node, it is counted.

        `session` is the node's; only tags of the event itself name its task.
        """
        if not session.whose.node:
            self.dropped.unread_fields += len(metric.fields)
        elif len(self.events) >= MAX_EVENTS:
            self.dropped.beyond_limit += 1
        else:
            self.events.append(event_of(metric, time, session.whose.of_task(identity_of_tags(metric.tags))))

    def add_attempt(self, metric: Metric, session: Session) -> None:
        """Adds the run of a task that a record sums up at its end."""
        if attempt := attempt_of(metric, session.whose, session.facts.vm_size):
            self.attempts.append(attempt)

    def add(self, session: int, fold: Fold) -> None:
        """Adds a fold's counts for a session; its rollups are already present."""
        self.cells += fold.cells
        self.hours.update((session, hour) for hour in fold.hours)
        if not self.rollups[session]:
            del self.rollups[session]


@dataclass(frozen=True, slots=True, eq=False)
class RecordShape:
    """The plan for records, their writer with its key, and whether they are startup records or events.

    The writer of an event is the node, whichever task it struck, as many tasks leave no room for sessions of others.
    """

    plan: FieldMapping
    writer: Writer
    key: str
    is_once: bool
    is_event: bool

    def buffer(self) -> "RecordBuffer":
        """Returns an empty buffer for such records of a blob."""
        is_end = self.plan.is_of_ended_attempt
        one_by_one = self.is_once or self.is_event or is_end
        return RecordBuffer(self.plan, self.writer, self.key, self.is_once, self.is_event, is_end, one_by_one)


class BoundedCache[T]:
    """A cache by the shape of records, in bounded memory: names in a blob may have any length.

    `known` always remains the same object.
    """

    __slots__ = ("_bytes", "known")

    def __init__(self) -> None:
        self.known: dict[ShapeKey, T] = {}
        self._bytes = 0

    def keep(self, key: ShapeKey, one: T) -> None:
        """Caches an entry unless its key is too large."""
        size = sum(getsizeof(part) for part in key if not isinstance(part, type))
        if size > _MAX:
            return
        if len(self.known) >= MAX_SHAPES or self._bytes + size > _MAX_BYTES:
            self.known.clear()
            self._bytes = 0
        self.known[key] = one
        self._bytes += size


class ShapeCache(BoundedCache[RecordShape]):
    """A cache that readers of several blobs share."""

    __slots__ = ()

    def of(self, key: ShapeKey, metric: Metric) -> RecordShape:
        """Returns the properties of similar records; thread-safe, as threads at worst compute equal values twice."""
        known = self.known.get(key)
        if known is None:
            known = _shape_of(metric)
            if not known.plan.is_of_ended_attempt:
                self.keep(key, known)
        return known


@dataclass(slots=True, eq=False)
class RecordBuffer:
    """Times and values of similar records.

    `settled` is the number of the session that all of them belong to. Startup records, events and ends of attempts,
    which are sums of an attempt of a task, the last that an agent writes about it, are looked at `one_by_one`.
    """

    plan: FieldMapping
    writer: Writer
    key: str
    is_once: bool
    is_event: bool
    is_end_of_attempt: bool
    one_by_one: bool
    settled: int = -1
    times: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


class RecordBuffers:
    """All buffered records of a blob; `values` is their number of field values."""

    __slots__ = ("_some", "_state", "values")

    def __init__(self, state: State) -> None:
        self._state = state
        self._some: list[RecordBuffer] = []
        self.values = 0

    def begin(self, known: RecordBuffer) -> None:
        """Registers an empty buffer before its first record is added."""
        self._some.append(known)

    def sum_up(self, result: IngestResult) -> None:
        """Rolls up the buffered records; the state then matches the end of the ingested steps."""
        some: dict[int, list[RecordGroup]] = {}
        of_tasks = {known.settled for known in self._some if known.writer.is_of_task}
        latest = self._state.sessions.latest
        for known in self._some:
            plan, records = known.plan, len(known.times)
            newest = max(known.times)
            latest[known.settled] = max(latest.get(known.settled, 0), newest)
            if plan.unknown:
                result.dropped.count_unknown(plan.unknown, records)
            else:
                result.dropped.unread_fields += plan.unread * records
                some.setdefault(known.settled, []).append(RecordGroup(plan, known.times, known.values))
        room = self._state.room_for_series if some else 0
        for number, gathered in some.items():
            memory = self._state.memories.setdefault(number, CounterCache())
            before, left = memory.count, LEFT_TO_NODES if number in of_tasks else 0
            fold = Fold(memory, result.rollups.setdefault(number, {}), result.dropped, max(room - left, 0))
            fold.add(gathered)
            room -= memory.count - before
            result.add(number, fold)
        for known in self._some:
            if known.is_end_of_attempt and latest[known.settled] == max(known.times):
                latest[known.settled] = _LONG_AGO
            known.times.clear()
            known.values.clear()
        self._some.clear()
        self.values = 0


def _shape_of(metric: Metric) -> RecordShape:
    tags = metric.tags
    identity = identity_of_tags(tags)
    writer, of_event = Writer(identity.node or named(tags.get("host", "")), identity), is_event(metric)
    writer = writer.of_node if of_event else writer
    return RecordShape(mapping_of(metric), writer, writer.key, is_once(metric), of_event)
