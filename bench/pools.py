"""Measures the cost of a round over pools while nodes change, beside reading the same pages.

The app's rounds run in a separate process against the Batch emulator on loopback and a real Azurite. "Reading" is the
SDK client's `send_request` and `orjson.loads` of that round's requests, in the same process. CPU is that process's, so
other load on the machine matters little.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.emulated.services import measured_by, running_emulator, running_storage
from bench.report.command import bench_parser, show
from bench.report.rows import row

MEASURED_PATHS = ("functions", "shared/domain", "shared/services", "shared/stores")
_QUICK, _FULL = 10, 100  # pools
_NODES, _SHARE = 50, 0.05
_BAR, _LEDGERS = 3, 0.05


@contextmanager
def _stage() -> Iterator[dict[str, str]]:
    """Runs Azurite in memory and an emulator that can be filled, inside the block."""
    with running_storage() as storage, running_emulator("--stepped") as (emulator, controls):
        yield {"emulator": emulator, "controls": controls, "storage": storage}


def _run(pools: int, *, moving: int, busy: bool) -> dict[str, Any]:
    changed = int(pools * _NODES * _SHARE)
    print(f"{pools} pools of {_NODES}, {changed} nodes of {moving} change, busy: {busy}", file=sys.stderr, flush=True)
    with _stage() as stage:
        shape = {"pools": pools, "nodes": _NODES, "changed": changed, "moving": moving, "busy": busy}
        return measured_by("pools_app", json.dumps(stage | shape))


def measure(pools: int) -> list[dict[str, Any]]:
    """Returns rows in the format of all benchmarks."""
    few = max(1, int(pools * _SHARE))
    cases = {
        "tasks run, all pools change": _run(pools, moving=pools, busy=True),
        "tasks run, a few pools change": _run(pools, moving=few, busy=True),
        "nothing runs, all pools change": _run(pools, moving=pools, busy=False),
        "nothing runs, a few pools change": _run(pools, moving=few, busy=False),
    }
    busy = cases["tasks run, all pools change"]
    return [
        *_rounds(cases),
        row("first round", busy["first"], "s CPU"),
        row("GET pools, all of them", busy["pools"], "ms"),
        row(f"GET nodes of a pool of {_NODES}", busy["nodes"], "ms"),
    ]


def _rounds(cases: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields rows whose bar refers to all pages of a round, which can't know in advance which pages have changes.

    If few pools change, the bar isn't met against the pages of these alone, which the rows without a bar show.
    """
    whole, some = "reading the same pages", "reading the pages of these pools"
    for name, found in cases.items():
        yield row(f"round, {name}", found["round"], "s CPU", other=(found["reading"], whole), bar=_BAR)
    for name, found in cases.items():
        if "a few" in name:
            yield row(f"round, {name}", found["round"], "s CPU", other=(found["changedReading"], some))
    for name, found in cases.items():
        if "all pools" in name:
            unchanged = f"round, {name.partition(',')[0]}, unchanged"
            yield row(unchanged, found["quiet"], "s CPU", other=(found["quietReading"], whole))
            ledgers = f"usage ledgers in a round, {name.partition(',')[0]}"
            yield row(ledgers, found["ledgers"], "s CPU", other=(found["round"], "the round"), bar=_LEDGERS)


def main() -> int:
    """Returns 1 if a bar is missed."""
    parser = bench_parser("pools", __doc__)
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK} pools; bars are for {_FULL}")
    options = parser.parse_args()
    rows = measure(_QUICK if options.quick else _FULL)
    return show("pools", rows, options.json)


if __name__ == "__main__":
    sys.exit(main())
