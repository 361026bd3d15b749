"""A session, one agent's time in a blob, and the writer whose it is."""

from dataclasses import dataclass, replace
from enum import IntEnum

from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.once_records import LISTS, identity_of_record, is_of_batch, shown, single_of
from shared.domain.telemetry.sessions.node_facts import NodeFacts

_NO_FACTS, _NOBODY = NodeFacts(), Identity()


class Phase(IntEnum):
    """Of a session: nothing told yet, telling what it tells once, and sending samples."""

    NEW = 0
    OPENING = 1
    RUNNING = 2


@dataclass(frozen=True, slots=True)
class Writer:
    """By whom records are, as their tags tell: the name of the node, or else of its host, and whose they are."""

    node: str
    identity: Identity

    @property
    def key(self) -> str:
        """The node's name alone where no task is named."""
        identity = self.identity
        task = (identity.job, identity.task, identity.attempt)
        return "\0".join((self.node, *task)) if any(task) else self.node

    @property
    def is_of_task(self) -> bool:
        return self.key != self.node

    @property
    def is_host(self) -> bool:
        return bool(self.node) and not self.identity.node and not self.is_of_task

    @property
    def of_node(self) -> "Writer":
        """The node itself, whatever task is named."""
        return Writer(self.node, replace(self.identity, job="", task="", attempt=""))


@dataclass(frozen=True, slots=True)
class Session:
    """One agent's time in a blob; `number` counts from 0 in the order in which sessions begin.

    `told` are the records and variables, of those that a session has once, with the nanosecond of each. `host` is the
    node's name, or its host's, as the records' tags have it: what it is called where the identity doesn't tell. A
    session is `under` the one of that number whose records tell of it, too. `rival` is the node of what was told
    without tags before and no samples followed: whose the next ones are isn't certain then. `otherwise` is what the
    session is if its samples are of the agent before, which may write on while the next one has told whose it is. It
    `has_facts` if it told some itself.
    """

    number: int
    identity: Identity
    host: str = ""
    facts: NodeFacts = _NO_FACTS
    phase: Phase = Phase.NEW
    told: tuple[tuple[str, int], ...] = ()
    under: int = -1
    rival: str = ""
    otherwise: "Session | None" = None
    has_facts: bool = False

    @property
    def whose(self) -> Identity:
        """Whose it is; a host's name stands for that of a node that nothing tells."""
        return self.identity.over(Identity(node=self.host))

    def is_over(self, metric: Metric) -> bool:
        """Whether a record that is told once begins another session."""
        if self.phase is not Phase.OPENING:
            return self.phase is Phase.RUNNING
        single = single_of(shown(metric))
        return bool(single) and any(name == single and at != (metric.time or 0) for name, at in self.told)

    def is_of_another_task(self, writer: Writer) -> bool:
        """Whether it tells of a job or a task other than a writer's."""
        own, other = self.identity, writer.identity
        return bool((own.task and own.task != other.task) or (own.job and other.job and own.job != other.job))

    def with_record(self, metric: Metric) -> "Session":
        """With what a record tells that is told once."""
        safe = shown(metric)
        found = identity_of_record(safe)
        identity = found.over(self.identity) if is_of_batch(metric) else self.identity.over(found)
        otherwise = self.otherwise.with_record(metric) if self.otherwise else None
        facts = self.facts.told(safe)
        told = replace(self, identity=identity, facts=facts, has_facts=self.has_facts or facts != self.facts)
        return replace(told, phase=Phase.OPENING, told=self._told(safe), otherwise=otherwise)

    def with_tags(self, identity: Identity) -> "Session":
        """With what tags of its records tell."""
        if identity == _NOBODY:
            return self
        otherwise = self.otherwise.with_tags(identity) if self.otherwise else None
        return replace(self, identity=identity.within(self.identity), otherwise=otherwise)

    def of(self, above: "Session", *, under: int = -1) -> "Session":
        """With what another one has told, and all that it tells from now on if it is under it."""
        return replace(self, identity=above.identity, facts=above.facts, under=under)

    def _told(self, safe: Metric) -> tuple[tuple[str, int], ...]:
        """With a record that a session has once; of a list the first does, as the next list begins with it, too."""
        single, known = single_of(safe), [name for name, _ in self.told]
        is_listed = safe.name in LISTS and any(name.startswith(f"{safe.name}/") for name in known)
        return self.told if not single or single in known or is_listed else (*self.told, (single, safe.time or 0))

    def with_told(self, above: "Session") -> "Session":
        """With what the session above it has told; facts that it told itself, or were told before, last."""
        facts = self.facts if self.has_facts or above.facts == _NO_FACTS else above.facts
        return replace(self, identity=self.identity.within(above.identity), facts=facts)
