"""Blobs of OTLP and of Prometheus text, appended in pieces: each value is stored once, in series of other agents."""

from collections.abc import Callable

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Gauge, Metric, MetricsData

from shared.domain.telemetry.query.series_query import SeriesQuery
from tests.domain.telemetry.decode.otlp_messages import as_compressed_protobuf, as_json, as_protobuf, message, number
from tests.ingestion.rig import NOON
from tests.ingestion.telemetry.telemetry_rig import TelemetryRig, blob_of

AT = int(NOON.timestamp())


def usage(value: int) -> MetricsData:
    points = [number(value, AT * 10**9, state="used"), number(1, AT * 10**9, state="free")]
    loss = Metric(name="loss", gauge=Gauge(data_points=[number(value, AT * 10**9)]))
    return message(Metric(name="system.memory.usage", unit="By", gauge=Gauge(data_points=points)), loss)


def exposition(value: int) -> bytes:
    lines = (f"# timestamp {AT}", "# TYPE loss gauge", f"loss {value}", f"node_memory_MemFree_bytes {value}", "# EOF")
    return "\n".join((*lines, "")).encode()


@pytest.mark.parametrize(
    ("write", "state"),
    [
        (lambda value: as_json(usage(value)), "used"),
        (lambda value: as_protobuf(usage(value)), "used"),
        (lambda value: as_compressed_protobuf(usage(value)), "used"),
        (exposition, "free"),
    ],
)  # fmt: skip
async def test_a_blob_that_grows_within_units_is_stored_once(
    rig: TelemetryRig, write: Callable[[int], bytes], state: str
) -> None:
    name, host = blob_of("n1"), await rig.host()
    first, second = write(5), write(7)
    for part in (first[:9], first[9:] + second[:-3], second[-3:]):
        await rig.append(part, name=name)
        await host.run()
    answer = await rig.queries.of_node("demo", "pool", "n1", SeriesQuery(since=NOON.replace(minute=0)))
    sums = {
        (line.name, *dict(line.attributes).values()): sum(one.sum for _, one in line.points) for line in answer.lines
    }
    assert sums["custom.loss",] == 12
    assert sums["system.memory.usage", state] == 12
    assert (answer.left_out.refused, answer.left_out.without_time) == (0, 0)
