"""Runs the node agent's collectors on a large node's tree in its own process; prints their cost as JSON.

Time is stepped: 10 seconds pass between samples, so that only work is measured.
"""

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from agent.collection import Collection
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.records.record import Value
from agent.sampling import Sampler
from agent.upload.gzip_units import units_of
from bench.parts.large_node import LargeNode

_SAMPLES, _WARM, _INTERVAL, _FLUSH = 72, 12, 10, 120


class SteppedClock(Clock):
    def __init__(self) -> None:
        self.passed = 100.0
        self.begin = super().now()

    def now(self) -> int:
        return self.begin + int(self.passed * 1e9)

    def monotonic(self) -> float:
        return self.passed

    def raw(self) -> float:
        return self.passed


class PackedLines:
    """Packs lines as the uploader does, and counts bytes."""

    def __init__(self) -> None:
        self.size = self.records = 0

    def put(self, lines: bytes, records: int) -> None:
        self.size += sum(len(unit.content) for unit in units_of(lines, "session", 0))
        self.records += records

    def fields(self) -> Mapping[str, Value]:
        return {}


def main(folder: str) -> None:
    node, clock, packed = LargeNode(Path(folder)), SteppedClock(), PackedLines()
    collection = Collection(Machine(folder), clock, interval=_INTERVAL, folder=folder, imds="http://127.0.0.1:9")
    log: list[str] = []
    sampler = Sampler(collection.collectors, packed, clock, flush=_FLUSH, phase=1.0, log=log.append)
    spent = 0.0
    for sample in range(_SAMPLES + _WARM):
        if sample == _WARM:
            spent, packed.size, packed.records = 0.0, 0, 0
        node.advance(_INTERVAL)
        clock.passed += _INTERVAL
        before = time.process_time()
        sampler.step()
        spent += time.process_time() - before
    if log:
        raise ValueError(f"collectors failed: {log}")
    seconds = _SAMPLES * _INTERVAL
    found = {
        "share": spent / seconds,
        "peak": _peak(),
        "bytes": packed.size * 3600 / seconds,
        "records": packed.records,
    }
    print(json.dumps({**found, "collectors": [collector.name for collector in collection.collectors]}))


def _peak() -> float:
    """Returns peak resident MB of this program alone."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


if __name__ == "__main__":
    main(sys.argv[1])
