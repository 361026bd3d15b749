"""A session, which is one agent's time in a blob, and the writer it belongs to."""

from dataclasses import dataclass, replace
from enum import IntEnum

from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.startup_records import LISTS, identity_of_record, is_of_batch, shown, single_of
from shared.domain.telemetry.sessions.node_facts import NodeFacts

_NO_FACTS, _NOBODY = NodeFacts(), Identity()


class Phase(IntEnum):
    """A session's phase: nothing received, receiving startup records, or receiving samples."""

    NEW = 0
    OPENING = 1
    RUNNING = 2


@dataclass(frozen=True, slots=True)
class Writer:
    """The writer of records, from their tags: the name of the node, else of its host, and the identity."""

    node: str
    identity: Identity

    @property
    def key(self) -> str:
        """Returns the node's name, followed by job, task and attempt where any is named."""
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
        """Returns the node as a writer, without a task."""
        return Writer(self.node, replace(self.identity, job="", task="", attempt=""))


@dataclass(frozen=True, slots=True)
class Session:
    """One agent's time in a blob; `number` counts from 0 in order of sessions' starts.

    `told` are the startup records and variables received of those that a session has once, with each one's nanosecond.
    `host` is the name of the node, or of its host, in the records' tags, used where the identity lacks a node. `under`
    is the number of the session whose startup records also describe this one. `has_facts` means that it received facts
    of its own.
    """

    number: int
    identity: Identity
    host: str = ""
    facts: NodeFacts = _NO_FACTS
    phase: Phase = Phase.NEW
    told: tuple[tuple[str, int], ...] = ()
    under: int = -1
    has_facts: bool = False

    @property
    def whose(self) -> Identity:
        """Returns the identity; the host's name replaces an unknown node."""
        return self.identity.over(Identity(node=self.host))

    def is_over(self, metric: Metric) -> bool:
        """Returns whether a startup record begins another session."""
        if self.phase is not Phase.OPENING:
            return self.phase is Phase.RUNNING
        single = single_of(shown(metric))
        return bool(single) and any(name == single and at != (metric.time or 0) for name, at in self.told)

    def with_record(self, metric: Metric) -> "Session":
        """Returns the session extended by a startup record."""
        safe = shown(metric)
        found = identity_of_record(safe)
        identity = found.over(self.identity) if is_of_batch(metric) else self.identity.over(found)
        facts = self.facts.with_record(safe)
        session = replace(self, identity=identity, facts=facts, has_facts=self.has_facts or facts != self.facts)
        return replace(session, phase=Phase.OPENING, told=self._told(safe))

    def with_tags(self, identity: Identity) -> "Session":
        """Returns the session extended by the identity in its records' tags."""
        return self if identity == _NOBODY else replace(self, identity=identity.within(self.identity))

    def of(self, above: "Session") -> "Session":
        """Returns the session with another one's identity and facts, and linked to it by `under`."""
        return replace(self, identity=above.identity, facts=above.facts, under=above.number)

    def _told(self, safe: Metric) -> tuple[tuple[str, int], ...]:
        """Returns `told` with a record that a session has once; of a list only the first, which begins each list."""
        single, known = single_of(safe), [name for name, _ in self.told]
        is_listed = safe.name in LISTS and any(name.startswith(f"{safe.name}/") for name in known)
        return self.told if not single or single in known or is_listed else (*self.told, (single, safe.time or 0))

    def with_facts_of(self, above: "Session") -> "Session":
        """Returns the session with the identity and facts of the one above.

        Facts of its own take precedence; inherited ones remain where the one above has none.
        """
        facts = self.facts if self.has_facts or above.facts == _NO_FACTS else above.facts
        return replace(self, identity=self.identity.within(above.identity), facts=facts)
