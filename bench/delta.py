"""Measures the cost of a job of a million tasks: first read, delta cycles, cache and memory, beside alternatives.

The app's services run in separate processes against the Batch emulator on loopback and a real Azurite. "Reading" is the
SDK client's `send_request` and `orjson.loads` of the same pages, with the same `$select`, in the same process. CPU is
that process's, so other load on the machine matters little.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.emulated.services import measured_by, running_emulator, running_storage
from bench.measured.host_memory import host_peak
from bench.parts.delta_parts import Stack
from bench.report.command import bench_parser, show
from bench.report.growth_chart import Line, chart
from bench.report.rows import row
from local.dev.system.checkout import HERE

MEASURED_PATHS = ("shared/domain", "shared/services", "shared/stores", "shared/garbage.py")
_QUICK, _FULL = 100_000, 1_000_000
_SIZES = (10_000, 100_000)
_CHART = HERE.root / "docs/delta-growth.svg"


@dataclass(frozen=True, slots=True)
class Stage:
    """The addresses that a run uses; `run` returns a scenario's figures from a fresh process."""

    emulator: str
    controls: str
    storage: str

    def run(self, scenario: str, kind: str, count: int) -> dict[str, Any]:
        print(f"{scenario}: {count:,} tasks, {kind} ids", file=sys.stderr, flush=True)
        return measured_by("delta_app", scenario, json.dumps(asdict(self) | {"kind": kind, "count": count}))

    def host_memory(self, kind: str, count: int, *, unordered: bool = False) -> float:
        """Returns the peak memory, in megabytes, of a functions host with the app in it."""
        print(f"functions host: {count:,} tasks, {kind} ids, unordered: {unordered}", file=sys.stderr, flush=True)
        stack = Stack(self.emulator, self.controls, self.storage, kind, count)
        return asyncio.run(host_peak(stack, unordered=unordered))


@contextmanager
def _stage(*, stepped: bool = False) -> Iterator[Stage]:
    """Runs Azurite in memory and a filled emulator, optionally with a stepped clock, inside the block."""
    arguments = ("--stepped",) if stepped else ()
    with running_storage() as storage, running_emulator(*arguments) as (emulator, controls):
        yield Stage(emulator, controls, storage)


def measure(count: int) -> tuple[list[dict[str, Any]], dict[int, Any]]:
    """Returns rows in the format of all benchmarks, and cycles with a thousand changes by job size."""
    growth: dict[int, Any] = {}
    with _stage() as stage:
        tasks = stage.run("main", "task", count)
    with _stage() as stage:
        guids = stage.run("guids", "guid", count)
    with _stage() as stage:
        entities = stage.run("entities", "task", count)
        unordered = stage.run("unordered", "task", count)
    with _stage() as stage:
        scattered = stage.run("unordered", "guid", count)
        latency = stage.run("latency", "task", count)
        growth |= {size: stage.run("growth", "task", size) for size in _SIZES if size < count}
    with _stage(stepped=True) as stage:
        overlapping = stage.run("overlapping", "task", count)
    with _stage(stepped=True) as stage:
        overlapping_guids = stage.run("overlapping", "guid", count)
    with _stage() as stage:
        hosts = {"in the order of ids": stage.host_memory("guid", count)}
    with _stage() as stage:
        hosts["any order"] = stage.host_memory("guid", count, unordered=True)
    growth[count] = tasks["growth"]
    rows = [
        *_deltas(tasks, guids, entities),
        *_overlapping(overlapping, overlapping_guids, tasks, guids),
        *_first_reads(tasks, guids, unordered, scattered, latency),
        *_sizes(count, {"task-…": tasks, "GUID": guids, "task-…, any order": unordered, "GUID, any order": scattered}),
        row("peak memory, in the order of ids", max(tasks["memory"], guids["memory"]), "MB", bar=400),
        row("peak memory, any order", max(unordered["memoryFirst"], scattered["memoryFirst"]), "MB", bar=400),
        *(row(f"peak memory of the functions host, {order}", peak, "MB", bar=400) for order, peak in hosts.items()),
        *_growth(growth),
    ]
    return rows, growth


