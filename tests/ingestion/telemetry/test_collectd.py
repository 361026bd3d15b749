"""A real, unmodified producer: line protocol that collectd sends, captured into an append blob."""

import asyncio
import secrets
import shutil
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local.azurite import StorageAddresses
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.rollups.rollups import Rollup
from tests.ingestion.telemetry.telemetry_rig import HOUR, MINUTE, TelemetryRig, blob_of

PATIENCE, MIN_TIMES = 60, 7
CONFIGURATION = """
Hostname "node-1"
FQDNLookup false
Interval 0.5
BaseDir "{place}"
PIDFile "{place}/pid"
TypesDB "/usr/share/collectd/types.db"
LoadPlugin cpu
<Plugin cpu>
  ValuesPercentage true
</Plugin>
LoadPlugin memory
LoadPlugin interface
LoadPlugin df
LoadPlugin load
LoadPlugin processes
LoadPlugin uptime
LoadPlugin contextswitch
LoadPlugin write_influxdb_udp
<Plugin write_influxdb_udp>
  Server "127.0.0.1" "{port}"
</Plugin>
"""
GAUGES = {  # the series of each, and the factor of its values
    ("memory", "", "memory", "used", "value"): ("system.memory.usage", {"system.memory.state": "used"}, 1),
    ("memory", "", "memory", "slab_recl", "value"): (
        "system.memory.linux.slab.usage", {"system.memory.linux.slab.state": "reclaimable"}, 1,
    ),
    ("cpu", "0", "percent", "user", "value"): (
        "system.cpu.utilization", {"cpu.logical_number": "0", "cpu.mode": "user"}, 0.01,
    ),
    ("load", "", "load", "", "shortterm"): ("system.cpu.load_average.1m", {}, 1),
    ("df", "root", "df_complex", "used", "value"): (
        "system.filesystem.usage", {"batchscope.filesystem.name": "root", "system.filesystem.state": "used"}, 1,
    ),
    ("processes", "", "ps_state", "running", "value"): ("system.process.count", {"process.state": "running"}, 1),
    ("uptime", "", "uptime", "", "value"): ("system.uptime", {}, 1),
}  # fmt: skip
COUNTERS = {
    ("interface", "lo", "if_octets", "", "rx"): (
        "system.network.io", {"network.interface.name": "lo", "network.io.direction": "receive"},
    ),
    ("interface", "lo", "if_packets", "", "tx"): (
        "system.network.packet.count", {"network.interface.name": "lo", "network.io.direction": "transmit"},
    ),
    ("processes", "", "fork_rate", "", "value"): ("system.process.created", {}),
}  # fmt: skip
type Values = dict[tuple[str, ...], list[float]]


@pytest.fixture
async def rig(azurite: StorageAddresses) -> AsyncIterator[TelemetryRig]:
    async with TelemetryRig(azurite.connection_string, f"t{secrets.token_hex(6)}") as opened:
        opened.clock.time = datetime.now(UTC) + timedelta(seconds=30)
        yield opened


@pytest.fixture(scope="module")
def program() -> str:
    found = shutil.which("collectd", path="/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin")
    return found or pytest.skip("no collectd on this machine")


async def captured(program: str, place: Path) -> list[bytes]:
    """Returns datagrams, captured until every key has several values."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        configuration = place / "collectd.conf"
        configuration.write_text(CONFIGURATION.format(place=place, port=listener.getsockname()[1]))
        running = await asyncio.create_subprocess_exec(program, "-f", "-C", str(configuration), stdout=-3, stderr=-3)
        found: list[bytes] = []
        try:
            async with asyncio.timeout(PATIENCE):
                while not is_enough(values_of(found)):
                    found.append(await loop.sock_recv(listener, 65_536))
            return found
        finally:
            running.terminate()
            await running.wait()


def is_enough(values: Values) -> bool:
    return all(len(values.get(key, ())) >= MIN_TIMES for key in (*GAUGES, *COUNTERS))


def values_of(datagrams: list[bytes]) -> Values:
    """Returns values in order by plugin, instance, type, type instance and field, parsed independently."""
    found: Values = {}
    for line in b"".join(datagrams).decode().splitlines():
        head, fields, _ = line.split(" ")
        name, *pairs = head.split(",")
        tags = dict(pair.split("=") for pair in pairs)
        for pair in fields.split(","):
            field, value = pair.split("=")
            key = (name, *(tags.get(tag, "") for tag in ("instance", "type", "type_instance")), field)
            found.setdefault(key, []).append(float(value.rstrip("i")))
    return found


async def test_values_sent_by_collectd_are_shown(rig: TelemetryRig, program: str, tmp_path: Path) -> None:
    datagrams = await captured(program, tmp_path)
    host, half = await rig.host(), len(datagrams) // 2
    for some in (datagrams[:half], datagrams[half:]):
        await rig.append(*some, name=blob_of("node-1"))
        await host.run()
    sent = values_of(datagrams)
    now = await rig.clock.now()
    answer = await rig.queries.of_node("demo", "pool", "node-1", SeriesQuery(since=now - HOUR, step=MINUTE))
    shown: dict[tuple[str, frozenset[tuple[str, str]]], list[Rollup]] = {
        (series.name, frozenset(series.attributes)): list(minutes.values())
        for series, minutes in answer.rollups.items()
    }
    for key, (name, attributes, factor) in GAUGES.items():
        rollups = shown[name, frozenset(attributes.items())]
        assert sum(one.count for one in rollups) == len(sent[key]) > 3, key
        assert sum(one.sum for one in rollups) == pytest.approx(factor * sum(sent[key])), key
        assert max(one.max for one in rollups) == pytest.approx(factor * max(sent[key])), key
    for key, (name, attributes) in COUNTERS.items():
        rollups = shown[name, frozenset(attributes.items())]
        assert sum(one.sum for one in rollups) == sent[key][-1] - sent[key][0], key
    assert sent["interface", "lo", "if_octets", "", "rx"][-1] > sent["interface", "lo", "if_octets", "", "rx"][0]
    left = answer.left_out
    assert left.records == b"".join(datagrams).count(b"\n")
    assert left.unknown == {}
    assert (left.refused, left.without_time, left.out_of_window, left.late, left.no_numbers) == (0, 0, 0, 0, 0)
