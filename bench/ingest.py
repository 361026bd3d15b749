"""Measures the ingestion of node telemetry beside the tools that a user would read it with.

Line protocol is compared with `line-protocol-parser`, a C library that is unsafe for untrusted input. Frames of TES
nodes, read from a real Azurite, decoded, rolled up and stored, are compared with zstd and `orjson.loads`. Peak memory
is measured for a large blob, and for the shortest records in the largest frames of four accounts in parallel. Queries
are of a pool whose nodes an emulator has. Each measurement runs in a separate process; CPU is that process's, and the
compared sides alternate.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from azure.storage.blob import BlobServiceClient

from bench.emulated.services import measured_by, running_emulator, running_storage
from bench.measured.ingest_memory import blob_of
from bench.parts import telemetry
from bench.report.command import bench_parser, show
from bench.report.rows import row

MEASURED_PATHS = ("shared/domain/telemetry", "shared/services", "shared/stores", "shared/garbage.py")
_MB = 1_000_000
_SPEED, _QUICK, _SIZE = 10, 20, 100  # megabytes of text
_NODES, _LANES = 16, 4  # nodes that flush between two sweeps; accounts read in parallel
_POOL_NODES = 5_000
_LINE_NODES = 250  # the flushes of a sweep that hosts don't share yet
_BLOCK = 4 << 20
_KEPT = timedelta(days=6)
_LIBRARY, _USUAL = "line-protocol-parser (C)", "zstd + orjson"


def measure(megabytes: int) -> Iterator[dict[str, Any]]:
    """Yields rows in the format of all benchmarks; memory is for that many megabytes of text."""
    many = megabytes * _MB
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        few = _SPEED * _MB
        lines = _run("lines", _file(files / "few.lines", telemetry.lines(few)))
        in_order = _run("lines", _file(files / "sorted.lines", telemetry.lines(few, is_sorted=True)))
        frames = _run("frames", _file(files / "few.frames", b"".join(telemetry.frames(few))))
    stored = _stored(megabytes)
    begin = int((datetime.now(UTC) - _KEPT).timestamp() * 1000)
    text = _memory({blob_of(0): telemetry.lines(many, begin=begin)})
    packed = _memory({blob_of(0): b"".join(telemetry.frames(many, begin=begin))})
    shortest = _memory({blob_of(ingest_partition): telemetry.shortest_records() for ingest_partition in range(_LANES)})
    caught, live = stored["catchUp"], stored["live"]
    for name, found in (("line protocol", lines), ("line protocol, fields sorted", in_order)):
        speed, other = found["count"] / found["ours"], found["count"] / found["other"]
        yield row(name, speed, "lines/s", other=(other, _LIBRARY), least=0.6)
    yield row("TES frames, decoded", frames["ours"], "s CPU", other=(frames["other"], _USUAL))
    yield row("TES frames, decoded and rolled up", frames["rolledUp"], "s CPU", other=(frames["other"], _USUAL))
    backlog = f"all of ingestion, a backlog of {megabytes} MB"
    yield row(backlog, caught["ours"], "s CPU", other=(caught["other"], _USUAL), bar=4)
    yield row("all of ingestion, live", live["ours"], "ms CPU a flush", other=(live["other"], _USUAL))
    yield from _pool_queries()
    flush = stored["lines"]
    yield row("a live flush of 312 lines", flush["ours"], "ms CPU", other=(flush["other"], "decoding alone"))
    yield row("a live flush of 312 lines, alone", flush["ours"], "ms CPU", bar=12)
    yield row("a live flush of 312 lines, without rows of pools", flush["requests"], "requests", bar=3)
    yield row(f"its share of rows of pools, {_LINE_NODES} nodes at once", flush["poolRequests"], "requests")
    days, whole = stored["day"], stored["day"]["all"]
    for name, chart in (("node", days["chart"]), ("task", days["task"])):
        yield row(f"a chart of a day of a {name} in 166 blobs", chart["cpu"], "s CPU", bar=0.2)
        yield row(f"a chart of a day of a {name} in 166 blobs", chart["requests"], "requests", bar=20)
    yield row(f"all its {whole['points']:,} points", whole["cpu"], "s CPU")
    yield row(f"all its {whole['points']:,} points", whole["requests"], "requests")
    yield row(f"peak memory over the baseline, {megabytes} MB of lines", text, "MB", bar=100)
    yield row(f"peak memory over the baseline, {megabytes} MB in frames", packed, "MB", bar=100)
    yield row(f"the same, the shortest records, {_LANES} accounts", shortest, "MB", bar=100)


def _pool_queries() -> Iterator[dict[str, Any]]:
    """Yields rows of queries over a pool, with storage in memory and nodes of an emulator."""
    with running_storage() as storage, running_emulator("--stepped") as (emulator, controls):
        shape: dict[str, Any] = {"emulator": emulator, "controls": controls, "storage": storage}
        shape |= {"pools": 1, "nodes": _POOL_NODES, "changed": 0, "moving": 0, "busy": False}
        found = measured_by("pool_queries_app", json.dumps(shape))
    name = f"a pool of {_POOL_NODES:,} nodes"
    day, heat = found["day"], found["map"]
    yield row(f"a day of {name}", day["cpu"], "s CPU", other=(found["sorted"], "sorting the values alone"), bar=30)
    for kind, one in ((f"a day of {name}", day), (f"a map of {name}", heat)):
        yield row(kind, one["requests"], "requests", other=(_POOL_NODES, "a request a node"), bar=1 / 20)
        yield row(kind, one["bytes"] / _MB, "MB from storage")
    yield row(f"a map of {name}", heat["cpu"], "s CPU", bar=2)


def _file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _stored(megabytes: int) -> dict[str, Any]:
    """Measures all of ingestion, with storage in memory."""
    with running_storage() as storage:
        shape = {"storage": storage, "megabytes": megabytes, "nodes": _NODES, "lineNodes": _LINE_NODES}
        return measured_by("ingest_stored", json.dumps(shape))


def _memory(blobs: dict[str, bytes]) -> float:
    """Returns peak memory in MB above a process that has read a little; storage is in a separate process."""
    with running_storage() as storage:
        little = b"".join(telemetry.flushes(2, cpus=2, begin=telemetry.BEGIN))
        for container, some in (("warm", dict.fromkeys(blobs, little)), ("many", blobs)):
            _written(storage, container, some)
        given = {"storage": storage, "warm": "warm", "container": "many", "accounts": len(blobs)}
        return float(measured_by("ingest_memory", json.dumps(given))["peak"])


def _written(storage: str, container: str, blobs: dict[str, bytes]) -> None:
    with BlobServiceClient.from_connection_string(storage) as service:
        made = service.create_container(container)
        for name, content in blobs.items():
            blob = made.get_blob_client(name)
            blob.create_append_blob()
            for at in range(0, len(content), _BLOCK):
                blob.append_block(content[at : at + _BLOCK])


def _run(scenario: str, path: Path) -> dict[str, Any]:
    print(f"{scenario}: {path.stat().st_size / _MB:,.1f} MB", file=sys.stderr, flush=True)
    return measured_by("ingest_app", scenario, str(path))


def main() -> int:
    parser = bench_parser("ingest", __doc__)
    parser.add_argument("--quick", action="store_true", help=f"memory of {_QUICK} MB; the bars are for {_SIZE} MB")
    options = parser.parse_args()
    rows = list(measure(_QUICK if options.quick else _SIZE))
    return show("ingest", rows, options.json)


if __name__ == "__main__":
    sys.exit(main())