def _deltas(tasks: dict[str, Any], guids: dict[str, Any], entities: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields rows for cycles with one task in a hundred changed."""
    near, far = tasks["contiguous"], tasks["random"]
    every, models = ("reading all pages", "list_tasks, every task")
    yield row("delta, contiguous ids", near["cpu"], "s CPU", other=(near["pages"], "reading the same pages"), bar=5)
    yield row("delta, random task-… ids", far["cpu"], "s CPU", other=(tasks["all"], every), bar=0.8)
    yield row("delta, random GUIDs", guids["random"]["cpu"], "s CPU", other=(guids["all"], every), bar=1.3)
    yield row("delta, contiguous ids", near["cpu"], "s CPU", other=(tasks["models"], models), bar=1 / 500)
    yield row("delta, random task-… ids", far["cpu"], "s CPU", other=(tasks["models"], models), bar=1 / 40)
    yield row("bytes from Batch", near["bytes"], "bytes", other=(tasks["modelsBytes"], models), bar=1 / 80)
    one = "one entity per task"
    yield row("storage, contiguous ids", near["beside"], "s", other=(entities["contiguous"], one), bar=1 / 20)
    yield row("storage, random task-… ids", far["beside"], "s", other=(entities["random"], one), bar=1 / 20)


def _overlapping(
    ours: dict[str, Any], our_guids: dict[str, Any], tasks: dict[str, Any], guids: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yields the same rows with the default overlap, where a poll a minute reads 50 % more; bytes have no bar."""
    near, far = ours["contiguous"], ours["random"]
    every, models = ("reading all pages", "list_tasks, every task")
    yield row(
        "with overlap, contiguous ids", near["cpu"], "s CPU", other=(near["pages"], "reading the same pages"), bar=5
    )
    yield row("with overlap, random task-… ids", far["cpu"], "s CPU", other=(tasks["all"], every), bar=0.8)
    yield row("with overlap, random GUIDs", our_guids["random"]["cpu"], "s CPU", other=(guids["all"], every), bar=1.3)
    yield row("with overlap, contiguous ids", near["cpu"], "s CPU", other=(tasks["models"], models), bar=1 / 500)
    yield row("with overlap, random task-… ids", far["cpu"], "s CPU", other=(tasks["models"], models), bar=1 / 40)
    yield row("with overlap, bytes from Batch", near["bytes"], "bytes", other=(tasks["modelsBytes"], models))


def _first_reads(
    tasks: dict[str, Any],
    guids: dict[str, Any],
    unordered: dict[str, Any],
    scattered: dict[str, Any],
    latency: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    every = "reading all pages"
    yield row("first read, task-… in order", tasks["first"], "s CPU", other=(tasks["all"], every), bar=4)
    yield row("first read, GUIDs in order", guids["first"], "s CPU", other=(guids["all"], every), bar=4)
    yield row("first read, task-… in any order", unordered["first"], "s CPU", other=(unordered["all"], every), bar=6)
    yield row("first read, GUIDs in any order", scattered["first"], "s CPU", other=(scattered["all"], every), bar=6)
    serial = (latency["serial"], "one serial listing")
    yield row("first read at 100 ms a page", latency["first"], "s", other=serial, bar=1 / 6)


def _sizes(count: int, figures: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for name, found in figures.items():
        bar = 34 if name.startswith("GUID") else 14
        yield row(f"cache size, {name}", found["cacheBytes"] / count, "bytes/task", bar=bar)


def _growth(growth: dict[int, Any]) -> Iterator[dict[str, Any]]:
    """Yields costs of a fixed delta of a thousand, relative to the smallest job; without bars."""
    first = min(growth)
    for size, found in growth.items():
        for kind in ("contiguous", "random"):
            other = (growth[first][kind]["cpu"], f"of {first:,}")
            yield row(f"1,000 changed of {size:,}, {kind}", found[kind]["cpu"], "s CPU", other=other)


def main() -> int:
    parser = bench_parser("delta", __doc__)
    parser.add_argument("--tasks", type=int, default=_FULL, help="tasks in the job (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help=f"a job of {_QUICK:,}; bars are for {_FULL:,}")
    parser.add_argument("--chart", type=Path, metavar="FILE", help=f"draw growth there, as in {_CHART.name}")
    options = parser.parse_args()
    count = _QUICK if options.quick else options.tasks
    rows, growth = measure(count)
    if options.chart:
        lines = [Line(kind, {size: 1e3 * found[kind]["cpu"] for size, found in growth.items()}) for kind in
                 ("contiguous", "random")]  # fmt: skip
        options.chart.write_text(chart(lines), encoding="utf-8")
    return show("delta", rows, options.json)


if __name__ == "__main__":
    sys.exit(main())
