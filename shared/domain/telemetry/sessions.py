"""Who writes a blob: sessions of agents, one after the other and of several nodes, kept apart.

An agent begins with a batch of records that it tells once. So the first such record after others, or one that a session
has already told at another time, begins the next session: a retry, perhaps on another node, that appends to the same
blob. Nodes that write to one blob at once can be kept apart only where their records bear the tag of a node or a host.
"""

from dataclasses import dataclass, field, replace
from enum import IntEnum

from shared.domain.telemetry.labels import Identity
from shared.domain.telemetry.metrics import Metric
from shared.domain.telemetry.node_facts import NodeFacts
from shared.domain.telemetry.once_records import SINGLE, identity_of_record, is_of_batch, shown

_NO_FACTS = NodeFacts()
MOST_NODES = 16
"""That one blob may hold at a time, so that what must be remembered of them fits into a row."""
MOST_SESSIONS = 1000
"""That one blob may hold, as who asks for one reads what all have told."""


class Phase(IntEnum):
    """Of a session: nothing told yet, telling what it tells once, and sending samples."""

    NEW = 0
    OPENING = 1
    RUNNING = 2


@dataclass(frozen=True, slots=True)
class Session:
    """One agent's time in a blob; `number` counts from 0 in the order in which sessions begin.

    `told` are the records, of those that a session has once, with the nanosecond of each. `host` is the node's name, or
    its host's, as the records' tags have it: what it is called where the identity doesn't tell.
    """

    number: int
    identity: Identity
    host: str = ""
    facts: NodeFacts = _NO_FACTS
    phase: Phase = Phase.NEW
    told: tuple[tuple[str, int], ...] = ()

    @property
    def whose(self) -> Identity:
        """Whose it is; a host's name stands for that of a node that nothing tells."""
        return self.identity.over(Identity(node=self.host))

    def is_over(self, metric: Metric) -> bool:
        """Whether a record that is told once begins another session."""
        if self.phase is not Phase.OPENING:
            return self.phase is Phase.RUNNING
        return metric.name in SINGLE and any(name == metric.name and at != metric.time for name, at in self.told)

    def with_record(self, metric: Metric) -> "Session":
        """With what a record tells that is told once."""
        safe = shown(metric)
        told = self.told
        if metric.name in SINGLE and not any(name == metric.name for name, _ in told):
            told = (*told, (metric.name, metric.time or 0))
        found = identity_of_record(safe)
        identity = found.over(self.identity) if is_of_batch(metric) else self.identity.over(found)
        return replace(self, identity=identity, facts=self.facts.told(safe), phase=Phase.OPENING, told=told)


@dataclass(slots=True)
class Sessions:
    """The sessions under way in a blob, by the node or host that records are tagged with; by "" where they aren't."""

    current: dict[str, Session] = field(default_factory=dict)
    begun: int = 0

    def begin(self, node: str, identity: Identity) -> Session | None:
        """The next session of a node, whose last one is over; None where the blob has too many of either already."""
        if self.begun >= MOST_SESSIONS:
            self.current.pop(node, None)
            return None
        if node not in self.current and len(self.current) >= MOST_NODES:
            return None
        self.current[node] = Session(self.begun, identity, node)
        self.begun += 1
        return self.current[node]
