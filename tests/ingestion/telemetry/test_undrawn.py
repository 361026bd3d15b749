"""Nodes without charts though data arrived: its detected format, and the reason."""

import gzip
from datetime import date

import pytest

from shared.domain.blobs.blobs import BlobRows
from shared.domain.blobs.uncharted_blobs import ArrivedBlob
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.stores.telemetry.node_index import NodeIndex
from tests.ingestion.telemetry.telemetry_rig import DAY, TelemetryRig, blob_of, used

PROMETHEUS = b'# TYPE node_cpu counter\nnode_cpu{mode="idle"} 12.5\nnode_load1 0.3\n'
OTLP_LOGS = b'{"resourceLogs":[{"resource":{}}]}'


async def undrawn(rig: TelemetryRig, node: str = "n1") -> list[tuple[str, str, str, bool]]:
    found = await rig.queries.of_node("demo", "pool", node, SeriesQuery(since=(await rig.clock.now()) - DAY / 24))
    return [(one.arrival.blob, one.arrival.format, one.reason, one.arrival.names_node) for one in found.undrawn]


@pytest.mark.parametrize(
    ("content", "seems", "reason"),
    [
        (PROMETHEUS, "Prometheus text", "Of its 2 records 2 have no time. Add time stamps: milliseconds"),
        (gzip.compress(PROMETHEUS, mtime=0), "gzip of Prometheus text", "Of its 2 records 2 have no time. Add time"),
        (OTLP_LOGS, "JSON of OTLP without metrics", "It seems to be JSON of OTLP without metrics"),
        (OTLP_LOGS + b"\n", "JSON of OTLP without metrics", "It seems to be JSON of OTLP without"),
        (b"a,b\n1,2\n3,4\n", "CSV", "It seems to be CSV"),
        (b'foo bar="x" 1786017660000000000\n' * 3, "line protocol", "Of its 3 records 3 are of measurements without"),
        (b"mem used=1i", "line protocol", "It ends before its first record does"),
        (b"mem used=1i 1\n", "line protocol", "Of its 1 records 1 are of a time that isn't kept."),
        (b"PAR1\x15\x04" + bytes(2000), "Parquet", "It seems to be Parquet"),
    ],
)  # fmt: skip
async def test_a_blob_without_any_series_has_a_reason(
    rig: TelemetryRig, content: bytes, seems: str, reason: str
) -> None:
    await rig.append(content, name=blob_of("n1"))
    for host in (await rig.host(), await rig.host()):
        await host.run()
        ((blob, found, why, names_node),) = await undrawn(rig)
        assert (blob, found, names_node) == (blob_of("n1"), seems, True)
        assert why.startswith(reason)
        if content.endswith(b"\n"):
            await rig.append(content, name=blob_of("n1"))
            doubled = {"Of its 3 records 3": "Of its 6 records 6", "Of its 2 records 2": "Of its 4 records 4",
                       "Of its 1 records 1": "Of its 2 records 2"}  # fmt: skip
            reason = next((reason.replace(*pair) for pair in doubled.items() if pair[0] in reason), reason)


async def test_blobs_without_a_node_are_listed_for_nodes_without_telemetry(rig: TelemetryRig) -> None:
    rig.pattern = "**/*"
    await rig.append(b'host_unknown,host=n1 value="x" 1786017660000000000\n', name="by-tag.json")
    await rig.append(PROMETHEUS, name="anything.json")
    await (await rig.host()).run()
    assert [(blob, names) for blob, _, _, names in await undrawn(rig)] == [("by-tag.json", True)]
    await rig.append(b"\0" * 10, name="more.json")
    await (await rig.host()).run()
    found = {blob: names for blob, _, _, names in await rig_of_nobody(rig)}
    assert found == {"anything.json": False, "more.json": False}


async def rig_of_nobody(rig: TelemetryRig) -> list[tuple[str, str, str, bool]]:
    queries = rig.queries
    wanted = await queries.range_of(SeriesQuery(since=(await rig.clock.now()) - DAY / 24))
    found = await queries._undrawn("demo", "pool", "another", wanted)
    return [(one.arrival.blob, one.arrival.format, one.reason, one.arrival.names_node) for one in found]


async def test_a_node_with_a_series_has_no_undrawn_blobs(rig: TelemetryRig) -> None:
    await rig.append(b"nonsense\n", used(3), name=blob_of("n1"))
    await rig.append(b"nonsense\n", name=blob_of("n1", 1))
    await (await rig.host()).run()
    assert await undrawn(rig) == []


async def test_the_format_stays_known_on_later_days(rig: TelemetryRig) -> None:
    for _ in range(2):
        await rig.append(PROMETHEUS, name=blob_of("n1"))
        await (await rig.host()).run()
        rig.clock.time += DAY
    now = await rig.clock.now()
    found = (await rig.queries.of_node("demo", "pool", "n1", SeriesQuery(since=now - 2.5 * DAY))).undrawn
    assert [one.arrival.format for one in found] == ["Prometheus text"]


async def test_no_more_of_many_blobs_is_read_than_is_shown(rig: TelemetryRig) -> None:
    """Blobs without a node's name may be as many as tasks; those of other pools are excluded."""
    index = NodeIndex(rig.tables)
    day = (await rig.clock.now()).toordinal() - date(1970, 1, 1).toordinal()
    for number in range(30):
        arrival = ArrivedBlob(
            BlobRows("demo", f"{number:02}"), f"{number}.csv", "CSV", pool="other" if number % 2 else "POOL"
        )
        await index.save_arrival("", day, arrival)
    found = await index.load_arrivals("demo", "pool", "", first=day, last=day, most=5)
    assert [one.blob for one in found] == ["0.csv", "2.csv", "4.csv", "6.csv", "8.csv"]
    assert len(await index.load_arrivals("demo", "pool", "", first=day, last=day, most=100)) == 15
