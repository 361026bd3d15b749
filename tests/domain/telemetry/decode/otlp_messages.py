"""Messages of OTLP, made by the official library, and framed as the Collector's file exporter frames them."""

from collections.abc import Mapping

import zstandard
from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AggregationTemporality,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

DELTA = AggregationTemporality.Value("AGGREGATION_TEMPORALITY_DELTA")
CUMULATIVE = AggregationTemporality.Value("AGGREGATION_TEMPORALITY_CUMULATIVE")
type Attributes = Mapping[str, str | int | float | bool]


def attributes(pairs: Attributes) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any(value)) for key, value in pairs.items()]


def _any(value: str | float) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    return AnyValue(double_value=value) if isinstance(value, float) else AnyValue(string_value=value)


def number(value: float, at: int, /, **pairs: str | float) -> NumberDataPoint:
    """Returns a data point; in the names of attributes two underscores stand for a dot."""
    named = attributes({name.replace("__", "."): one for name, one in pairs.items()})
    if isinstance(value, int):
        return NumberDataPoint(as_int=value, time_unix_nano=at, attributes=named)
    return NumberDataPoint(as_double=value, time_unix_nano=at, attributes=named)


def message(*metrics: Metric, resource: Attributes | None = None) -> MetricsData:
    of, scope = Resource(attributes=attributes(resource or {})), ScopeMetrics(metrics=metrics)
    return MetricsData(resource_metrics=[ResourceMetrics(resource=of, scope_metrics=[scope])])


def framed(content: bytes) -> bytes:
    return len(content).to_bytes(4) + content


def as_protobuf(data: MetricsData) -> bytes:
    return framed(data.SerializeToString())


def as_json(data: MetricsData) -> bytes:
    return MessageToJson(data, indent=None).encode() + b"\n"


def as_compressed_protobuf(data: MetricsData) -> bytes:
    return framed(zstandard.compress(data.SerializeToString()))


def as_compressed_json(data: MetricsData) -> bytes:
    return framed(zstandard.compress(as_json(data)))


FORMS = (as_protobuf, as_json, as_compressed_protobuf, as_compressed_json)
