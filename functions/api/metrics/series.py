"""Declarations of Prometheus families: name, type, help text, labels, and the mapping of an object to samples.

Each scrape builds families from storage. Nothing accumulates here, so no series outlives its source.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from shared.domain.tasks.histograms import Histogram

_SECOND = 1000  # milliseconds
# Upper edges of stored buckets, roughly fourfold: 1, 4 and 16 s, 1, 4 and 15 min, 1, 4, 16 and 65 h.
EDGES = tuple(
    steps << octave
    for steps, octave in (
        (8, 7), (8, 9), (8, 11), (15, 12), (15, 14), (14, 16), (14, 18), (14, 20), (14, 22), (14, 24)
    )
)  # fmt: skip
# Stored durations are whole milliseconds: those below an edge are at most one millisecond less.
_BOUNDS = tuple(f"{(edge - 1) / _SECOND:.3f}" for edge in EDGES)


class Durations(NamedTuple):
    """The number of durations below each of EDGES, then of all durations; their sum in seconds."""

    numbers: tuple[int, ...]
    sum: float

    @classmethod
    def of(cls, histogram: Histogram) -> "Durations":
        return cls((*histogram.below(EDGES), histogram.count), histogram.sum / _SECOND)


@dataclass(frozen=True, slots=True)
class Gauge[T]:
    """A gauge; `samples` yields label values, in the order of `labels`, and the value; nothing if it is unknown."""

    name: str
    meaning: str
    labels: tuple[str, ...]
    samples: Callable[[T], Iterable[tuple[tuple[str, ...], float]]]

    def family(self, things: Iterable[T]) -> Metric:
        family = GaugeMetricFamily(self.name, self.meaning, labels=self.labels)
        for thing in things:
            for labels, value in self.samples(thing):
                family.add_metric(labels, value)
        return family


@dataclass(frozen=True, slots=True)
class Counter[T]:
    """A counter, which resets when its source starts again; `samples` as for a gauge."""

    name: str
    meaning: str
    labels: tuple[str, ...]
    samples: Callable[[T], Iterable[tuple[tuple[str, ...], float]]]

    def family(self, things: Iterable[T]) -> Metric:
        family = CounterMetricFamily(self.name, self.meaning, labels=self.labels)
        for thing in things:
            for labels, value in self.samples(thing):
                family.add_metric(labels, value)
        return family


@dataclass(frozen=True, slots=True)
class MetricHistogram[T]:
    """A histogram; `samples` as for a gauge, with durations as the value."""

    name: str
    meaning: str
    labels: tuple[str, ...]
    samples: Callable[[T], Iterable[tuple[tuple[str, ...], Durations]]]

    def family(self, things: Iterable[T]) -> Metric:
        family = HistogramMetricFamily(self.name, self.meaning, labels=self.labels)
        for thing in things:
            for labels, durations in self.samples(thing):
                buckets = list(zip((*_BOUNDS, "+Inf"), durations.numbers, strict=True))
                family.add_metric(labels, buckets, durations.sum)
        return family
