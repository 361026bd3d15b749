"""Ingestion of a blob's steps: rollups by session, facts of sessions, and counts of dropped records.

An intake is created for a blob with the state that the last one left. Rollups and state of a step are stored in one
transaction, so nothing is counted twice or lost, wherever a host dies. Sessions begin and end as records arrive.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.catalog.catalog import shape_key
from shared.domain.telemetry.decode.bundles import Bundle
from shared.domain.telemetry.decode.decoding import Step
from shared.domain.telemetry.records.bounds import SEARCHED_A_RECORD
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.rollups.folding import LEFT_TO_NODES
from shared.domain.telemetry.sessions.blob_state import (
    MAX_SHAPES,
    BoundedCache,
    IngestResult,
    RecordBuffer,
    RecordBuffers,
    ShapeCache,
    ShapeKey,
    State,
)
from shared.domain.telemetry.sessions.session import Phase, Session, Writer

_QUIET = 300_000_000_000  # nanoseconds after which a quiet session makes room for another, at the limit


@dataclass(frozen=True, slots=True)
class Window:
    """The time range of accepted samples, from `since` up to `until`; others are counted and dropped."""

    since: datetime
    until: datetime

    @property
    def nanoseconds(self) -> range:
        return range(to_milliseconds(self.since) * 1_000_000, to_milliseconds(self.until) * 1_000_000)


class Intake:
    """An ingester of one blob's steps, in order; `identity` comes from the blob's name.

    `searched` is the total length of names and tags of uncached records, which were searched for secrets. With
    `new_tasks` only so many sessions of tasks begin.
    """

    __slots__ = ("_bundled", "_gathering", "_keeper", "_known", "_shapes", "_times", "searched", "state")

    def __init__(
        self,
        identity: Identity,
        window: Window,
        state: State | None = None,
        *,
        shapes: ShapeCache | None = None,
        new_tasks: int | None = None,
    ) -> None:
        self.searched = 0
        self._times = window.nanoseconds
        self._shapes = shapes or ShapeCache()
        self._known = BoundedCache[RecordBuffer]()
        self._bundled: dict[int, tuple[object, RecordBuffer]] = {}  # holds the head, so that its id isn't reused
        self.state = state or State()
        self._gathering = RecordBuffers(self.state)
        self._keeper = SessionBuilder(self.state, identity, self._times, self._gathering, new_tasks)

    @property
    def gathered_values(self) -> int:
        """Returns the number of buffered values."""
        return self._gathering.values

    def take(self, step: Step) -> IngestResult:
        """Ingests a step and returns the result; `state` then belongs to the step's end."""
        result = IngestResult(step.end)
        self.gather(step, result)
        self.sum_up(result)
        return result

    def gather(self, step: Step, result: IngestResult) -> None:
        """Buffers a step; `sum_up` processes `gathered_values` later, as many together are faster."""
        result.end = step.end
        result.rejected += step.rejected
        result.dropped.records += step.records
        for bundle in step.bundles:
            self._gather_bundle(bundle, result)
        self._gather_each(step.metrics, result)

    def _gather_bundle(self, bundle: Bundle, result: IngestResult) -> None:
        _, known = self._bundled.get(id(bundle.head)) or self._learn_bundle(bundle)
        session, times = self.state.sessions.current.get(known.key), bundle.times
        if known.one_by_one or min(times) not in self._times or max(times) not in self._times:
            self._gather_each(bundle.metrics(), result)
            return
        if session is None or known.settled != session.number:
            session = self._keeper.settled(next(bundle.metrics()), known, result)
        if session is None:
            for metric in bundle.metrics():
                result.leave_out(metric, known.writer, session)
            return
        if not known.times:
            self._gathering.begin(known)
        known.times += times
        known.values += bundle.values
        self._gathering.values += len(bundle.values)

    def _learn_bundle(self, bundle: Bundle) -> tuple[object, RecordBuffer]:
        first = next(bundle.metrics())
        key = shape_key(first)
        found = bundle.head, self._known.known.get(key) or self._learn(key, first)
        if bundle.head is not None:
            if len(self._bundled) >= MAX_SHAPES:
                self._bundled.clear()
            self._bundled[id(bundle.head)] = found
        return found

    def _gather_each(self, metrics: Iterable[Metric], result: IngestResult) -> None:
        current, known_of = self.state.sessions.current, self._known.known.get
        times, gathering = self._times, self._gathering
        for metric in metrics:
            key = shape_key(metric)
            known = known_of(key) or self._learn(key, metric)
            session = current.get(known.key)
            if known.one_by_one or session is None or known.settled != session.number:
                session = self._looked_at(metric, known, session, result)
            if session is None or metric.time is None or metric.time not in times:
                result.leave_out(metric, known.writer, session)
            else:
                if not known.times:
                    gathering.begin(known)
                known.times.append(metric.time)
                known.values += metric.fields.values()
                gathering.values += len(metric.fields)

    def _looked_at(
        self, metric: Metric, known: RecordBuffer, session: Session | None, result: IngestResult
    ) -> Session | None:
        """Returns the session of a record that may begin, describe or end one, or is an event, which is added."""
        if known.is_once or session is None or known.settled != session.number:
            session = self._keeper.settled(metric, known, result)
        if known.is_end_of_attempt and session:
            self._keeper.note_end_of_attempt()
        if session and metric.time is not None and metric.time in self._times:
            if known.is_event:
                result.add_event(metric, metric.time, session)
            elif known.is_end_of_attempt:
                result.add_attempt(metric, session)
        return session

    def _learn(self, key: ShapeKey, metric: Metric) -> RecordBuffer:
        self.searched += SEARCHED_A_RECORD + sum(map(len, (metric.name, *metric.tags, *metric.tags.values())))
        known = self._shapes.of(key, metric).buffer()
        self._known.keep(key, known)
        return known

    def sum_up(self, result: IngestResult) -> None:
        """Rolls up the buffered records; `state` then belongs to the end of the ingested steps."""
        self._gathering.sum_up(result)


