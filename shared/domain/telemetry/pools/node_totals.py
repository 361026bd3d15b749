"""The totals of a node in a minute, of one or several steps, and the metrics that a pool's rows have of them."""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.telemetry.catalog.series import Attributes, Kind, Series
from shared.domain.telemetry.pools.node_metrics import HIGHEST, highest_of, kind_of, member_of
from shared.domain.telemetry.pools.node_shares import (
    FILE_SYSTEM_IN_USE,
    FILE_SYSTEM_RULES,
    FILE_SYSTEM_SIZES,
    DerivedShare,
    derived_shares,
    is_storable,
)

_FULLEST = Series(FILE_SYSTEM_IN_USE.name, (HIGHEST, *FILE_SYSTEM_IN_USE.attributes))


class Total(NamedTuple):
    """The sum of a node's values in a period, and their number; of a counter its growth, and 1."""

    sum: float
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The series of a node's minute, which nodes alike share: places of `metrics`, and of devices by `highest` one.

    `shares` follow from metrics, and those of `file_systems` from their sizes.
    """

    series: tuple[Series, ...]
    metrics: Sequence[tuple[Series, int]]
    highest: Sequence[tuple[Series, Sequence[int]]]
    shares: Sequence[DerivedShare]
    file_systems: Sequence[DerivedShare]

    @classmethod
    def of(cls, series: tuple[Series, ...]) -> "Layout":
        metrics: dict[Series, int] = {}
        devices: dict[Series, list[int]] = defaultdict(list)
        sizes: dict[Attributes, dict[Series, int]] = defaultdict(dict)
        for at, one in enumerate(series):
            member, highest = member_of(one), highest_of(one)
            if member is None or highest is None:
                metrics[one] = at
                continue
            sizes[tuple(pair for pair in one.attributes if pair not in member.metric.attributes)][member.metric] = at
            if member.metric not in FILE_SYSTEM_SIZES:
                devices[highest].append(at)
        file_systems = [one for places in sizes.values() for one in derived_shares(places, FILE_SYSTEM_RULES)]
        return cls(
            series, list(metrics.items()), list(devices.items()), list(derived_shares(metrics)),
            [] if FILE_SYSTEM_IN_USE in metrics else file_systems,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class NodeMinute:
    """The totals of a node's metrics in a minute, and of devices, where the highest counts, in the order of `layout`.

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
        """Yields sums and numbers of metrics, with the highest of devices, and shares that follow from others."""
        for metric, total, number in self._metrics():
            if is_storable(metric.name, total, number):
                yield metric, total, number

    def _metrics(self) -> Iterator[tuple[Series, float, int]]:
        sums, counts = self.sums, self.counts
        for metric, at in self.layout.metrics:
            yield metric, sums[at], counts[at]
        for metric, places in self.layout.highest:
            fitting = [at for at in places if is_storable(metric.name, sums[at], counts[at])]
            if fitting:
                at = max(fitting, key=lambda place: sums[place] / counts[place])
                yield metric, sums[at], counts[at]
        for share in self.layout.shares:
            total = share.total(sums, counts)
            if total:
                yield share.share, *total
        yield from self._file_systems()

    def _file_systems(self) -> Iterator[tuple[Series, float, int]]:
        """Yields the used share of file systems, as the mean and of the fullest one."""
        name, found = FILE_SYSTEM_IN_USE.name, list[Total]()
        for share in self.layout.file_systems:
            total = share.total(self.sums, self.counts)
            if total and is_storable(name, *total):
                found.append(Total(*total))
        if found:
            yield FILE_SYSTEM_IN_USE, sum(one.sum for one in found), sum(one.number for one in found)
            yield _FULLEST, *max(found, key=lambda one: one.sum / one.number)

    def merged(self, other: "NodeMinute") -> "NodeMinute":
        """Returns both parts of a minute together."""
        found = self.totals
        for metric, total in other.totals.items():
            before = found.get(metric)
            found[metric] = merged_totals(metric, before, total) if before else total
        return NodeMinute.of(found)


def merged_totals(metric: Series, one: Total, other: Total) -> Total:
    """Returns the total of two parts of one minute."""
    is_counter = kind_of(metric.name) is Kind.COUNTER
    return Total(one.sum + other.sum, 1 if is_counter else one.number + other.number)


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
