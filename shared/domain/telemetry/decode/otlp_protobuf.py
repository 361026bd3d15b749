"""Metrics of OTLP in protobuf: messages as the OpenTelemetry Collector's file exporter writes them.

Each message follows its length in four bytes, the highest first. The exporter compresses single messages by zstd, also
those of JSON. The library is loaded with the first message, as only this format needs it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from shared.domain.telemetry.decode.otlp import (
    MAX_POINTS,
    NO_METRICS,
    NOT_RECORDED,
    TOO_MANY,
    MetricKind,
    Point,
    records_of,
    resource_tags,
)
from shared.domain.telemetry.records.metrics import Metric

LENGTH = 4  # bytes before a message
MAX_MESSAGE = 2 << 20  # bytes: empty parts of a message take forty times as much memory
HEAD = 8
"""Bytes that show whether a message begins there."""
_PART, _FIELDS, _MAX_VARINT = b"\x0a", b"\x0a\x12\x1a", 5  # a resource's metrics; its resource, scopes and schema
_DELTA = 1
_SHOWN = ("string_value", "int_value", "double_value", "bool_value")


class MessageError(ValueError):
    """Bytes that are no message of OTLP metrics."""


def message_length(stored: bytes, at: int) -> int:
    """Returns the length before the message at a position, of which LENGTH bytes must be there."""
    return int.from_bytes(stored[at : at + LENGTH])


def begins_message(head: bytes) -> bool | None:
    """Returns whether bytes begin like a message: a part with a known field; None where too few are there to decide."""
    size = at = 0
    while at < min(len(head) - 1, _MAX_VARINT):
        at += 1
        size |= (head[at] & 0x7F) << 7 * (at - 1)
        if not head[at] & 0x80:
            break
    else:
        return None if len(head) <= _MAX_VARINT and head[:1] in (b"", _PART) else False
    if head[0] != _PART[0]:
        return False
    if at + 1 == len(head):
        return None
    return size == 0 or head[at + 1] in _FIELDS


def read_otlp_message(message: bytes) -> list[Metric]:
    """Returns the records of a message. Raises MessageError."""
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

    if len(message) > MAX_MESSAGE:
        raise MessageError(f"the message has more than {MAX_MESSAGE:,} bytes")
    try:
        data = MetricsData.FromString(message)
    except DecodeError as error:
        raise MessageError("this is no OTLP metrics message") from error
    found, count = list[Metric](), 0
    for each in data.resource_metrics:
        tags = resource_tags(_attributes(each.resource.attributes))
        for metric in (metric for scope in each.scope_metrics for metric in scope.metrics):
            which = metric.WhichOneof("data")
            if not metric.name or which is None:
                raise MessageError(NO_METRICS)
            data_points = getattr(metric, which)
            count += len(data_points.data_points)
            if count > MAX_POINTS:
                raise MessageError(TOO_MANY)
            is_delta = getattr(data_points, "aggregation_temporality", 0) == _DELTA
            if which in ("gauge", "sum"):
                kind = MetricKind(which, is_delta, getattr(data_points, "is_monotonic", False))
                points = _numbers(_recorded(data_points.data_points))
            else:
                kind = MetricKind("histogram", is_delta)
                points = _distributions(_recorded(data_points.data_points), which)
            found += records_of(metric.name, metric.unit, kind, points, tags)
    return found


def _recorded(points: Iterable[Any]) -> Iterator[Any]:
    return (point for point in points if not point.flags & NOT_RECORDED)


def _numbers(points: Iterable[Any]) -> Iterator[Point]:
    for point in points:
        which = point.WhichOneof("value")
        yield Point(_attributes(point.attributes), point.time_unix_nano, getattr(point, which) if which else None)


def _distributions(points: Iterable[Any], data: str) -> Iterator[Point]:
    """Yields counts and sums; histograms of values below 0 have no sum."""
    for point in points:
        total = point.sum if data == "summary" or point.HasField("sum") else None
        yield Point(_attributes(point.attributes), point.time_unix_nano, counted=point.count, total=total)


def _attributes(pairs: Iterable[Any]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        which = pair.value.WhichOneof("value")
        if which in _SHOWN:
            value = getattr(pair.value, which)
            found[pair.key] = str(value).lower() if isinstance(value, bool) else str(value)
    return found
