"""Metrics of OTLP in JSON, a message a line, as the OpenTelemetry Collector's file exporter writes it."""

import re
from collections.abc import Iterator

import msgspec

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
from shared.domain.telemetry.records.metrics import Metric, TextError, Value

type _Number = int | float | str | None
"""A number; JSON of protobuf writes 64-bit integers, NaN and infinity as texts."""
_BEGIN = re.compile(rb'\s*\{\s*"resource(?:Metrics|Logs|Spans|Profiles)"')
_WHOLE = re.compile(r"-?[0-9]{1,20}")
_DELTA = (1, "AGGREGATION_TEMPORALITY_DELTA")
_DATA = {"gauge": "gauge", "sum": "sum", "histogram": "histogram", "exponential_histogram": "histogram",
         "summary": "histogram"}  # fmt: skip


class _AnyValue(msgspec.Struct, rename="camel", frozen=True, gc=False):
    string_value: str | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    bool_value: bool | None = None


class _KeyValue(msgspec.Struct, frozen=True, gc=False):
    key: str
    value: _AnyValue = _AnyValue()


class _DataPoint(msgspec.Struct, rename="camel", frozen=True, gc=False):
    attributes: list[_KeyValue] = []
    time_unix_nano: _Number = 0
    as_double: _Number = None
    as_int: _Number = None
    count: _Number = None
    sum: _Number = None
    flags: _Number = 0


class _Data(msgspec.Struct, rename="camel", frozen=True, gc=False):
    data_points: list[_DataPoint] = []
    aggregation_temporality: int | str = 0
    is_monotonic: bool = False


class _Metric(msgspec.Struct, rename="camel", frozen=True, gc=False):
    name: str
    unit: str = ""
    gauge: _Data | None = None
    sum: _Data | None = None
    histogram: _Data | None = None
    exponential_histogram: _Data | None = None
    summary: _Data | None = None


class _ScopeMetrics(msgspec.Struct, frozen=True, gc=False):
    metrics: list[_Metric] = []


class _Resource(msgspec.Struct, frozen=True, gc=False):
    attributes: list[_KeyValue] = []


class _ResourceMetrics(msgspec.Struct, rename="camel", frozen=True, gc=False):
    resource: _Resource = _Resource()
    scope_metrics: list[_ScopeMetrics] = []


class _MetricsData(msgspec.Struct, rename="camel", frozen=True, gc=False):
    resource_metrics: list[_ResourceMetrics] | None = None


_DECODER = msgspec.json.Decoder(_MetricsData)


def is_otlp(line: bytes) -> bool:
    return _BEGIN.match(line) is not None


def read_otlp_json(line: bytes) -> list[Metric]:
    """Returns the records of a line. Raises TextError."""
    try:
        data = _DECODER.decode(line)
    except msgspec.ValidationError as error:
        raise TextError("this is no OTLP metrics message", 0) from error
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise TextError("this is no valid JSON", len(line) if "truncated" in str(error) else 0) from error
    if data.resource_metrics is None:
        raise TextError(NO_METRICS, 0)
    found, count = list[Metric](), 0
    for each in data.resource_metrics:
        tags = resource_tags(_attributes(each.resource.attributes))
        for metric in (metric for scope in each.scope_metrics for metric in scope.metrics):
            for field, kind in _DATA.items():
                points = getattr(metric, field)
                if points is not None:
                    count += len(points.data_points)
                    if count > MAX_POINTS:
                        raise TextError(TOO_MANY, 0)
                    of = MetricKind(kind, points.aggregation_temporality in _DELTA, points.is_monotonic)
                    found += records_of(metric.name, metric.unit, of, _points(points), tags)
    return found


def _points(data: _Data) -> Iterator[Point]:
    for point in data.data_points:
        flags = _number(point.flags)
        if isinstance(flags, int) and flags & NOT_RECORDED:
            continue
        number = point.as_double if point.as_int is None else point.as_int
        time = _number(point.time_unix_nano)
        yield Point(
            _attributes(point.attributes), time if isinstance(time, int) else 0,
            _number(number), _number(point.count), _number(point.sum),
        )  # fmt: skip


def _number(written: _Number) -> Value | None:
    """Returns a number; a text that is none stays one."""
    return int(written) if isinstance(written, str) and _WHOLE.fullmatch(written) else written


def _attributes(pairs: list[_KeyValue]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        value = pair.value
        for one in (value.string_value, value.int_value, value.double_value):
            if one is not None:
                found[pair.key] = str(one)
        if value.bool_value is not None:
            found[pair.key] = str(value.bool_value).lower()
    return found
