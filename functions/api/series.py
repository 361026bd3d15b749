"""What a Prometheus family is made of: its name, type, meaning and labels, and how one thing becomes its samples.

Families are made anew of what is stored whenever they are asked for. Nothing is added up here, so nothing is left of
what is gone.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from shared.domain.tasks.histograms import Histogram

_SECOND = 1000  # milliseconds
# Where stored buckets end. Roughly fourfold: 1, 4 and 16 s, 1, 4 and 15 min, 1, 4, 16 and 65 h.
EDGES = tuple(
    steps << octave
    for steps, octave in (
        (8, 7), (8, 9), (8, 11), (15, 12), (15, 14), (14, 16), (14, 18), (14, 20), (14, 22), (14, 24)
    )
)  # fmt: skip
# Stored are whole milliseconds: those below an edge are those up to a millisecond before it.
_BOUNDS = tuple(f"{(edge - 1) / _SECOND:.3f}" for edge in EDGES)


class Durations(NamedTuple):
    """Numbers of durations below each of EDGES, and then of all; their sum in seconds."""

    numbers: tuple[int, ...]
    sum: float

    @classmethod
    def of(cls, histogram: Histogram) -> "Durations":
        return cls((*histogram.below(EDGES), histogram.count), histogram.sum / _SECOND)


@dataclass(frozen=True, slots=True)
class Gauge[T]:
    """`samples` gives the values of labels, in the order of `labels`, and the value; none where it isn't known."""

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
    """A number that only grows until what it counts begins anew; `samples` as those of a gauge."""

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
class Spread[T]:
    """A histogram; `samples` as those of a gauge, with durations in place of a value."""

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
