"""Buffers of similar records, which are rolled up together."""

from dataclasses import dataclass, field
from typing import Any

from shared.domain.telemetry.catalog.field_mappings import FieldMapping
from shared.domain.telemetry.rollups.folding import LEFT_TO_NODES, CounterCache, Fold, RecordGroup
from shared.domain.telemetry.sessions.blob_state import State
from shared.domain.telemetry.sessions.ingest_result import IngestResult
from shared.domain.telemetry.sessions.session import Writer

_LONG_AGO = 0
"""The nanosecond of the last sample of a session whose attempt has ended, so that it makes room for another at once."""


@dataclass(slots=True, eq=False)
class RecordBuffer:
    """Times and values of similar records.

    `settled` is the number of the session that all of them belong to. Startup records, events and ends of attempts are
    looked at `one_by_one`.
    """

    plan: FieldMapping
    writer: Writer
    key: str
    is_once: bool
    is_event: bool
    settled: int = -1
    times: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    one_by_one: bool = field(init=False)

    def __post_init__(self) -> None:
        self.one_by_one = self.is_once or self.is_event or self.is_end_of_attempt

    @property
    def is_end_of_attempt(self) -> bool:
        """Returns whether the records are sums of an attempt of a task, the last that an agent writes about it."""
        return self.plan.is_of_ended_attempt


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
