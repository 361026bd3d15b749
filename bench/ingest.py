"""What it costs to take in node telemetry, beside what a user would read it with.

Line protocol beside `line-protocol-parser`, a C library that must not be given what isn't trusted; frames of TES nodes
beside zstd and `orjson.loads`, read from a real Azurite, decoded, rolled up and stored; peak memory for all of a large
blob, read window by window. Each in a process of its own; CPU is that process's, and sides take turns.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import _telemetry
from bench._rows import answer, row, table
from local.azurite import StorageAddresses, azurite_program
from local.dev.checkout import HERE
from local.dev.children import Children

_MB = 1_000_000
_SPEED, _QUICK, _SIZE = 10, 20, 100  # megabytes of text
_NODES = 16  # that flush between two sweeps
_LIBRARY, _USUAL = "line-protocol-parser (C)", "zstd + orjson"


def measure(megabytes: int) -> Iterator[dict[str, Any]]:
    """Rows as all benchmarks write them; memory is of so many megabytes of text."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        few, many = _SPEED * _MB, megabytes * _MB
        lines = _run("lines", _file(files / "few.lines", _telemetry.lines(few)))
        frames = _run("frames", _file(files / "few.frames", b"".join(_telemetry.frames(few))))
        text = _run("memory", _file(files / "many.lines", _telemetry.lines(many)))
        packed = _run("memory", _file(files / "many.frames", b"".join(_telemetry.frames(many))))
    stored = _stored(megabytes)
    caught, live = stored["catchUp"], stored["live"]
    count = lines["count"]
    yield row("line protocol", count / lines["ours"], "lines/s", other=(count / lines["other"], _LIBRARY), least=0.6)
    yield row("TES frames, decoded", frames["ours"], "s CPU", other=(frames["other"], _USUAL))
    yield row("TES frames, decoded and rolled up", frames["rolledUp"], "s CPU", other=(frames["other"], _USUAL))
    backlog = f"all of ingestion, a backlog of {megabytes} MB"
    yield row(backlog, caught["ours"], "s CPU", other=(caught["other"], _USUAL), bar=4)
    yield row("all of ingestion, live", live["ours"], "ms CPU a flush", other=(live["other"], _USUAL))
    yield row(f"peak memory over the baseline, {megabytes} MB of lines", text["peak"], "MB", bar=150)
    yield row(f"peak memory over the baseline, {megabytes} MB in frames", packed["peak"], "MB", bar=150)


def _file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _stored(megabytes: int) -> dict[str, Any]:
    """All of ingestion, over storage in memory."""
    with tempfile.TemporaryDirectory() as logs, Children() as children:
        program = azurite_program(HERE, log=Path(logs) / "azurite.log", environment=os.environ)
        storage = StorageAddresses.announced(children.start(program)).connection_string
        told = {"storage": storage, "megabytes": megabytes, "nodes": _NODES}
        return _answered("bench._ingest_stored", json.dumps(told))


def _run(scenario: str, path: Path) -> dict[str, Any]:
    print(f"{scenario}: {path.stat().st_size / _MB:,.1f} MB", file=sys.stderr, flush=True)
    return _answered("bench._ingest_app", scenario, str(path))


def _answered(module: str, *arguments: str) -> dict[str, Any]:
    command = (sys.executable, "-m", module, *arguments)
    done = subprocess.run(command, cwd=HERE.root, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py bench ingest", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measures there")
    parser.add_argument("--quick", action="store_true", help=f"memory of {_QUICK} MB; the bars are for {_SIZE} MB")
    options = parser.parse_args()
    rows = list(measure(_QUICK if options.quick else _SIZE))
    print(table(rows))
    if options.json:
        options.json.write_text(answer("ingest", rows), encoding="utf-8")
    return 0 if all(one["ok"] for one in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
