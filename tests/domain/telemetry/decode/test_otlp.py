"""OTLP in JSON and protobuf: both give the same records, and its metrics the series of other agents."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, LogsData, ResourceLogs, ScopeLogs
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AggregationTemporality,
    ExponentialHistogram,
    ExponentialHistogramDataPoint,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    Sum,
    Summary,
    SummaryDataPoint,
)

from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.decode.formats import format_of, is_readable
from shared.domain.telemetry.decode.otlp import MAX_POINTS, NOT_RECORDED
from shared.domain.telemetry.decode.otlp_protobuf import MAX_MESSAGE
from shared.domain.telemetry.query.ranges import line_of
from shared.domain.telemetry.records.bounds import MAX_STORED
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.rollups.rollups import Rollup, merged
from tests.domain.telemetry.decode.otlp_messages import (
    CUMULATIVE,
    DELTA,
    FORMS,
    as_json,
    as_protobuf,
    framed,
    message,
    number,
)
from tests.domain.telemetry.support.nodes import BEGIN, SECOND, intake
from tests.domain.telemetry.support.reading import all_steps, contents

LATER = BEGIN + 30 * SECOND
RESOURCE = {"host.name": "h", "azure.batch.pool.id": "p", "azure.batch.node.id": "n", "os.type": "linux"}
type Encoder = Callable[[MetricsData], bytes]
forms = pytest.mark.parametrize("form", FORMS)


def counter(
    name: str, *points: NumberDataPoint, unit: str = "", temporality: AggregationTemporality.ValueType = CUMULATIVE
) -> Metric:
    data = Sum(data_points=points, aggregation_temporality=temporality, is_monotonic=True)
    return Metric(name=name, unit=unit, sum=data)


def gauge(name: str, *points: NumberDataPoint, unit: str = "") -> Metric:
    return Metric(name=name, unit=unit, gauge=Gauge(data_points=points))


HOST = message(
    counter("system.cpu.time", *(number(value, at, cpu="cpu0", state="wait")
                                 for value, at in ((1.5, BEGIN), (4.0, LATER)))),
    Metric(name="system.memory.usage", unit="By", sum=Sum(
        data_points=[number(7, BEGIN, state="buffered")], aggregation_temporality=CUMULATIVE)),
    counter("system.disk.io", *(number(value, at, system__device="sda", disk__io__direction="read")
                                for value, at in ((60, BEGIN), (60, LATER))), temporality=DELTA),
    counter("system.network.packets", *(number(value, at, device="eth0", direction="receive")
                                        for value, at in ((0, BEGIN), (30, LATER)))),
    gauge("hw.gpu.utilization", number(0.25, BEGIN, hw__id="5", hw__gpu__task="general")),
    gauge("training.loss", number(0.5, BEGIN, run="a", step=3, final=True), number(float("nan"), LATER, run="a")),
    counter("tokens", *(number(value, at) for value, at in ((5, BEGIN), (65, LATER))), unit="{token}"),
    Metric(name="request.duration", unit="s", histogram=Histogram(aggregation_temporality=CUMULATIVE, data_points=[
        HistogramDataPoint(count=count, sum=float(total), time_unix_nano=at, bucket_counts=[count])
        for count, total, at in ((1, 2, BEGIN), (4, 8, LATER))])),
    Metric(name="latency", unit="s", exponential_histogram=ExponentialHistogram(
        aggregation_temporality=DELTA, data_points=[
            ExponentialHistogramDataPoint(count=3, sum=6.0, time_unix_nano=at) for at in (BEGIN, LATER)])),
    Metric(name="queue", summary=Summary(data_points=[
        SummaryDataPoint(count=count, sum=float(count), time_unix_nano=at) for count, at in ((1, BEGIN), (3, LATER))])),
    resource=RESOURCE,
)  # fmt: skip
EXPECTED = {
    ("system.cpu.time", "0", "iowait"): ("s", 2.5),
    ("system.memory.usage", "buffers"): ("By", 7),
    ("system.disk.io", "read", "sda"): ("By", 60),
    ("system.network.packet.count", "eth0", "receive"): ("{packet}", 30),
    ("hw.gpu.utilization", "general", "5", "gpu"): ("1", 0.25),
    ("custom.training.loss", "true", "a", "3"): ("", 0.5),
    ("custom.tokens",): ("{token}", 60),
    ("custom.request.duration.count",): ("", 3),
    ("custom.request.duration.sum",): ("s", 6),
    ("custom.latency.count",): ("", 3),
    ("custom.latency.sum",): ("s", 6),
    ("custom.queue.count",): ("", 2),
    ("custom.queue.sum",): ("", 2),
}


@forms
def test_metrics_have_the_series_of_other_agents_in_every_form(form: Encoder) -> None:
    reader = intake()
    found = [reader.take(step) for step in Decoder().steps(form(HOST), 0)]
    lines: dict[tuple[str, ...], tuple[str, float]] = {}
    for series, minutes in merged(part for one in found for part in one.rollups.values()).items():
        line = line_of(series, minutes)
        rollups: list[Rollup] = [one for _, one in line.points]
        lines[line.name, *dict(line.attributes).values()] = line.unit, sum(one.sum for one in rollups)
    assert lines == EXPECTED
    assert {session.whose for one in found for session in one.sessions.values()} == {Identity(pool="p", node="n")}
    assert sum(one.dropped.refused for one in found) == sum(one.dropped.without_time for one in found) == 0


@forms
def test_a_message_is_one_whole_unit_wherever_a_blob_is_cut(form: Encoder) -> None:
    one, other = (form(message(gauge("loss", number(value, BEGIN)))) for value in (1, 2))
    for cut in range(len(one) + len(other)):
        found, rejected = contents(all_steps(one + other, [cut]))
        assert not rejected
        assert [metric.fields for metric in found] == [{"gauge": 1}, {"gauge": 2}], cut


def test_a_gauge_and_a_sum_that_may_fall_are_gauges_and_a_change_is_no_series() -> None:
    may_fall = [
        Metric(name=name, sum=Sum(data_points=[number(3, BEGIN)], aggregation_temporality=kind))
        for name, kind in (("a", CUMULATIVE), ("b", DELTA))
    ]
    found, _ = contents(Decoder().steps(as_protobuf(message(*may_fall)), 0))
    assert [(metric.name, metric.fields) for metric in found] == [("a", {"gauge": 3}), ("b", {})]


@pytest.mark.parametrize("form", FORMS[:2])
def test_a_point_without_a_time_or_a_number_is_counted(form: Encoder) -> None:
    untimed, empty = number(1, 0), number(1, BEGIN)
    empty.ClearField("as_int")
    reader = intake()
    (found,) = [reader.take(step) for step in Decoder().steps(form(message(gauge("loss", untimed, empty))), 0)]
    assert (found.dropped.without_time, found.dropped.unknown, found.rollups) == (1, {"loss": 1}, {})


def with_stale[T: (HistogramDataPoint, ExponentialHistogramDataPoint, SummaryDataPoint)](kind: type[T]) -> list[T]:
    """Returns three points, the second without a recorded value, as after a failed scrape."""
    return [
        kind(time_unix_nano=BEGIN, count=100, sum=200),
        kind(time_unix_nano=BEGIN + 10 * SECOND, flags=NOT_RECORDED),
        kind(time_unix_nano=LATER, count=101, sum=202),
    ]


@forms
def test_a_point_without_a_recorded_value_is_no_reading(form: Encoder) -> None:
    stale = number(0, BEGIN + 10 * SECOND)
    stale.flags = NOT_RECORDED
    sent = message(
        counter("sum", number(100, BEGIN), stale, number(101, LATER)),
        gauge("gauge", stale),
        Metric(name="histogram", histogram=Histogram(
            aggregation_temporality=CUMULATIVE, data_points=with_stale(HistogramDataPoint))),
        Metric(name="exponential", exponential_histogram=ExponentialHistogram(
            aggregation_temporality=CUMULATIVE, data_points=with_stale(ExponentialHistogramDataPoint))),
        Metric(name="summary", summary=Summary(data_points=with_stale(SummaryDataPoint))),
    )  # fmt: skip
    reader = intake()
    (found,) = [reader.take(step) for step in Decoder().steps(form(sent), 0)]
    growth = {
        line_of(series, minutes).name.removeprefix("custom."): sum(one.sum for one in minutes.values())
        for series, minutes in merged(found.rollups.values()).items()
    }
    distributions = ("histogram", "exponential", "summary")
    counts, sums = ({f"{name}.{part}": value for name in distributions} for part, value in (("count", 1), ("sum", 2)))
    assert growth == {"sum": 1, **counts, **sums}
    assert found.dropped.unknown == {}


LOGS = LogsData(resource_logs=[ResourceLogs(scope_logs=[ScopeLogs(log_records=[LogRecord(severity_text="INFO")])])])


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (b'{"resourceLogs":[]}\n', "of OTLP only metrics are read"),
        (b'{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":5}]}]}]}\n', "no OTLP metrics message"),
        (b'{"resourceMetrics":[{]}\n', "no valid JSON"),
        (framed(LOGS.SerializeToString()), "of OTLP only metrics are read"),
        (framed(b"\x0a\x05\x12\x03\x12\x01\xff"), "no OTLP metrics message"),
    ],
)
def test_what_is_no_message_of_metrics_is_put_aside_and_the_next_one_is_read(stored: bytes, reason: str) -> None:
    following = as_protobuf(HOST) if stored.startswith(b"\0") else as_json(HOST)
    found, rejected = contents(Decoder().steps(stored + following, 0))
    assert [(one.start, one.end) for one in rejected] == [(0, len(stored.removesuffix(b"\n")))]
    assert reason in rejected[0].reason
    assert len(found) == len(contents(Decoder().steps(following, 0))[0])


@given(st.integers(0, 300), st.binary(min_size=1, max_size=40))
def test_reading_resumes_at_the_next_whole_message(place: int, garbage: bytes) -> None:
    good = as_protobuf(HOST)
    damaged = good[: min(place, len(good) - 1)] + b"\xff" + garbage
    found, _ = contents(Decoder().steps(damaged + good * 3, 0))
    assert sum(metric.name == "tokens" for metric in found) >= 2 * 2


def test_a_length_beyond_any_message_is_put_aside() -> None:
    stored = (MAX_STORED + 1).to_bytes(4) + b"\x0a\x0a\x12" + b"\xff" * 50 + as_protobuf(HOST)
    found, rejected = contents(Decoder().steps(stored, 0))
    assert rejected
    assert len(found) == 24


def test_a_message_that_claims_more_than_has_come_waits_and_is_put_aside_at_the_end() -> None:
    stored = (MAX_MESSAGE + 1).to_bytes(4) + b"\x0a" * 50
    assert list(Decoder().steps(stored, 0)) == []
    _, rejected = contents(Decoder().steps(stored, 0, is_last=True))
    assert rejected


@pytest.mark.parametrize(
    "content",
    [
        b"\x0a\x00" * (MAX_MESSAGE // 2 + 1),
        message(gauge("loss", *[number(1, BEGIN)] * (MAX_POINTS + 1))).SerializeToString(),
    ],
    ids=["many bytes", "many points"],
)
def test_a_hostile_message_is_bounded(content: bytes) -> None:
    begun = time.process_time()
    step = next(Decoder().steps(framed(content), 0, is_last=True))
    assert time.process_time() - begun < 2
    assert "more than" in step.rejected[0].reason


def test_the_format_is_told_by_content() -> None:
    assert [format_of(form(HOST)) for form in FORMS] == ["OTLP", "OTLP JSON", "OTLP", "OTLP"]
    assert all(is_readable(format_of(form(HOST))) for form in FORMS)
