"""Records from data points of OTLP, however they were encoded.

A data point becomes a record that is named after its metric and has one field: `gauge`, or `counter` for a cumulative
and `delta` for a delta sum. Of distributions (histograms of both kinds, summaries) sum and count become records, named
`METRIC.sum` and `METRIC.count`. Sums that may fall are gauges; their deltas have no record. Tags are the point's
attributes and those of its resource that name a node, a task, a process, a container or a service.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import NamedTuple

from shared.domain.telemetry.catalog.custom_metrics import UNIT
from shared.domain.telemetry.records.metrics import Metric, Value
from shared.domain.telemetry.records.startup_records import NAMING_TAGS

MAX_POINTS = 40_000
"""Data points of a message or line, as each becomes a record."""
TOO_MANY = f"it has more than {MAX_POINTS:,} data points"
NOT_RECORDED = 1
"""The flag of a point without a value: its series has ended for now, as a scrape failed. It makes no record."""
NO_METRICS = "of OTLP only metrics are read, and these are none"
_RESOURCE_TAGS = {
    "host.name": "host", "azure.batch.pool.id": "pool_id", "azure.batch.node.id": "node_id",
    "azure.batch.job.id": "job_id", "azure.batch.task.id": "task_id", "azure.batch.task.attempt": "task_attempt",
    **{tag: tag for tag in NAMING_TAGS},
    **{tag: tag for tag in (
        "process.pid", "process.executable.name", "container.name", "container.image.name", "service.name",
    )},
}  # fmt: skip
_COUNTED = {True: "delta", False: "counter"}


class MetricKind(NamedTuple):
    """What a metric's points are: a `gauge`, a `sum` or a distribution, and whether points are deltas and only grow."""

    data: str
    is_delta: bool = False
    is_monotonic: bool = False


class Point(NamedTuple):
    """A data point: its attributes, its time in nanoseconds since 1970 or 0, its number, or a count and its total."""

    attributes: dict[str, str]
    time: int
    number: Value | None = None
    counted: Value | None = None
    total: Value | None = None


def resource_tags(attributes: Mapping[str, str]) -> dict[str, str]:
    """Returns the tags that a resource's attributes give to all its records."""
    return {_RESOURCE_TAGS[name]: value for name, value in attributes.items() if name in _RESOURCE_TAGS}


def records_of(
    name: str, unit: str, kind: MetricKind, points: Iterable[Point], tags: dict[str, str]
) -> Iterator[Metric]:
    """Yields the records of a metric's points."""
    given = {UNIT: unit} if unit else {}
    for point in points:
        own, time = {**tags, **point.attributes, **given}, point.time or None
        if kind.data in ("gauge", "sum"):
            field = _field(kind)
            yield Metric(name, own, {} if point.number is None or not field else {field: _finite(point.number)}, time)
            continue
        for part, value, tagged in (("count", point.counted, tags | point.attributes), ("sum", point.total, own)):
            if value is not None:
                yield Metric(f"{name}.{part}", tagged, {_COUNTED[kind.is_delta]: _finite(value)}, time)


def _finite(value: Value) -> Value:
    """Returns a number; NaN and infinity as texts, as no series holds them."""
    return value if not isinstance(value, float) or isfinite(value) else str(value)


def _field(kind: MetricKind) -> str:
    """Returns the name of a number's field; empty where it is a change that makes no series."""
    if kind.data == "gauge":
        return "gauge"
    if kind.is_monotonic:
        return _COUNTED[kind.is_delta]
    return "" if kind.is_delta else "gauge"
