"""The minutes of nodes: their totals, from the rollups of a blob's steps, complete although two steps may share one.

A flush often ends within a minute, so a blob's tail keeps its last two minutes, in storage as well. What a step adds to
an earlier minute is read from the blob's own rows instead.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shared.domain.core.keys import key_of
from shared.domain.telemetry.catalog.catalog import ENDED_ATTEMPTS
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.pools.node_metrics import Member, fold_of, member_of
from shared.domain.telemetry.pools.node_shares import FILE_SYSTEM_IN_USE, FILE_SYSTEM_SIZES
from shared.domain.telemetry.pools.node_totals import NodeMinute, Total
from shared.domain.telemetry.query.cpu_total import TIME, UTILIZATION, with_cpu_total
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.rollups.rollups import Rollup, Rollups

_PART = re.compile(r"p?\d+$")
_REMEMBERED = 2


type NodeKey = tuple[str, str]
"""The keys of a pool, empty where it isn't known, and of a node."""
type Minutes = Mapping[int, Mapping[NodeKey, NodeMinute]]
"""Values of nodes by minute since 1970."""
type _Members = Sequence[tuple[Series, Member, Mapping[int, Rollup]]]


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


def minutes_of(rollups: Rollups) -> dict[int, NodeMinute]:
    """Returns a node's minutes since 1970, from its rollups by minute."""
    if not any(series.name == UTILIZATION for series in rollups) and any(series.name == TIME for series in rollups):
        rollups = with_cpu_total(rollups)
    groups: dict[Series, list[tuple[Series, Member, Mapping[int, Rollup]]]] = defaultdict(list)
    for series, periods in rollups.items():
        member = None if series.name.startswith(ENDED_ATTEMPTS) else member_of(series)
        if member:
            groups[member.metric].append((series, member, periods))
    found: dict[int, dict[Series, Total]] = defaultdict(dict)
    with_share = {minute for _, _, periods in groups.get(FILE_SYSTEM_IN_USE, ()) for minute in periods}
    for metric, members in groups.items():
        _add(found, metric, members)
        if metric in FILE_SYSTEM_SIZES:
            _add_devices(found, members, with_share)
    return {minute: NodeMinute.of(totals) for minute, totals in found.items()}


def _add(found: dict[int, dict[Series, Total]], metric: Series, members: _Members) -> None:
    """Adds the totals of a metric's series by minute, and those of devices where the highest is a metric."""
    some = _counted(members)
    is_counter, is_share, highest = fold_of(metric)
    by_minute: dict[int, list[Rollup]] = defaultdict(list)
    for series, member, periods in some:
        for minute, rollup in periods.items():
            by_minute[minute].append(rollup)
            if highest and member.is_device:
                found[minute][series] = Total(rollup.sum, 1 if is_counter else rollup.count)
    for minute, rollups in by_minute.items():
        counts = [1] if is_counter else [one.count for one in rollups]
        number = sum(counts) if is_share else max(counts)
        found[minute][metric] = Total(sum([one.sum for one in rollups]), number)


def _add_devices(found: dict[int, dict[Series, Total]], members: _Members, but: Collection[int]) -> None:
    """Adds the totals of a gauge's devices, except in some minutes."""
    for series, member, periods in members:
        if member.is_device:
            for minute in periods.keys() - but:
                found[minute][series] = Total(periods[minute].sum, periods[minute].count)


def _counted(members: _Members) -> _Members:
    """Returns the series that count: no cores where there is a total, and no partitions of a disk beside it."""
    some = [one for one in members if not one[1].is_core] or members
    disks = {member.disk for _, member, _ in some}
    return [one for one in some if not _is_part(one[1].disk, disks)] if len(disks) > 1 else some


def _is_part(disk: str, disks: Collection[str]) -> bool:
    """Returns whether a disk is a partition of another one."""
    whole = _PART.sub("", disk)
    return whole != disk and whole in disks
