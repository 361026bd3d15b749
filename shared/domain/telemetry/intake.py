"""Steps of a blob become what is kept of them: rollups by session, what sessions tell, and counts of what was left out.

An intake is made for a blob with the state in which the last one left it. Each step is taken on its own, and whoever
keeps what came of it keeps the state with it, at once: so nothing is counted twice or lost, wherever a host dies.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from shared.domain.stamps import to_milliseconds
from shared.domain.telemetry.blob_state import State
from shared.domain.telemetry.bundles import Bundle
from shared.domain.telemetry.decoding import Step
from shared.domain.telemetry.folding import MOST_SERIES, Alike, Fold, Memory
from shared.domain.telemetry.labels import Identity
from shared.domain.telemetry.likes import MOST_LIKES, Like, Likes, Remembered
from shared.domain.telemetry.metrics import Metric
from shared.domain.telemetry.once_records import is_of_batch
from shared.domain.telemetry.plans import Plan, likeness
from shared.domain.telemetry.sessions import Phase, Session, Writer
from shared.domain.telemetry.taken import Taken

_QUIET = 300_000_000_000  # nanoseconds after which a session makes room for another, where there is none
_TASK_QUIET = 150_000_000_000  # the same of a task's, as short ones follow each other soon; but for a displaced one


@dataclass(frozen=True, slots=True)
class Window:
    """Times that samples may have: from `since` up to `until`. Others are counted, and left out."""

    since: datetime
    until: datetime

    @property
    def nanoseconds(self) -> range:
        return range(to_milliseconds(self.since) * 1_000_000, to_milliseconds(self.until) * 1_000_000)


@dataclass(slots=True, eq=False)
class _Gathered:
    """Records that are alike: times and fields.

    `settled` is the session that all that is gathered is of. `of_node` is where their node has them if they are of one
    task too many.
    """

    plan: Plan
    writer: Writer
    key: str
    is_once: bool
    of_node: "_Gathered | None" = None
    settled: int = -1
    times: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


class Intake:
    """Takes the steps of one blob, in their order. `identity` is what the blob's name tells."""

    __slots__ = (
        "_bundled",
        "_full_until",
        "_gathered",
        "_identity",
        "_known",
        "_likes",
        "_most_series",
        "_times",
        "gathered_values",
        "state",
    )

    def __init__(
        self,
        identity: Identity,
        window: Window,
        state: State | None = None,
        *,
        most_series: int = MOST_SERIES,
        likes: Likes | None = None,
    ) -> None:
        self._identity = identity
        self._times = window.nanoseconds
        self._most_series = most_series
        self._likes = likes or Likes()
        self._known = Remembered[_Gathered]()
        self._bundled: dict[int, tuple[object, _Gathered]] = {}  # with what is known by its id, so that no other has it
        self._gathered: list[_Gathered] = []
        self._full_until: dict[tuple[bool, int], int] = {}
        self.gathered_values = 0
        self.state = state or State()

    def take(self, step: Step) -> Taken:
        """What comes of a step; `state` is then what belongs to its end."""
        taken = Taken(step.end)
        self.gather(step, taken)
        self.sum_up(taken)
        return taken

    def gather(self, step: Step, taken: Taken) -> None:
        """Adds a step to those before; `gathered_values` wait for `sum_up`, as many are quicker at once."""
        taken.end = step.end
        taken.rejected += step.rejected
        taken.records += step.records
        for bundle in step.bundles:
            self._gather_bundle(bundle, taken)
        self._gather_each(step.metrics, taken)

    def _gather_bundle(self, bundle: Bundle, taken: Taken) -> None:
        _, known = self._bundled.get(id(bundle.head)) or self._learn_bundle(bundle)
        session, times = self.state.sessions.current.get(known.key), bundle.times
        if known.is_once or min(times) not in self._times or max(times) not in self._times:
            self._gather_each(bundle.metrics(), taken)
            return
        if session is None or known.settled != session.number:
            known, session = self._settled(next(bundle.metrics()), known, len(times), taken)
        if session is None:
            for metric in bundle.metrics():
                taken.leave_out(metric, known.writer, session)
            return
        if not known.times:
            self._gathered.append(known)
        known.times += times
        known.values += bundle.values
        self.gathered_values += len(bundle.values)

    def _learn_bundle(self, bundle: Bundle) -> tuple[object, _Gathered]:
        first = next(bundle.metrics())
        like = likeness(first)
        found = bundle.head, self._known.known.get(like) or self._learn(like, first)
        if bundle.head is not None:
            if len(self._bundled) >= MOST_LIKES:
                self._bundled.clear()
            self._bundled[id(bundle.head)] = found
        return found

    def _gather_each(self, metrics: Iterable[Metric], taken: Taken) -> None:
        current, known_of = self.state.sessions.current, self._known.known.get
        times, gathered = self._times, self._gathered
        for metric in metrics:
            like = likeness(metric)
            known = known_of(like) or self._learn(like, metric)
            session = current.get(known.key)
            if known.is_once or session is None or known.settled != session.number:
                known, session = self._settled(metric, known, 1, taken)
            if session is None or metric.time is None or metric.time not in times:
                taken.leave_out(metric, known.writer, session)
            else:
                if not known.times:
                    gathered.append(known)
                known.times.append(metric.time)
                known.values += metric.fields.values()
                self.gathered_values += len(metric.fields)

    def _learn(self, like: Like, metric: Metric) -> _Gathered:
        alike = self._likes.of(like, metric)
        known = _Gathered(alike.plan, alike.writer, alike.writer.key, alike.is_once)
        self._known.keep(like, known)
        return known

    def _settled(
        self, metric: Metric, known: _Gathered, records: int, taken: Taken
    ) -> tuple[_Gathered, Session | None]:
        """Where so many records that are alike count, of which this is the first, and of which session."""
        session = self._noted(metric, known, taken)
        if session is None and known.writer.is_of_task and not known.is_once:
            return self._crowded(metric, known, records, taken)
        return known, session

    def _noted(self, metric: Metric, known: _Gathered, taken: Taken) -> Session | None:
        """The session that a record belongs to, which it may begin or tell of; None where there are too many."""
        sessions, writer = self.state.sessions, known.writer
        before = session = sessions.current.get(writer.key)
        if session is None or (known.is_once and session.is_over(metric)):
            session = self._begun(known, session, metric.time, taken)
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
            taken.sessions[session.number] = session
        self._tell_those_under(untold, session, taken, by_batch=is_of_batch(metric))
        known.settled = session.number
        return session

    def _crowded(
        self, metric: Metric, known: _Gathered, records: int, taken: Taken
    ) -> tuple[_Gathered, Session | None]:
        """Where samples of one task too many count, and the session: their node's, but for counters.

        Most of what agents sample is their node's, whichever task they name. But counters of several tasks would be
        read as one, which grows by the differences between them. No session where the node's is one of another task.
        """
        node = known.of_node
        if node is None:
            writer = known.writer.of_node
            node = known.of_node = _Gathered(known.plan.without_counters(), writer, writer.key, is_once=False)
        session = self.state.sessions.current.get(node.key)
        if session is None:
            session = self._noted(metric, node, taken)
        else:  # it ends no opening of the node, as no sample of a task that runs does
            node.settled = session.number
        if session is None or session.is_of_another_task(known.writer):
            return known, None
        if known.plan.counters and metric.time is not None and metric.time in self._times:
            taken.of_too_many_tasks += records
        return node, session

    def _tell_those_under(self, before: Session, session: Session, taken: Taken, *, by_batch: bool) -> None:
        """Tells sessions what the one above them tells now; tasks end that Batch's environment shows to be over."""
        if (before.identity, before.facts) == (session.identity, session.facts):
            return
        sessions = self.state.sessions
        for key, one in sessions.under(session.number):
            if by_batch and sessions.is_elsewhere(key, session):
                self.sum_up(taken)
                self._end(key)
                continue
            told = sessions.current[key] = taken.sessions[one.number] = one.with_told(session)
            self._tell_those_under(one, told, taken, by_batch=by_batch)

    def _begun(self, known: _Gathered, ended: Session | None, time: int | None, taken: Taken) -> Session | None:
        """The first session of a writer, or the one behind another, whose counters may be those of another node.

        With one without tags those of its tasks end, and that of the host that followed it. Under the same tag it is
        the same node, whose tasks go on.
        """
        sessions, writer, memory, followers = self.state.sessions, known.writer, None, list[str]()
        if ended:
            self.sum_up(taken)
            memory = self.state.memories.pop(ended.number, None)
            followers = [] if writer.node or writer.is_of_task else sessions.followers(ended)
        elif not sessions.is_spent(writer) and not sessions.has_room(writer):
            self._make_room(writer, time, taken)
        if not ended:
            taken.sessions |= {one.number: one for one in sessions.give_back(writer, time)}
        session = sessions.begin(writer, self._identity, is_once=known.is_once)
        if ended and not writer.key:
            sessions.leave(ended, followers)
        for key in followers:
            self._end(key)
        if session and writer.node and not writer.is_of_task:
            taken.sessions |= {one.number: one for one in sessions.hand_over(ended, session)}
        if session and memory:
            self.state.memories[session.number] = memory.of_next_session()
        return session

    def _make_room(self, writer: Writer, time: int | None, taken: Taken) -> None:
        """Ends the session that has been quiet for longest, if that is long enough."""
        sessions = self.state.sessions
        quiet = _TASK_QUIET if writer.is_of_task and writer.key not in sessions.displaced else _QUIET
        asked = writer.is_of_task, quiet
        if time is None or time not in self._times or time < self._full_until.get(asked, 0):
            return
        self.sum_up(taken)
        key, latest = sessions.quietest(writer, time) or (None, time)
        if key is not None and time - latest >= quiet:
            self._end(key)
            sessions.displace(key)
        else:
            self._full_until[asked] = latest + quiet

    def _end(self, key: str) -> None:
        """Ends a session of which nothing is gathered."""
        self._full_until.clear()
        self.state.memories.pop(self.state.sessions.end(key).number, None)

    def sum_up(self, taken: Taken) -> None:
        """Rolls up what was gathered; `state` is then what belongs to the end of what was taken."""
        some: dict[int, list[Alike]] = {}
        latest = self.state.sessions.latest
        for known in self._gathered:
            plan, records = known.plan, len(known.times)
            newest = max(known.times)
            latest[known.settled] = max(latest.get(known.settled, 0), newest)
            if plan.unknown:
                taken.count_unknown(plan.unknown, records)
            else:
                taken.unread_fields += plan.unread * records
                some.setdefault(known.settled, []).append(Alike(plan, known.times, known.values))
        for number, gathered in some.items():
            fold = self._fold(number, taken)
            fold.add(gathered)
            taken.add(number, fold)
        for known in self._gathered:
            known.times.clear()
            known.values.clear()
        self._gathered.clear()
        self.gathered_values = 0

    def _fold(self, session: int, taken: Taken) -> Fold:
        memory = self.state.memories.setdefault(session, Memory())
        return Fold(memory, taken.rollups.setdefault(session, {}), most_series=self._most_series)
