"""Totals of written node telemetry, for checks of its readers.

They are computed from the blocks that storage has accepted, by node: number and sum of gauge values, and growth of
counters within the lives of the node.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from local.batch_emulator.entities import Json
from local.batch_emulator.telemetry.hardware import Origin

_MAX_NODES = 1_000
_GAUGES = {"cpu": ("usage_user", "usage_system", "usage_idle"), "mem": ("used",), "nvidia_smi": ("utilization_gpu",)}
_COUNTERS = {"net": ("bytes_recv", "bytes_sent"), "diskio": ("read_bytes", "write_bytes")}
_TOTAL = "cpu-total"


@dataclass(slots=True)
class _Node:
    pool: str
    blob: str = ""
    lives: set[int] = field(default_factory=set)
    sums: Counter[str] = field(default_factory=Counter)
    values: dict[str, list[float]] = field(default_factory=dict)
    growth: Counter[str] = field(default_factory=Counter)
    readings: dict[tuple[str, str], tuple[object, float]] = field(default_factory=dict)


class Written:
    """The totals of one account, for the latest _MAX_NODES nodes.

    `lost` counts blocks that storage didn't accept in time.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._nodes: dict[str, _Node] = {}

    def add(self, origin: Origin, records: Sequence[Json], size: int, blob: str) -> None:
        """Adds a block of `size` bytes that storage has accepted."""
        node = self._nodes.setdefault(origin.node, _Node(origin.pool))
        if len(self._nodes) > _MAX_NODES:
            del self._nodes[next(iter(self._nodes))]
        node.blob = blob
        node.lives.add(origin.life)
        node.sums.update(blocks=1, bytes=size, records=len(records))
        for record in records:
            _count(node, record, origin)

    @property
    def totals(self) -> Json:
        """The totals as JSON."""
        return {"blocksLost": self.lost, "nodes": {name: _totals_of(node) for name, node in self._nodes.items()}}


def _count(node: _Node, record: Json, life: object) -> None:
    name, fields, tags = record["name"], record["fields"], record["tags"]
    if tags.get("cpu", _TOTAL) != _TOTAL:
        return
    for gauge in _GAUGES.get(name, ()):
        values = node.values.setdefault(f"{name}.{gauge}", [0, 0.0])
        values[0] += 1
        values[1] += fields[gauge]
    for counter in _COUNTERS.get(name, ()):
        key = (f"{name}.{counter}", str(tags))
        of, before = node.readings.get(key, (None, 0.0))
        if of is life:
            node.growth[key[0]] += fields[counter] - before
        node.readings[key] = (life, fields[counter])


def _totals_of(node: _Node) -> Mapping[str, object]:
    gauges = {name: {"count": count, "sum": total} for name, (count, total) in node.values.items()}
    return {"pool": node.pool, "blob": node.blob, "lives": len(node.lives), **node.sums, "gauges": gauges,
            "growth": dict(node.growth)}  # fmt: skip
