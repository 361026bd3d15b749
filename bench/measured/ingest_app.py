"""Decoding in `bench ingest`, in separate processes: `python -m bench.measured.ingest_app SCENARIO FILE`."""

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import zstandard
from line_protocol_parser import parse_line

from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.sessions.intake import Intake, Window

_RUNS = 5
_TIMES = Window(datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))


def main(scenario: str, file: str) -> None:
    print(json.dumps({"lines": _lines, "frames": _frames}[scenario](Path(file))))


def _lines(path: Path) -> dict[str, Any]:
    """Returns seconds of CPU for all lines, the least of several turns: ours and the C library's, line by line."""
    stored = path.read_bytes()
    count = stored.count(b"\n")

    def ours() -> None:
        found = sum(len(step.metrics) for step in Decoder().steps(stored, 0))
        if found != count:
            raise RuntimeError(f"{found} of {count} lines were read")

    def other() -> None:
        for line in stored.decode().splitlines():
            parse_line(line)

    return {"count": count, **_side_by_side(ours=ours, other=other)}


def _frames(path: Path) -> dict[str, Any]:
    """Returns seconds of CPU for all frames, the least of several turns: decoded, also rolled up, and plainly read."""
    stored = path.read_bytes()

    def ours() -> None:
        for _ in Decoder().steps(stored, 0):
            pass

    def rolled_up() -> None:
        intake = Intake(Identity(), _TIMES)
        for step in Decoder(together=True).steps(stored, 0):
            intake.take(step)

    def other() -> None:
        rest = stored
        while rest:
            decoder = zstandard.ZstdDecompressor().decompressobj()
            orjson.loads(decoder.decompress(rest))
            rest = decoder.unused_data

    return {"count": len(stored), **_side_by_side(ours=ours, rolledUp=rolled_up, other=other)}


def _side_by_side(**runs: Callable[[], None]) -> dict[str, float]:
    """Returns the least time of several turns in which each runs once: other load only adds to CPU time."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(_RUNS):
        for name, run in runs.items():
            seconds[name].append(_cpu(run))
    return {name: min(values) for name, values in seconds.items()}


def _cpu(run: Callable[[], None]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


if __name__ == "__main__":
    main(*sys.argv[1:3])
