"""Metric families of Prometheus, and their samples from the values of the objects that have series.

Each scrape builds families from storage. Nothing accumulates here, so no series outlives its source.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

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


type Labels = str | tuple[str, ...]
type Value = float | Durations | Mapping[Labels, float] | None
"""The value of an object in a family, or one for each combination of the family's own labels; None: no sample."""


class Samples(NamedTuple):
    """The samples of one object: the labels that all of them have, and the values by the names of the families."""

    labels: tuple[str, ...]
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Family:
    """The declaration of a family; `labels` are its own, beside those that all samples of its objects have."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()
    kind: type[GaugeMetricFamily | CounterMetricFamily | HistogramMetricFamily] = GaugeMetricFamily

    def metric(self, shared: tuple[str, ...], objects: Iterable[Samples]) -> Metric:
        """Returns the family with the samples of the objects; `shared` are the names of the labels that all have."""
        metric = self.kind(self.name, self.meaning, labels=(*shared, *self.labels))
        add: Callable[..., None] = metric.add_metric
        for labels, values in objects:
            match values.get(self.name):
                case None:
                    continue
                case Durations(numbers, total):
                    buckets = list(zip((*_BOUNDS, "+Inf"), numbers, strict=True))
                    add(labels, buckets, total)
                case Mapping() as several:
                    for own, value in several.items():
                        add((*labels, *((own,) if isinstance(own, str) else own)), value)
                case value:
                    add(labels, value)
        return metric


class Families(Collector):
    """Yields the families one by one, as those of thousands of objects together would take much memory.

    Each part has families, the names of the labels that all their samples have, and objects.
    """

    def __init__(self, parts: Sequence[tuple[Sequence[Family], tuple[str, ...], Sequence[Samples]]]) -> None:
        self._parts = parts

    def collect(self) -> Iterator[Metric]:
        for families, labels, objects in self._parts:
            yield from (family.metric(labels, objects) for family in families)


def timestamp(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None
