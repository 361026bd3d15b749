"""A pool's metrics: the series of a node without its devices, so that nodes with other devices compare.

Attributes with few values, such as a mode or a direction, stay. Those that name a device, a core, a process or a
container are left out: their counters add up, and so do gauges, except shares, temperatures and custom metrics, of
which the mean counts. Of shares, temperatures and busy times the highest device is a metric of its own.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from shared.domain.telemetry.catalog.catalog import ENDED_ATTEMPTS, instruments, plugins
from shared.domain.telemetry.catalog.custom_metrics import NAME, UNIT, ShownName, shown_name
from shared.domain.telemetry.catalog.field_mappings import SOURCE
from shared.domain.telemetry.catalog.series import CUSTOM, Attributes, Kind, Series
from shared.domain.telemetry.query.cpu_total import CORE, TIME, UTILIZATION, with_cpu_total
from shared.domain.telemetry.rollups.rollups import Rollup, Rollups

HIGHEST = ("batchscope.device", "highest")
"""The attribute of a metric that is the highest among a node's devices."""
CPU_IN_USE = Series(UTILIZATION)
"""The share of all cores that isn't idle."""
MEMORY_IN_USE = Series("system.memory.utilization", (("system.memory.state", "used"),))
_CPU_IDLE = Series(UTILIZATION, (("cpu.mode", "idle"),))
_MEMORY_USED = Series("system.memory.usage", (("system.memory.state", "used"),))
_MEMORY_LIMIT = Series("system.memory.limit")
_PRESSURE = ("batchscope.pressure.resource", "batchscope.pressure.type")
_DEVICE, _INTERFACE, _FILE_SYSTEM = "system.device", "network.interface.name", "system.filesystem.type"
_VIRTUAL = {
    _DEVICE: re.compile(r"(loop|ram|zram|sr|fd|dm-|md)\d"),
    _INTERFACE: re.compile(r"(lo|docker|veth|br-|virbr|cni|flannel|ifb|enP\d|all$)"),
    _FILE_SYSTEM: re.compile(r"(tmpfs|devtmpfs|overlay|squashfs|aufs|ramfs|proc|sysfs|fuse\.lxcfs)$"),
}
_OF_DISKS = "system.disk."
_PART = re.compile(r"p?\d+$")
_OF_SHARES = ("1", "Cel")  # units whose values have a mean, and no sum
_NAME = re.compile(r"(?!.*__)[a-z][a-z0-9_.]{0,110}[a-z0-9]", re.IGNORECASE)
"""Names of metrics that can be stored; all of the catalog can."""
_MAX_KNOWN = 20_000  # series whose metrics are cached


class Total(NamedTuple):
    """The sum of a node's values in a period, and their number; of a counter its growth, and 1."""

    sum: float
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The series of a node's minute, which nodes alike share: places of `metrics`, and of devices by `highest` one."""

    series: tuple[Series, ...]
    metrics: Sequence[tuple[Series, int]]
    highest: Sequence[tuple[Series, Sequence[int]]]

    @classmethod
    def of(cls, series: tuple[Series, ...]) -> "Layout":
        devices: dict[Series, list[int]] = defaultdict(list)
        metrics = []
        for at, one in enumerate(series):
            highest = _highest_of(one)
            if highest:
                devices[highest].append(at)
            else:
                metrics.append((one, at))
        return cls(series, metrics, list(devices.items()))


@dataclass(frozen=True, slots=True)
class NodeMinute:
    """The totals of a node's metrics in a minute, and of devices of which the highest counts, in the order of `layout`.

    Totals of two parts of a minute add up; of devices the highest is only known of the whole minute.
    """

    layout: Layout
    sums: "array[float]"
    counts: "array[int]"

    @classmethod
    def of(cls, totals: Mapping[Series, Total]) -> "NodeMinute":
        sums, counts = zip(*totals.values(), strict=True) if totals else ((), ())
        return cls(layout_of(tuple(totals)), array("d", sums), array("I", counts))

    @property
    def totals(self) -> dict[Series, Total]:
        return dict(zip(self.layout.series, map(Total, self.sums, self.counts), strict=True))

    @property
    def metrics(self) -> Iterator[tuple[Series, float, int]]:
        """Yields sums and numbers of metrics, with the highest of devices."""
        sums, counts = self.sums, self.counts
        for metric, at in self.layout.metrics:
            yield metric, sums[at], counts[at]
        for metric, places in self.layout.highest:
            at = max(places, key=lambda place: sums[place] / counts[place])
            yield metric, sums[at], counts[at]

    def merged(self, other: "NodeMinute") -> "NodeMinute":
        """Returns both parts of a minute together."""
        found = self.totals
        for metric, total in other.totals.items():
            before = found.get(metric)
            found[metric] = merged_totals(metric, before, total) if before else total
        return NodeMinute.of(found)


class _Member(NamedTuple):
    """A series as a part of a metric: the disk that it is about, and whether it is about a device or a core."""

    metric: Series
    disk: str
    is_device: bool
    is_core: bool


class _Fold(NamedTuple):
    """How the values of a metric's series become one: they add up, or have a mean; and whether the highest counts."""

    is_counter: bool
    is_share: bool
    has_highest: bool


type _Members = Sequence[tuple[Series, _Member, Mapping[int, Rollup]]]


@cache
def kind_of(name: str) -> Kind:
    """Returns the kind of a metric; one that the catalog lacks is a gauge."""
    known = instruments().get(name)
    return known.kind if known else Kind.GAUGE


