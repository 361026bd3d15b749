"""Answers about the telemetry of a pool: statistics over nodes, values by node, and which nodes are silent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.core.stamps import from_milliseconds
from shared.domain.nodes.nodes import Node
from shared.domain.telemetry.catalog.custom_metrics import ShownName, is_custom, metric_of
from shared.domain.telemetry.catalog.field_mappings import SOURCE
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.pools.blocks import MINUTES
from shared.domain.telemetry.pools.node_grid import NodeStatistics
from shared.domain.telemetry.pools.node_metrics import HIGHEST, shown_metric
from shared.domain.telemetry.query.ranges import Range
from shared.errors import HistoryRangeError

SILENT = timedelta(minutes=5)
"""A node without data for this long is silent: agents write every two minutes, and sweeps read every minute."""
_HEARD_IN = frozenset(("idle", "offline", "running", "starttaskfailed", "unknown", "unusable"))
"""States of nodes that have a machine and have run their start task, which starts an agent."""
_FINE = timedelta(hours=12)
"""The longest range in steps other than tens of minutes."""
_FINE_BY_DEFAULT = timedelta(hours=3)
_MILLISECONDS = 60_000
_DEVICE, _ANY_HIGHEST = HIGHEST


@dataclass(frozen=True, slots=True)
class MetricSelector:
    """Metrics of a stored name with certain attributes; an empty value selects metrics without the attribute.

    `custom` are the selected custom metrics, by name or leading parts of a name; an empty text selects all.
    """

    name: str
    attributes: Mapping[str, str]
    custom: Sequence[str] = ("",)

    def has(self, metric: Series) -> bool:
        if metric.name != self.name or (is_custom(metric) and not self._has_custom(metric_of(metric))):
            return False
        own = dict(metric.attributes)
        return all(own.get(name, "") == value for name, value in self.attributes.items())

    def _has_custom(self, name: str) -> bool:
        return any(not parts or name == parts or name.startswith(f"{parts}.") for parts in self.custom)


def _of_samples(name: str, attributes: Mapping[str, str]) -> MetricSelector:
    """Returns a selector that leaves out an agent's own sums of its samples."""
    return MetricSelector(name, {**attributes, SOURCE[0]: ""})


CPU = _of_samples("system.cpu.utilization", {"cpu.mode": "", _DEVICE: ""})
MEMORY = _of_samples("system.memory.utilization", {"system.memory.state": "used"})
DISK_BUSY = _of_samples("system.disk.io_time", {_DEVICE: _ANY_HIGHEST})
FILE_SYSTEM = _of_samples("system.filesystem.utilization", {"system.filesystem.state": "used", _DEVICE: _ANY_HIGHEST})
RECEIVED = _of_samples("system.network.io", {"network.io.direction": "receive"})
SENT = _of_samples("system.network.io", {"network.io.direction": "transmit"})
GPU = _of_samples("hw.gpu.utilization", {"hw.gpu.task": "general", _DEVICE: ""})
UTILIZATION = (CPU, MEMORY, DISK_BUSY, FILE_SYSTEM, RECEIVED, SENT, GPU)
"""The metrics of a query that names none."""


@dataclass(frozen=True, slots=True)
class MetricLine:
    """Statistics of a metric over the nodes, by the begin of each step."""

    metric: Series
    points: Sequence[tuple[datetime, NodeStatistics]]

    @property
    def shown(self) -> ShownName:
        return shown_metric(self.metric)


@dataclass(frozen=True, slots=True)
class NodeReporting:
    """A pool's nodes: how many Batch lists, how many report, and when those that don't were last heard of, if ever.

    `has_any`: any of them ever reported.
    """

    listed: int
    reporting: int
    silent: Mapping[str, datetime | None]
    has_any: bool


@dataclass(frozen=True, slots=True)
class PoolTelemetry:
    """Statistics over a pool's nodes in a range, and which nodes report now."""

    pool: str
    range: Range
    lines: Sequence[MetricLine]
    nodes: NodeReporting


@dataclass(frozen=True, slots=True)
class PoolUtilization:
    """The present utilization of a pool, in the order of UTILIZATION: statistics over nodes, and values by node id.

    Statistics are None where no node has a value.
    """

    account: str
    pool: str
    nodes: NodeReporting
    statistics: Sequence[NodeStatistics | None]
    by_node: Sequence[Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class NodeValue:
    """A node's value as of the minute `time`, both None where it is silent; `state` is None for an unlisted node.

    `seen` is the last minute with any data, None before the first.
    """

    id: str
    state: str | None
    value: float | None
    time: datetime | None
    seen: datetime | None


@dataclass(frozen=True, slots=True)
class NodeValues:
    """The values of a metric by node; the metric is None where no node has any value."""

    metric: Series | None
    at: datetime
    nodes: Sequence[NodeValue]

    @property
    def shown(self) -> ShownName | None:
        return shown_metric(self.metric) if self.metric else None

    def highest(self, most: int) -> "NodeValues":
        """Returns the nodes with the highest values, the highest first."""
        known = [one for one in self.nodes if one.value is not None]
        known.sort(key=lambda one: (-(one.value or 0), one.id))
        return NodeValues(self.metric, self.at, known[:most])


def reporting_of(nodes: Mapping[str, Node], seen: Mapping[str, int], now: datetime) -> NodeReporting:
    """Returns which of the listed nodes report, by the last minute of each node with data."""
    last = {key: moment_of(seen[key]) for key in nodes if key in seen}
    reporting = {key for key, moment in last.items() if now - moment <= SILENT}
    silent = {node.id: last.get(key) for key, node in nodes.items() if key not in reporting and node.state in _HEARD_IN}
    return NodeReporting(len(nodes), len(reporting), silent, has_any=bool(last))


def pool_range(wanted: Range, *, is_default: bool) -> Range:
    """Returns the range in the steps that rows of pools allow.

    Over long ranges steps are multiples of ten minutes. Raises HistoryRangeError for other ones that a client named.
    """
    length = wanted.until - wanted.since
    if not wanted.minutes % MINUTES or length <= (_FINE_BY_DEFAULT if is_default else _FINE):
        return wanted
    if not is_default:
        raise HistoryRangeError(
            "Over more than 12 hours a step is a multiple of ten minutes, like PT10M.", target="step"
        )
    return Range(wanted.since, wanted.until, -(-wanted.minutes // MINUTES) * MINUTES)


def moment_of(minute: int) -> datetime:
    return from_milliseconds(minute * _MILLISECONDS)
