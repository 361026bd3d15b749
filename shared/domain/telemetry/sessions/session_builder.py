"""Assignment of a blob's records to sessions, which it begins and ends as records arrive."""

from dataclasses import replace

from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.startup_records import is_of_batch
from shared.domain.telemetry.sessions.blob_state import State
from shared.domain.telemetry.sessions.ingest_result import IngestResult
from shared.domain.telemetry.sessions.record_buffers import RecordBuffer, RecordBuffers
from shared.domain.telemetry.sessions.session import Phase, Session, Writer

_QUIET = 300_000_000_000  # nanoseconds after which a quiet session makes room for another, at the limit
_TASK_QUIET = 150_000_000_000  # the same for a task's, as short tasks follow each other soon; not for a displaced one


class SessionBuilder:
    """A keeper of one blob's sessions; `identity` comes from the blob's name, `times` are those of accepted samples.

    Buffered records are rolled up before a session ends.
    """

    __slots__ = ("_full_until", "_gathering", "_identity", "_state", "_times")

    def __init__(self, state: State, identity: Identity, times: range, gathering: RecordBuffers) -> None:
        self._state = state
        self._identity = identity
        self._times = times
        self._gathering = gathering
        self._full_until: dict[tuple[bool, int], int] = {}

    def settled(
        self, metric: Metric, known: RecordBuffer, records: int, result: IngestResult
    ) -> tuple[RecordBuffer, Session | None]:
        """Returns the buffer and the session for `records` similar records, the first of them given."""
        session = self._noted(metric, known, result)
        if session is None and known.writer.is_of_task and not known.is_once:
            return self._crowded(metric, known, records, result)
        return known, session

    def _noted(self, metric: Metric, known: RecordBuffer, result: IngestResult) -> Session | None:
        """Returns the session of a record, which may begin or describe it; None where there are too many."""
        sessions, writer = self._state.sessions, known.writer
        before = session = sessions.current.get(writer.key)
        if session is None or (known.is_once and session.is_over(metric)):
            session = self._begun(known, session, metric.time, result)
            if session is None:
                return None
        untold = session
        if known.is_once:
            session = session.with_record(metric)
        elif session.phase is not Phase.RUNNING:
            session = replace(session, phase=Phase.RUNNING)
            if not session.otherwise:
                sessions.run(session)
        session = session.with_tags(writer.identity)
        sessions.current[writer.key] = session
        if session != before:
            result.sessions[session.number] = session
        self._update_sessions_under(untold, session, result, by_batch=is_of_batch(metric))
        known.settled = session.number
        return session

    def _crowded(
        self, metric: Metric, known: RecordBuffer, records: int, result: IngestResult
    ) -> tuple[RecordBuffer, Session | None]:
        """Returns buffer and session for samples of one task too many: those of their node, without counters.

        Most samples describe the node, whichever task they name. But counters of several tasks would be read as one,
        which grows by the differences between them. No session is returned where the node's session is of another task.
        """
        node = known.of_node
        if node is None:
            writer = known.writer.of_node
            node = known.of_node = RecordBuffer(known.plan.without_counters(), writer, writer.key, is_once=False)
        session = self._state.sessions.current.get(node.key)
        if session is None:
            session = self._noted(metric, node, result)
        else:  # the node's startup phase continues, as with any sample of a running task
            node.settled = session.number
        if session is None:
            return node, None
        if session.is_of_another_task(known.writer):
            return known, None
        if known.plan.counters and metric.time is not None and metric.time in self._times:
            result.dropped.of_too_many_tasks += records
        return node, session

    def _update_sessions_under(
        self, before: Session, session: Session, result: IngestResult, *, by_batch: bool
    ) -> None:
        """Passes a session's new facts to those under it, and ends tasks that Batch's environment shows to be over."""
        if (before.identity, before.facts) == (session.identity, session.facts):
            return
        sessions = self._state.sessions
        for key, one in sessions.under(session.number):
            if by_batch and sessions.is_elsewhere(key, session):
                self._gathering.sum_up(result)
                self._end(key)
                continue
            changed = sessions.current[key] = result.sessions[one.number] = one.with_facts_of(session)
            self._update_sessions_under(one, changed, result, by_batch=by_batch)

    def _begun(
        self, known: RecordBuffer, ended: Session | None, time: int | None, result: IngestResult
    ) -> Session | None:
        """Begins the first session of a writer, or the next, whose counters may be those of another node.

        The next session of a writer without tags ends those of its tasks and of the host that followed it. Under the
        same tag it is the same node, so its tasks continue.
        """
        sessions, writer, memory, followers = self._state.sessions, known.writer, None, list[str]()
        if ended:
            self._gathering.sum_up(result)
            memory = self._state.memories.pop(ended.number, None)
            followers = [] if writer.node or writer.is_of_task else sessions.followers(ended)
        elif not sessions.is_spent(writer) and not sessions.has_room(writer):
            self._make_room(writer, time, result)
        if not ended:
            result.sessions |= {one.number: one for one in sessions.give_back(writer, time)}
        session = sessions.begin(writer, self._identity, is_once=known.is_once)
        if ended and not writer.key:
            sessions.leave(ended, followers)
        for key in followers:
            self._end(key)
        if session and writer.node and not writer.is_of_task:
            result.sessions |= {one.number: one for one in sessions.hand_over(ended, session)}
        if session and memory:
            self._state.memories[session.number] = memory.of_next_session()
        return session

    def _make_room(self, writer: Writer, time: int | None, result: IngestResult) -> None:
        """Ends the session that has been quiet for longest, if that is long enough."""
        sessions = self._state.sessions
        quiet = _TASK_QUIET if writer.is_of_task and writer.key not in sessions.displaced else _QUIET
        asked = writer.is_of_task, quiet
        if time is None or time not in self._times or time < self._full_until.get(asked, 0):
            return
        self._gathering.sum_up(result)
        key, latest = sessions.quietest(writer, time) or (None, time)
        if key is not None and time - latest >= quiet:
            self._end(key)
            sessions.displace(key)
        else:
            self._full_until[asked] = latest + quiet

    def _end(self, key: str) -> None:
        """Ends a session without buffered records."""
        self._full_until.clear()
        self._state.memories.pop(self._state.sessions.end(key).number, None)