def shown_metric(metric: Series) -> ShownName:
    """Returns a metric as answers show it: name, attributes and unit (UCUM), of a counter that of growth per second."""
    known = instruments().get(metric.name)
    shown = shown_name(metric, known.unit if known else "")
    if kind_of(metric.name) is Kind.GAUGE:
        return shown
    return shown._replace(unit="1" if shown.unit == "s" else f"{shown.unit}/s")


def merged_totals(metric: Series, one: Total, other: Total) -> Total:
    """Returns the total of two parts of one minute."""
    is_counter = kind_of(metric.name) is Kind.COUNTER
    return Total(one.sum + other.sum, 1 if is_counter else one.number + other.number)


def minutes_of(rollups: Rollups) -> dict[int, NodeMinute]:
    """Returns a node's minutes since 1970, from its rollups by minute."""
    if not any(series.name == UTILIZATION for series in rollups) and any(series.name == TIME for series in rollups):
        rollups = with_cpu_total(rollups)
    groups: dict[Series, list[tuple[Series, _Member, Mapping[int, Rollup]]]] = defaultdict(list)
    for series, periods in rollups.items():
        member = None if series.name.startswith(ENDED_ATTEMPTS) else _member_of(series)
        if member:
            groups[member.metric].append((series, member, periods))
    found: dict[int, dict[Series, Total]] = defaultdict(dict)
    for metric, members in groups.items():
        _add(found, metric, members)
    return {minute: NodeMinute.of(_with_shares(totals)) for minute, totals in found.items()}


def _add(found: dict[int, dict[Series, Total]], metric: Series, members: _Members) -> None:
    """Adds the totals of a metric's series by minute, and those of devices where the highest is a metric."""
    some = _counted(members)
    is_counter, is_share, highest = _fold_of(metric)
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


@lru_cache(_MAX_KNOWN)
def _fold_of(metric: Series) -> _Fold:
    known, is_counter = instruments().get(metric.name), kind_of(metric.name) is Kind.COUNTER
    unit, is_custom = known.unit if known else "", metric.name.startswith(CUSTOM)
    is_share = not is_counter and (is_custom or unit in _OF_SHARES)
    has_highest = not is_custom and (is_share or (is_counter and unit == "s"))
    return _Fold(is_counter, is_share, has_highest)


@lru_cache(_MAX_KNOWN)
def _highest_of(series: Series) -> Series | None:
    """Returns the metric that is the highest of a device and others; None for a metric."""
    member = _member_of(series)
    if member is None or not member.is_device:
        return None
    return Series(series.name, tuple(sorted((*member.metric.attributes, HIGHEST))))


def _counted(members: _Members) -> _Members:
    """Returns the series that count: no cores where there is a total, and no partitions of a disk beside it."""
    some = [one for one in members if not one[1].is_core] or members
    disks = {member.disk for _, member, _ in some}
    return [one for one in some if not _is_part(one[1].disk, disks)] if len(disks) > 1 else some


def _with_shares(totals: dict[Series, Total]) -> dict[Series, Total]:
    """Adds the shares of CPU and memory in use, where an agent reports others that they follow from."""
    idle, used, limit = totals.get(_CPU_IDLE), totals.get(_MEMORY_USED), totals.get(_MEMORY_LIMIT)
    if idle:
        totals[CPU_IN_USE] = Total(idle.number - idle.sum, idle.number)
    if used and limit and limit.sum > 0 and MEMORY_IN_USE not in totals:
        totals[MEMORY_IN_USE] = Total(used.sum / (limit.sum / limit.number), used.number)
    return totals


def _is_part(disk: str, disks: Collection[str]) -> bool:
    """Returns whether a disk is a partition of another one."""
    whole = _PART.sub("", disk)
    return whole != disk and whole in disks


@lru_cache(_MAX_KNOWN)
def _member_of(series: Series) -> _Member | None:
    """Returns the metric that a series is a part of; None for virtual devices, and names that can't be stored."""
    own = dict(series.attributes)
    is_virtual = any(name in own and pattern.match(own[name]) for name, pattern in _VIRTUAL.items())
    if is_virtual or not _NAME.fullmatch(series.name):
        return None
    kept: Attributes = tuple(pair for pair in series.attributes if pair[0] in _kept_names())
    is_device = len(kept) + (CORE in own) < len(own)
    disk = own.get(_DEVICE, "") if series.name.startswith(_OF_DISKS) else ""
    return _Member(Series(series.name, kept), disk, is_device, CORE in own)


@cache
def _kept_names() -> frozenset[str]:
    """Returns the names of attributes with few values, which the catalog itself gives."""
    rules = (rule for plugin in plugins().values() for rule in plugin.fields.values())
    named = {name for rule in rules for name, _ in rule.attributes}
    fixed = {name for plugin in plugins().values() for name, _ in plugin.fixed}
    return frozenset((*named, *fixed, *_PRESSURE, SOURCE[0], NAME, UNIT))


_layouts: dict[tuple[Series, ...], Layout] = {}
_MAX_LAYOUTS = 1_000


def layout_of(series: tuple[Series, ...]) -> Layout:
    """Returns the layout of series, which nodes alike share."""
    found = _layouts.get(series)
    if found is None:
        if len(_layouts) >= _MAX_LAYOUTS:
            _layouts.clear()
        found = _layouts[series] = Layout.of(series)
    return found
