"""The sessions of a blob's agents: successive ones, and those of several writers, kept apart.

A blob has one agent at a time. An agent starts with a batch of startup records. So the first such record after samples,
or one that a session already has with another time, begins the next session: a retry, perhaps on another node, that
appends to the same blob. Nodes, tasks and attempts that one agent writes about are separated by their records' tags.

Startup records often have no tags, even where the agent's samples do. So a task's session inherits its node's facts,
and the first host that follows startup records without tags inherits those. A session ends with the one above it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.sessions.session import Phase, Session, Writer

MAX_NODES = 268
"""Sessions (of nodes and of tasks) per blob at a time, so that few series of each fit into a row."""
MAX_TASKS = 260
"""Sessions of tasks among them: Batch runs 256 on a node at once, and processes of its start task may stay."""
MAX_SESSIONS = 1000
"""Sessions per blob in all, as a query for one reads the facts of all."""
_KEPT = 100  # of these, reserved for nodes


@dataclass(slots=True)
class Sessions:
    """A blob's running sessions, by their writers' keys.

    `latest` are the nanoseconds of the last samples, by the number of the session.
    """

    current: dict[str, Session] = field(default_factory=dict)
    begun: int = 0
    latest: dict[int, int] = field(default_factory=dict)

    def has_room(self, writer: Writer) -> bool:
        """Returns whether one more session may run."""
        if len(self.current) >= MAX_NODES:
            return False
        return not writer.is_of_task or sum(1 for _ in self._candidates(writer)) < MAX_TASKS

    def is_spent(self, writer: Writer) -> bool:
        """Returns whether the blob has had all sessions that it may hold."""
        return self.begun >= MAX_SESSIONS - (_KEPT if writer.is_of_task else 0)

    def begin(self, writer: Writer, identity: Identity) -> Session | None:
        """Begins a session of a writer that has none; None where the blob has too many, running or in all.

        `identity` comes from the blob's name.
        """
        if self.is_spent(writer) or not self.has_room(writer):
            return None
        session, above = Session(self.begun, identity, writer.node), self._above(writer)
        if above:
            session = session.of(above)
        self.current[writer.key] = session
        self.begun += 1
        return session

    def end(self, key: str) -> list[Session]:
        """Ends a session and those under it; returns them."""
        ended = [self.current.pop(key)]
        self.latest.pop(ended[0].number, None)
        for other, _ in self.under(ended[0].number):
            ended += self.end(other)
        return ended

    def adopt(self, begun: Session) -> list[Session]:
        """Links tasks whose node had no session to its first one; returns them with the facts that they inherit."""
        found = []
        for key, one in self.current.items():
            if one.host == begun.host != key and one.under < 0:
                linked = self.current[key] = replace(one, under=begun.number).with_facts_of(begun)
                found.append(linked)
        return found

    def under(self, number: int) -> list[tuple[str, Session]]:
        """Returns the sessions that inherit from a session, with their keys."""
        return [(key, session) for key, session in self.current.items() if session.under == number]

    def run(self, session: Session) -> None:
        """Marks all sessions above a session as running, as samples now follow their startup records."""
        for key, above in self.current.items():
            if above.number == session.under and above.phase is not Phase.RUNNING:
                self.current[key] = replace(above, phase=Phase.RUNNING)
                self.run(above)

    def quietest(self, writer: Writer, now: int) -> tuple[str, int] | None:
        """Returns the key of the session whose end would make room for a writer, and the nanosecond of its last sample.

        A session without samples counts as active at the first call.
        """
        above = {session.under for session in self.current.values()}
        found = [(self.latest.setdefault(session.number, now), key) for key, session in self._candidates(writer)
                 if session.number not in above]  # fmt: skip
        return min(found)[::-1] if found else None

    def _candidates(self, writer: Writer) -> Iterator[tuple[str, Session]]:
        """Yields sessions, with their keys: only those of tasks if the writer is a task."""
        for key, session in self.current.items():
            if key != session.host or not writer.is_of_task:
                yield key, session

    def _above(self, writer: Writer) -> Session | None:
        """Returns the session whose startup records describe a writer: its node's, or the untagged of a first host."""
        if writer.is_of_task and writer.node in self.current:
            return self.current[writer.node]
        untagged = self.current.get("")
        if untagged is None or not writer.of_node.is_host:
            return None
        hosts = {session.host for _, session in self.under(untagged.number) if session.host}
        return untagged if hosts == {writer.node} or (not hosts and untagged.phase is Phase.OPENING) else None
