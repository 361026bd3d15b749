"""The minutes that a blob's steps contribute to its nodes, complete although two steps may share a minute.

A flush often ends within a minute, so the last two minutes are remembered. What a step adds to an earlier minute is
read from the blob's own rows instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shared.domain.core.keys import key_of
from shared.domain.telemetry.pools.node_metrics import NodeMinute, minutes_of
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.rollups.rollups import Rollups

type NodeKey = tuple[str, str]
"""The keys of a pool, empty where it isn't known, and of a node."""
type Minutes = Mapping[int, Mapping[NodeKey, NodeMinute]]
"""Values of nodes by minute since 1970."""
_REMEMBERED = 2


@dataclass(frozen=True, slots=True)
class StepMinutes:
    """The minutes of a step from `begin` to `end` of its blob; `unread` are those of sessions whose node isn't known.

    `is_renamed`: a session has another name than in the steps before.
    """

    begin: int
    end: int
    values: Minutes
    unread: frozenset[int] = frozenset()
    is_renamed: bool = False


@dataclass(frozen=True, slots=True)
class BlobMinutes:
    """What of a blob is to be projected after steps from `begin` to `end`: values of whole minutes, and `unread` ones.

    `begin` is None where it isn't known what is missing.
    """

    begin: int | None
    end: int
    values: Minutes = field(default_factory=dict)
    unread: frozenset[int] = frozenset()
    is_renamed: bool = False

    def followed_by(self, other: "BlobMinutes") -> "BlobMinutes":
        """Returns both together; minutes of the later steps include those of the earlier ones."""
        return replace(
            other,
            begin=self.begin,
            values={**self.values, **other.values},
            unread=self.unread | other.unread,
            is_renamed=self.is_renamed or other.is_renamed,
        )

    def without_values(self) -> "BlobMinutes":
        return replace(self, values={}, unread=self.unread | self.values.keys())


@dataclass(slots=True)
class BlobTail:
    """The last minutes of a blob as of the offset `end`.

    `newest` is the latest minute with data, unless steps before these aren't known (`is_known`).
    """

    end: int = 0
    newest: int = -1
    is_known: bool = True
    last: Minutes = field(default_factory=dict)

    def completed(self, step: StepMinutes) -> BlobMinutes:
        """Returns the minutes of a step, completed by those before, and moves the tail behind it."""
        if step.begin != self.end:
            self.is_known, self.last = False, {}
        values: dict[int, Mapping[NodeKey, NodeMinute]] = {}
        for minute, nodes in step.values.items():
            if minute in self.last:
                values[minute] = _merged(self.last[minute], nodes)
            elif self.is_known and minute > self.newest:
                values[minute] = nodes
        unread = step.unread | (step.values.keys() - values.keys())
        found = {minute: nodes for minute, nodes in values.items() if minute not in unread}
        latest = {minute: nodes for minute, nodes in {**self.last, **found}.items() if minute not in unread}
        self.last = {minute: latest[minute] for minute in sorted(latest)[-_REMEMBERED:]}
        self.newest = max((self.newest, *step.values, *step.unread))
        self.end = step.end
        return BlobMinutes(step.begin, step.end, found, frozenset(unread), step.is_renamed)

    def learn(self, newest: int) -> None:
        """Takes the latest minute of the blob's own rows."""
        self.newest, self.is_known = max(self.newest, newest), True


def step_minutes(
    begin: int, end: int, rollups: Mapping[int, Rollups], whose: Mapping[int, Identity], *, is_renamed: bool
) -> StepMinutes:
    """Returns the minutes of a step from the rollups of its sessions."""
    lacking = (rollups[session] for session in rollups.keys() - whose.keys())
    unread = frozenset(minute for some in lacking for periods in some.values() for minute in periods)
    return StepMinutes(begin, end, minutes_of_sessions(rollups, whose), unread, is_renamed)


def minutes_of_sessions(rollups: Mapping[int, Rollups], whose: Mapping[int, Identity]) -> Minutes:
    """Returns the minutes of nodes from the rollups of sessions; those of unknown or unnamed nodes are left out."""
    found: dict[int, dict[NodeKey, NodeMinute]] = {}
    for session, some in rollups.items():
        identity = whose.get(session)
        if identity is None or not identity.node:
            continue
        node = key_of(identity.pool), key_of(identity.node)
        for minute, values in minutes_of(some).items():
            nodes = found.setdefault(minute, {})
            nodes[node] = nodes[node].merged(values) if node in nodes else values
    return found


def _merged(one: Mapping[NodeKey, NodeMinute], other: Mapping[NodeKey, NodeMinute]) -> dict[NodeKey, NodeMinute]:
    both = {node: one[node].merged(values) for node, values in other.items() if node in one}
    return {**one, **other, **both}
