"""Who writes a blob: sessions of agents, one after the other and of several nodes, kept apart.

An agent begins with a batch of records that it tells once. So the first such record after others, or one that a session
has already told at another time, begins the next session: a retry, perhaps on another node, that appends to the same
blob. Nodes, tasks and attempts that write to one blob at once can be kept apart only by tags of their records.

What is told once often bears no tags, whatever the agent's samples do. So a session of a task has what its node's
session told, and one of a host what was told without tags right before it, where nobody else can have told that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.sessions.session import Phase, Session, Writer

MOST_NODES = 16
"""That one blob may hold at a time, so that what must be remembered of them fits into a row; a task counts like one."""
MOST_TASKS = 12
"""Of them, so that nodes have a place beside them; samples of more tasks are their node's, but for counters."""
MOST_SESSIONS = 1000
"""That one blob may hold, as who asks for one reads what all have told."""
_KEPT = 100  # of these, for nodes
_SOON = 300_000_000_000  # nanoseconds in which the first samples follow what an agent tells once


@dataclass(slots=True)
class Sessions:
    """The sessions under way in a blob, by the keys of their writers.

    `latest` are the nanoseconds of the last samples of those that have any, by the numbers of sessions. `left` are, by
    their keys, those of the agent without tags that ended with it, and itself: that agent may still write. `displaced`
    are the keys of those that made room for others lately: they make none at once when they come back, or writers that
    all are heard of rarely would displace each other for ever.
    """

    current: dict[str, Session] = field(default_factory=dict)
    begun: int = 0
    latest: dict[int, int] = field(default_factory=dict)
    left: dict[str, Session] = field(default_factory=dict)
    displaced: list[str] = field(default_factory=list)

    def has_room(self, writer: Writer) -> bool:
        """Whether there may be one more at a time."""
        if len(self.current) >= MOST_NODES:
            return False
        return not writer.is_of_task or sum(1 for _ in self._candidates(writer)) < MOST_TASKS

    def is_spent(self, writer: Writer) -> bool:
        """Whether the blob has had all the sessions that it may hold."""
        return self.begun >= MOST_SESSIONS - (_KEPT if writer.is_of_task else 0)

    def begin(self, writer: Writer, identity: Identity, *, is_once: bool = False) -> Session | None:
        """The next session of a writer, whose last one is over; None where the blob has too many of either already.

        `identity` is what the blob's name tells. A host begins it by telling something once, or by samples.
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
        self.displaced = [*self.displaced, key][-MOST_NODES:]

    def followers(self, ended: Session) -> list[str]:
        """The keys of sessions that end with one without tags: of its tasks, and of the host that followed it.

        Where there are several hosts, of none: the first one to go on would be taken for that of the next agent.
        """
        hosted = {key: session.host for key, session in self.current.items() if session.host}
        is_only = len(set(hosted.values())) == 1 and any(session.host for _, session in self.under(ended.number))
        return [*(key for key, _ in self._tasks_of("")), *(hosted if is_only else ())]

    def leave(self, ended: Session, keys: Sequence[str]) -> None:
        """Keeps in mind what a session without tags and those that end with it were, where a host is among them."""
        left = {key: replace(self.current[key], otherwise=None) for key in keys if self.current[key].host}
        self.left = left | {"": ended} if left else {}

    def give_back(self, writer: Writer, time: int | None) -> list[Session]:
        """Takes a host's samples for those of the agent before, as another one sends the first after what was told.

        So the new host has what was told without tags. The sessions that are given back.
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
        """Puts the tasks on a node under its next session, or its first one, which they may have come before.

        They, with what they have of it.
        """
        numbers, found = {session.number for session in self.current.values()}, []
        for key, one in list(self._tasks_of(begun.host)):
            if ended or one.under not in numbers or one.under == begun.under:
                told = self.current[key] = replace(one, under=begun.number).with_told(begun)
                found.append(told)
        return found

    def is_elsewhere(self, key: str, above: Session) -> bool:
        """Whether a task's session is of another node or job than the one above, whatever its tags have the same."""
        one = self.current[key]
        if key == one.host:
            return False
        (_, tagged_job, *_), told, own = key.split("\0"), above.identity, one.identity
        is_other_job = not tagged_job and own.job and told.job and own.job != told.job
        return bool(is_other_job or (own.node and told.node and own.node != told.node))

    def _tasks_of(self, node: str) -> Iterator[tuple[str, Session]]:
        """Sessions of tasks on a node, with their keys."""
        return ((key, session) for key, session in self.current.items() if session.host == node != key)

    def under(self, number: int) -> list[tuple[str, Session]]:
        """Those that have what a session told, with their keys."""
        return [(key, session) for key, session in self.current.items() if session.under == number]

    def run(self, session: Session) -> None:
        """Notes that samples follow what was told once above a session, and above that."""
        for key, above in self.current.items():
            if above.number == session.under and above.phase is not Phase.RUNNING:
                self.current[key] = replace(above, phase=Phase.RUNNING)
                self.run(above)

    def quietest(self, writer: Writer, now: int) -> tuple[str, int] | None:
        """The key of the session whose end would make room for a writer, and the nanosecond of its last sample.

        One without any counts as heard of when this is asked first.
        """
        above = {session.under for session in self.current.values()}
        found = [(self.latest.setdefault(session.number, now), key) for key, session in self._candidates(writer)
                 if session.number not in above]  # fmt: skip
        return min(found)[::-1] if found else None

    def _candidates(self, writer: Writer) -> Iterator[tuple[str, Session]]:
        """Sessions of tasks, if the writer is of one, or else all, with their keys."""
        for key, session in self.current.items():
            if key != session.host or not writer.is_of_task:
                yield key, session

    def _above(self, writer: Writer) -> Session | None:
        """The session that tells what is told once of a writer: of a task's node, or of a host that is the only one."""
        if writer.is_of_task and writer.node in self.current:
            return self.current[writer.node]
        untagged = self.current.get("")
        if untagged is None or not writer.of_node.is_host:
            return None
        hosts = {session.host for _, session in self.under(untagged.number) if session.host}
        is_only = hosts == {writer.node} or (not hosts and untagged.phase is Phase.OPENING)
        return untagged if is_only and untagged.rival in ("", untagged.identity.node) else None

    def _former(self, writer: Writer) -> Session | None:
        """What a host or a task on it had of the agent before the last one without tags, if that had it, too."""
        if not writer.of_node.is_host or not any(one.host == writer.node for one in self.left.values()):
            return None
        return self.left.get(writer.key) or self.left.get(writer.node) or self.left[""]

    def _unfollowed(self, ended: Session | None) -> str:
        """The node that an agent told of without tags, and sent no samples of until another began."""
        if ended is None or ended.host or ended.phase is not Phase.OPENING or self.under(ended.number):
            return ""
        return ended.identity.node or ended.rival
