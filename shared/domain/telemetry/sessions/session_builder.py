"""Assignment of a blob's records to sessions, which it begins and ends as records arrive."""

from dataclasses import replace

from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.rollups.folding import LEFT_TO_NODES
from shared.domain.telemetry.sessions.blob_state import State
from shared.domain.telemetry.sessions.ingest_result import IngestResult
from shared.domain.telemetry.sessions.record_buffers import RecordBuffer, RecordBuffers
from shared.domain.telemetry.sessions.session import Phase, Session, Writer

_QUIET = 300_000_000_000  # nanoseconds after which a quiet session makes room for another, at the limit


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
        before = session = sessions.current.get(writer.key)
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
        sessions.current[writer.key] = session
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
