"""A pool's metrics: the series of a node without its devices, so that nodes with other devices compare.

Attributes with few values, such as a mode or a direction, stay. Those that name a device, a core, a process or a
container are left out: their counters add up, and so do gauges, except shares, temperatures and custom metrics, of
which the mean counts. Of shares, temperatures and busy times the highest device is a metric of its own. Gauges of
several sessions, as tasks have them, have the mean of all values, since sessions of a task may also follow each other.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from shared.domain.telemetry.catalog.catalog import instruments, plugins
from shared.domain.telemetry.catalog.custom_metrics import NAME, UNIT, ShownName, shown_name
from shared.domain.telemetry.catalog.field_mappings import SOURCE
from shared.domain.telemetry.catalog.series import CUSTOM, Attributes, Kind, Series
from shared.domain.telemetry.query.cpu_total import CORE

HIGHEST = ("batchscope.device", "highest")
"""The attribute of a metric that is the highest among a node's devices."""
_PRESSURE = ("batchscope.pressure.resource", "batchscope.pressure.type")
_DEVICE, _INTERFACE, _FILE_SYSTEM = "system.device", "network.interface.name", "system.filesystem.type"
_VIRTUAL = {
    _DEVICE: re.compile(r"(/dev/)?(loop|ram|zram|sr|fd)\d|(dm-|md)\d"),
    _INTERFACE: re.compile(r"(lo|docker|veth|br-|virbr|cni|flannel|ifb|enP\d|all$)"),
    _FILE_SYSTEM: re.compile(r"(tmpfs|devtmpfs|overlay|squashfs|aufs|ramfs|proc|sysfs|fuse\.lxcfs)$"),
}
_OF_DISKS = "system.disk."
_OF_SHARES = ("1", "Cel")  # units whose values have a mean, and no sum
_NAME = re.compile(r"(?!.*__)[a-z][a-z0-9_.]{0,110}[a-z0-9]", re.IGNORECASE)
"""Names of metrics that can be stored; all of the catalog can."""
_MAX_KNOWN = 20_000  # series whose metrics are cached


class Member(NamedTuple):
    """A series as a part of a metric: the disk that it is about, and whether it is about a device or a core."""

    metric: Series
    disk: str
    is_device: bool
    is_core: bool


class Fold(NamedTuple):
    """How the values of a metric's series become one: they add up, or have a mean; and whether the highest counts."""

    is_counter: bool
    is_share: bool
    has_highest: bool


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


@lru_cache(_MAX_KNOWN)
def fold_of(metric: Series) -> Fold:
    """Returns how the values of a metric's series become one."""
    known, is_counter = instruments().get(metric.name), kind_of(metric.name) is Kind.COUNTER
    unit, is_custom = known.unit if known else "", metric.name.startswith(CUSTOM)
    is_share = not is_counter and (is_custom or unit in _OF_SHARES)
    has_highest = not is_custom and (is_share or (is_counter and unit == "s"))
    return Fold(is_counter, is_share, has_highest)


@lru_cache(_MAX_KNOWN)
def highest_of(series: Series) -> Series | None:
    """Returns the metric that is the highest of a device and others; None for a metric."""
    member = member_of(series)
    if member is None or not member.is_device:
        return None
    return Series(series.name, tuple(sorted((*member.metric.attributes, HIGHEST))))


@lru_cache(_MAX_KNOWN)
def member_of(series: Series) -> Member | None:
    """Returns the metric that a series is a part of; None for virtual devices, and names that can't be stored."""
    own = dict(series.attributes)
    is_virtual = any(name in own and pattern.match(own[name]) for name, pattern in _VIRTUAL.items())
    if is_virtual or not _NAME.fullmatch(series.name):
        return None
    kept: Attributes = tuple(pair for pair in series.attributes if pair[0] in _kept_names())
    is_device = len(kept) + (CORE in own) < len(own)
    disk = own.get(_DEVICE, "") if series.name.startswith(_OF_DISKS) else ""
    return Member(Series(series.name, kept), disk, is_device, CORE in own)


@cache
def _kept_names() -> frozenset[str]:
    """Returns the names of attributes with few values, which the catalog itself gives."""
    rules = (rule for plugin in plugins().values() for rule in plugin.fields.values())
    named = {name for rule in rules for name, _ in rule.attributes}
    fixed = {name for plugin in plugins().values() for name, _ in plugin.fixed}
    return frozenset((*named, *fixed, *_PRESSURE, SOURCE[0], NAME, UNIT))
