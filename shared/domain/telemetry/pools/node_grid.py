"""The values of a metric by node and period, collected from blocks of many shards, and statistics over the nodes.

A node that wrote to several blobs stands in several shards; its totals merge here. Each statistic comes from the values
of nodes, never from other statistics.
"""

from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from shared.domain.telemetry.catalog.series import Kind, Series
from shared.domain.telemetry.pools.blocks import MINUTES, Line
from shared.domain.telemetry.pools.node_metrics import kind_of

_SECONDS = 60
_MEDIAN, _HIGH = 0.5, 0.95


class NodeStatistics(NamedTuple):
    """Statistics over the values of `nodes` nodes: mean, 50th and 95th percentile (each a node's value), maximum."""

    nodes: int
    mean: float
    p50: float
    p95: float
    max: float


class _Period(NamedTuple):
    """Sums and counts of all nodes in a period, in the order of the grid; of a counter masks of minutes."""

    sums: "array[float]"
    counts: "array[int]"


@dataclass(slots=True)
class NodeGrid:
    """Totals of one metric; periods are minutes or blocks, named by their first minute since 1970."""

    metric: Series
    nodes: list[str] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)
    _periods: dict[int, _Period] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Returns the number of values that it holds, also of nodes without any."""
        return sum(len(period.counts) for period in self._periods.values())

    def places_of(self, nodes: Sequence[str], known: Collection[str] | None = None) -> Sequence[int]:
        """Returns the places of nodes, new ones behind the others; -1 for those that aren't `known`."""
        places = []
        for node in nodes:
            place = self._places.get(node)
            if place is None and known is not None and node not in known:
                place = -1
            if place is None:
                place = self._places[node] = len(self.nodes)
                self.nodes.append(node)
            places.append(place)
        together = range(places[0], places[0] + len(places)) if places and places[0] >= 0 else range(0)
        return together if places == list(together) else places

    def add_minutes(self, block: int, places: Sequence[int], line: Line, wanted: range) -> None:
        """Adds those minutes of a block's line that are in a range; `places` are those of the line's nodes, or -1."""
        for minute in range(MINUTES):
            if block * MINUTES + minute in wanted:
                counts, sums = line.counts[minute::MINUTES], line.sums[minute::MINUTES]
                if any(counts):
                    self._add(block * MINUTES + minute, places, counts, sums)

    def add_block(self, block: int, places: Sequence[int], line: Line) -> None:
        """Adds the totals of a block."""
        self._add(block * MINUTES, places, line.counts, line.sums)

    def _add(self, period: int, places: Sequence[int], counts: "array[int]", sums: "array[float]") -> None:
        found = self._periods.get(period)
        if found is None:
            found = self._periods[period] = _Period(array("d"), array("I"))
        lacking = len(self.nodes) - len(found.counts)
        if lacking:
            found.sums.frombytes(bytes(8 * lacking))
            found.counts.frombytes(bytes(4 * lacking))
        if isinstance(places, range) and not any(found.counts[places.start : places.stop]):
            found.sums[places.start : places.stop] = array("d", sums)
            found.counts[places.start : places.stop] = counts
            return
        is_counter = kind_of(self.metric.name) is Kind.COUNTER
        for place, count, total in zip(places, counts, sums, strict=True):
            if count and place >= 0:
                found.sums[place] += total
                found.counts[place] = found.counts[place] | count if is_counter else found.counts[place] + count

    def steps(self, minutes: int) -> Iterator[tuple[int, NodeStatistics]]:
        """Yields the statistics of steps of some minutes, in order, each by its first minute since 1970."""
        for step, periods in self._by_step(minutes):
            values = [value for value in self._values(periods) if value is not None]
            if values:
                yield step, statistics_of(values)

    def latest(self) -> dict[str, tuple[int, float]]:
        """Returns each node's value of its latest period, with that period."""
        found: dict[str, tuple[int, float]] = {}
        for period in sorted(self._periods):
            values = self._values([self._periods[period]])
            found |= {
                node: (period, value) for node, value in zip(self.nodes, values, strict=False) if value is not None
            }
        return found

    def totals(self) -> dict[str, float]:
        """Returns the sum of each node's values in all periods; of a counter its growth."""
        found: dict[str, float] = {}
        for period in self._periods.values():
            for node, total, count in zip(self.nodes, period.sums, period.counts, strict=False):
                if count:
                    found[node] = found.get(node, 0.0) + total
        return found

    def _by_step(self, minutes: int) -> Iterator[tuple[int, list[_Period]]]:
        steps: dict[int, list[_Period]] = {}
        for period in sorted(self._periods):
            steps.setdefault(period // minutes * minutes, []).append(self._periods[period])
        yield from steps.items()

    def _values(self, periods: Sequence[_Period]) -> list[float | None]:
        """Returns each node's value over some periods: a gauge's mean, or a counter's growth per second."""
        value_of = _rate if kind_of(self.metric.name) is Kind.COUNTER else _mean
        if len(periods) == 1:
            (only,) = periods
            return [value_of(total, count) if count else None for total, count in zip(*only, strict=True)]
        size = max(len(one.counts) for one in periods)
        sums, counts = [0.0] * size, [0] * size
        is_counter = value_of is _rate
        for one in periods:
            for place, count in enumerate(one.counts):
                if count:
                    sums[place] += one.sums[place]
                    counts[place] += count.bit_count() if is_counter else count
        if is_counter:
            return [total / count / _SECONDS if count else None for total, count in zip(sums, counts, strict=True)]
        return [total / count if count else None for total, count in zip(sums, counts, strict=True)]


def statistics_of(values: Sequence[float]) -> NodeStatistics:
    """Returns the statistics of one or more values."""
    ordered = sorted(values)
    count = len(ordered)
    median, high = (ordered[ceil(share * count) - 1] for share in (_MEDIAN, _HIGH))
    return NodeStatistics(count, sum(ordered) / count, median, high, ordered[-1])


def _mean(total: float, count: int) -> float:
    return total / count


def _rate(total: float, mask: int) -> float:
    return total / mask.bit_count() / _SECONDS
