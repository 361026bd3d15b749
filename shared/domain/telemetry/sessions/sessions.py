"""The sessions of a blob's agents: successive ones, and those of several nodes, kept apart.

An agent starts with a batch of startup records. So the first such record after samples, or one that a session already
has with another time, begins the next session: a retry, perhaps on another node, that appends to the same blob. Nodes,
tasks and attempts that write to one blob at the same time can be separated only by their records' tags.

Startup records often have no tags, even where the agent's samples do. So a task's session inherits its node's facts. A
host's session inherits facts received without tags right before it, where nobody else can have sent them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.sessions.session import Phase, Session, Writer

MAX_NODES = 16
"""Sessions (of nodes and of tasks) per blob at a time, so that their state fits into a row."""
MAX_TASKS = 12
"""Sessions of tasks among them, which leaves room for nodes; further tasks' samples count for their node, without
counters."""
MAX_SESSIONS = 1000
"""Sessions per blob in all, as a query for one reads the facts of all."""
_KEPT = 100  # of these, reserved for nodes
_SOON = 300_000_000_000  # nanoseconds within which an agent's first samples follow its startup records


@dataclass(slots=True)
class Sessions:
    """A blob's running sessions, by their writers' keys.

    `latest` are the nanoseconds of the last samples, by the number of the session. `left` are, by key, the last ended
    session without tags, whose agent may still write, and those that ended with it. `displaced` are the keys that
    recently made room for others. When these return they don't displace others immediately; otherwise writers with rare
    records would displace each other forever.
    """

    current: dict[str, Session] = field(default_factory=dict)
    begun: int = 0
    latest: dict[int, int] = field(default_factory=dict)
    left: dict[str, Session] = field(default_factory=dict)
    displaced: list[str] = field(default_factory=list)

    def has_room(self, writer: Writer) -> bool:
        """Returns whether one more session may run."""
        if len(self.current) >= MAX_NODES:
            return False
        return not writer.is_of_task or sum(1 for _ in self._candidates(writer)) < MAX_TASKS

    def is_spent(self, writer: Writer) -> bool:
        """Returns whether the blob has had all sessions that it may hold."""
        return self.begun >= MAX_SESSIONS - (_KEPT if writer.is_of_task else 0)

    def begin(self, writer: Writer, identity: Identity, *, is_once: bool = False) -> Session | None:
        """Begins the next session of a writer and ends its last; None where the blob has too many, running or in all.

        `identity` comes from the blob's name. `is_once` means that a startup record, not a sample, begins the session.
        """
        ended = self.current.get(writer.key)
        if ended:
            self.latest.pop(ended.number, None)
        if self.is_spent(writer):
            self.current.pop(writer.key, None)
            return None
        if ended is None and not self.has_room(writer):
            return None
        session = Session(self.begun, identity, writer.node, rival=self._unfollowed(ended))
        above, former = self._above(writer), self._former(writer)
        if above:
            is_certain = above.otherwise is None if above.host else is_once
            otherwise = session.of(former) if former and not is_certain else None
            session = replace(session.of(above, under=above.number), otherwise=otherwise)
        elif former:
            session = session.of(former)
        self.current[writer.key] = session
        self.begun += 1
        return session

    def end(self, key: str) -> Session:
        ended = self.current.pop(key)
        self.latest.pop(ended.number, None)
        return ended

    def displace(self, key: str) -> None:
        self.displaced = [*self.displaced, key][-MAX_NODES:]

    def followers(self, ended: Session) -> list[str]:
        """Returns the keys of the tasks' and the host's sessions that end with one without tags.

        With several hosts none ends: the first to continue would be mistaken for the next agent's.
        """
        hosted = {key: session.host for key, session in self.current.items() if session.host}
        is_only = len(set(hosted.values())) == 1 and any(session.host for _, session in self.under(ended.number))
        return [*(key for key, _ in self._tasks_of("")), *(hosted if is_only else ())]

    def leave(self, ended: Session, keys: Sequence[str]) -> None:
        """Remembers an ended session without tags and those that end with it, where a host is among them."""
        left = {key: replace(self.current[key], otherwise=None) for key in keys if self.current[key].host}
        self.left = left | {"": ended} if left else {}

    def give_back(self, writer: Writer, time: int | None) -> list[Session]:
        """Reassigns a host's sessions to the previous agent when another host sends the first samples.

        The startup records without tags then describe the other host. Returns the reassigned sessions.
        """
        untagged = self.current.get("")
        if untagged is None or not writer.of_node.is_host or time is None or untagged.phase is not Phase.OPENING:
            return []
        hosted = [session for _, session in self.under(untagged.number) if session.host]
        hosts = {session.host for session in hosted}
        if len(hosts) != 1 or writer.node in hosts or not all(session.otherwise for session in hosted):
            return []
        if any(time - at > _SOON for _, at in untagged.told):
            return []
        return [self._given_back(key) for key, one in self.current.items() if one.host in hosts and one.otherwise]

    def _given_back(self, key: str) -> Session:
        one, untagged = self.current[key], self.current[""].number
        under = -1 if one.under == untagged else one.under
        found = replace(one.otherwise or one, phase=one.phase, told=one.told, under=under)
        self.current[key] = found
        return found

    def hand_over(self, ended: Session | None, begun: Session) -> list[Session]:
        """Links tasks on a node to its next session, or to its first one, which may begin after theirs.

        Returns the tasks' sessions with the facts that they inherit.
        """
        numbers, found = {session.number for session in self.current.values()}, []
        for key, one in list(self._tasks_of(begun.host)):
            if ended or one.under not in numbers or one.under == begun.under:
                linked = self.current[key] = replace(one, under=begun.number).with_facts_of(begun)
                found.append(linked)
        return found

    def is_elsewhere(self, key: str, above: Session) -> bool:
        """Returns whether a task's session is of another node or job than the one above, even if their tags agree."""
        one = self.current[key]
        if key == one.host:
            return False
        (_, tagged_job, *_), node, own = key.split("\0"), above.identity, one.identity
        is_other_job = not tagged_job and own.job and node.job and own.job != node.job
        return bool(is_other_job or (own.node and node.node and own.node != node.node))

    def _tasks_of(self, node: str) -> Iterator[tuple[str, Session]]:
        """Yields sessions of tasks on a node, with their keys."""
        return ((key, session) for key, session in self.current.items() if session.host == node != key)

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
        """Returns the session whose startup records describe a writer: of its node, or for a sole host the untagged."""
        if writer.is_of_task and writer.node in self.current:
            return self.current[writer.node]
        untagged = self.current.get("")
        if untagged is None or not writer.of_node.is_host:
            return None
        hosts = {session.host for _, session in self.under(untagged.number) if session.host}
        is_only = hosts == {writer.node} or (not hosts and untagged.phase is Phase.OPENING)
        return untagged if is_only and untagged.rival in ("", untagged.identity.node) else None

    def _former(self, writer: Writer) -> Session | None:
        """Returns the ended session that a host, or a task on it, inherited from the previous agent without tags."""
        if not writer.of_node.is_host or not any(one.host == writer.node for one in self.left.values()):
            return None
        return self.left.get(writer.key) or self.left.get(writer.node) or self.left[""]

    def _unfollowed(self, ended: Session | None) -> str:
        """Returns the node in an ended agent's startup records without tags that no samples followed."""
        if ended is None or ended.host or ended.phase is not Phase.OPENING or self.under(ended.number):
            return ""
        return ended.identity.node or ended.rival
