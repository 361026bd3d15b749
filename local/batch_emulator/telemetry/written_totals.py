"""Totals of written node telemetry, for checks of its readers.

They are computed from the blocks that storage has accepted, by node: number and sum of gauge values, and growth of
counters within the sessions of the node.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from local.batch_emulator.entities import Json
from local.batch_emulator.telemetry.hardware import AgentSession

_MAX_NODES = 1_000
_GAUGES = {"cpu": ("usage_user", "usage_system", "usage_idle"), "mem": ("used",), "nvidia_smi": ("utilization_gpu",)}
_COUNTERS = {"net": ("bytes_recv", "bytes_sent"), "diskio": ("read_bytes", "write_bytes")}
_TOTAL = "cpu-total"


@dataclass(slots=True)
class _NodeTotals:
    pool: str
    blob: str = ""
    lives: set[int] = field(default_factory=set)
    sums: Counter[str] = field(default_factory=Counter)
    values: dict[str, list[float]] = field(default_factory=dict)
    growth: Counter[str] = field(default_factory=Counter)
    readings: dict[tuple[str, str], tuple[object, float]] = field(default_factory=dict)


class WrittenTotals:
    """The totals of one account, for the latest _MAX_NODES nodes.

    `lost` counts blocks that storage didn't accept in time.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._nodes: dict[str, _NodeTotals] = {}

    def add(self, session: AgentSession, records: Sequence[Json], size: int, blob: str) -> None:
        """Adds a block of `size` bytes that storage has accepted."""
        totals = self._nodes.setdefault(session.node, _NodeTotals(session.pool))
        if len(self._nodes) > _MAX_NODES:
            del self._nodes[next(iter(self._nodes))]
        totals.blob = blob
        totals.lives.add(session.life)
        totals.sums.update(blocks=1, bytes=size, records=len(records))
        for record in records:
            _count(totals, record, session)

    @property
    def totals(self) -> Json:
        """The totals as JSON."""
        return {"blocksLost": self.lost, "nodes": {name: _totals_of(totals) for name, totals in self._nodes.items()}}


def _count(totals: _NodeTotals, record: Json, session: object) -> None:
    name, fields, tags = record["name"], record["fields"], record["tags"]
    if tags.get("cpu", _TOTAL) != _TOTAL:
        return
    for gauge in _GAUGES.get(name, ()):
        values = totals.values.setdefault(f"{name}.{gauge}", [0, 0.0])
        values[0] += 1
        values[1] += fields[gauge]
    for counter in _COUNTERS.get(name, ()):
        key = (f"{name}.{counter}", str(tags))
        previous_session, before = totals.readings.get(key, (None, 0.0))
        if previous_session is session:
            totals.growth[key[0]] += fields[counter] - before
        totals.readings[key] = (session, fields[counter])


def _totals_of(totals: _NodeTotals) -> Mapping[str, object]:
    gauges = {name: {"count": count, "sum": total} for name, (count, total) in totals.values.items()}
    return {"pool": totals.pool, "blob": totals.blob, "lives": len(totals.lives), **totals.sums, "gauges": gauges,
            "growth": dict(totals.growth)}  # fmt: skip