class SessionBuilder:
    """A keeper of one blob's sessions; `identity` comes from the blob's name, `times` are those of accepted samples.

    Buffered records are rolled up before a session ends. At most `new_tasks` sessions of tasks begin; None is no bound.
    """

    __slots__ = ("_full_until", "_gathering", "_identity", "_new_tasks", "_state", "_times")

    def __init__(
        self, state: State, identity: Identity, times: range, gathering: RecordBuffers, new_tasks: int | None = None
    ) -> None:
        self._state = state
        self._identity = identity
        self._times = times
        self._gathering = gathering
        self._new_tasks = new_tasks
        self._full_until: dict[bool, int] = {}

    def settled(self, metric: Metric, known: RecordBuffer, result: IngestResult) -> Session | None:
        """Returns the session of a record, which may begin or describe it; None where there are too many."""
        sessions, writer = self._state.sessions, known.writer
        before = session = sessions.current.get(known.key)
        if session is None or (known.is_once and session.is_over(metric)):
            session = self._begun(writer, session, metric.time, result)
            if session is None:
                return None
        begun = session
        if known.is_once:
            session = session.with_record(metric)
        elif session.phase is not Phase.RUNNING:
            session = replace(session, phase=Phase.RUNNING)
            sessions.run(session)
        session = session.with_tags(writer.identity)
        sessions.current[known.key] = session
        if session != before:
            result.sessions[session.number] = session
        self._update_sessions_under(begun, session, result)
        known.settled = session.number
        return session

    def note_end_of_attempt(self) -> None:
        """Lets the next task look for room again, as a session of an attempt that ended makes some."""
        self._full_until.clear()

    def _update_sessions_under(self, before: Session, session: Session, result: IngestResult) -> None:
        """Passes a session's new facts to those under it."""
        if (before.identity, before.facts) == (session.identity, session.facts):
            return
        sessions = self._state.sessions
        for key, one in sessions.under(session.number):
            changed = sessions.current[key] = result.sessions[one.number] = one.with_facts_of(session)
            self._update_sessions_under(one, changed, result)

    def _begun(self, writer: Writer, ended: Session | None, time: int | None, result: IngestResult) -> Session | None:
        """Begins the first session of a writer, or the next, whose counters may be those of another node."""
        sessions, memory = self._state.sessions, None
        if writer.is_of_task and self._new_tasks == 0:
            return None
        if ended:
            self._gathering.sum_up(result)
            memory = self._state.memories.get(ended.number)
            self._end(writer.key)
        elif not sessions.is_spent(writer) and not self._has_room(writer):
            self._make_room(writer, time, result)
        session = sessions.begin(writer, self._identity)
        if session and writer.is_of_task and self._new_tasks is not None:
            self._new_tasks -= 1
        if session and not writer.is_of_task:
            result.sessions |= {one.number: one for one in sessions.adopt(session)}
        if session and memory:
            self._state.memories[session.number] = memory.of_next_session()
        return session

    def _has_room(self, writer: Writer) -> bool:
        """Returns whether one more session may run, with series of its own."""
        left = LEFT_TO_NODES if writer.is_of_task else 0
        return self._state.sessions.has_room(writer) and self._state.room_for_series > left

    def _make_room(self, writer: Writer, time: int | None, result: IngestResult) -> None:
        """Ends the session that has been quiet for longest, if that is long enough."""
        if time is None or time not in self._times or time < self._full_until.get(writer.is_of_task, 0):
            return
        self._gathering.sum_up(result)
        key, latest = self._state.sessions.quietest(writer, time) or (None, time)
        if key is not None and time - latest >= _QUIET:
            self._end(key)
        else:
            self._full_until[writer.is_of_task] = latest + _QUIET

    def _end(self, key: str) -> None:
        """Ends a session without buffered records, and those under it."""
        self._full_until.clear()
        for ended in self._state.sessions.end(key):
            self._state.memories.pop(ended.number, None)
