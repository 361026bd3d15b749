"""The minutes that a blob's steps contribute to its nodes, complete although two steps may share a minute.

A flush often ends within a minute, so a blob's tail keeps its last two minutes, in storage as well. What a step adds to
an earlier minute is read from the blob's own rows instead.
"""

from collections.abc import Iterable, Mapping
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
    """The minutes of a step from `begin` to `end` of its blob; `unread` are those that aren't known here.

    `is_renamed`: a session has another name than in the steps before.
    """

    begin: int
    end: int
    values: Minutes = field(default_factory=dict)
    unread: frozenset[int] = frozenset()
    is_renamed: bool = False

    def without_values(self) -> "StepMinutes":
        return replace(self, values={}, unread=self.unread | self.values.keys())


@dataclass(frozen=True, slots=True)
class BlobMinutes:
    """What of a blob is to be projected: values of whole minutes, and `unread` ones.

    `is_gap`: steps before aren't projected, so that more minutes may be missing.
    """

    values: Minutes = field(default_factory=dict)
    unread: frozenset[int] = frozenset()
    is_gap: bool = False
    is_renamed: bool = False

    def followed_by(self, other: "BlobMinutes") -> "BlobMinutes":
        """Returns both together; minutes of the later steps include those of the earlier ones."""
        return BlobMinutes(
            {**self.values, **other.values},
            self.unread | other.unread,
            is_gap=self.is_gap or other.is_gap,
            is_renamed=self.is_renamed or other.is_renamed,
        )


@dataclass(slots=True)
class BlobTail:
    """The last minutes of a blob as of the offset `end`.

    `newest` is the latest minute with data, unless steps before these aren't known (`is_known`).
    """

    end: int = 0
    newest: int = -1
    is_known: bool = True
    last: Minutes = field(default_factory=dict)

    def completed(self, steps: Iterable[StepMinutes]) -> BlobMinutes:
        """Returns the minutes of steps, completed by those before, and moves the tail behind them.

        Steps before the tail's end are left out.
        """
        found = BlobMinutes()
        for step in steps:
            if step.end > self.end or step.is_renamed:
                found = found.followed_by(self._completed(step))
        return found

    def _completed(self, step: StepMinutes) -> BlobMinutes:
        is_gap = step.begin != self.end
        if is_gap:
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
        self.end = max(self.end, step.end)
        return BlobMinutes(found, frozenset(unread), is_gap=is_gap, is_renamed=step.is_renamed)

    def without_minutes(self) -> "BlobTail":
        """Returns the tail of a silent blob: its last minutes are read again if needed."""
        return replace(self, last={}) if self.last else self

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
