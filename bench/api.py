"""What the API's answers take, beside functions that do nothing on the same host: requests a second, p50, p99, CPU.

The app runs on the local functions host with real storage; a job of a million tasks was read from the emulator, and
the account is switched off while answers are measured. Eight clients on loopback ask again as soon as they were
answered; p50 and p99 are of one client alone. The bare host is a second one of the same kind, asked in the same run.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

from bench._api_stage import LARGE, ApiStage, api_stage
from bench._load import Load, load
from bench._rows import answer, row, table

_QUICK, _FULL = 50_000, 1_000_000
_JOBS = 50
_CLIENTS = 8
_SECONDS = 5.0
_MOST = 2000
_SMALL = "render-007"
_PAGE_CPU = 0.5


@dataclass(frozen=True, slots=True)
class Measured:
    """One address: alone, and under load."""

    alone: Load
    loaded: Load


async def measure(tasks: int) -> list[dict[str, Any]]:
    """Rows as all benchmarks write them."""
    async with api_stage(tasks, _JOBS) as stage:
        history = await HistoryRows.seeded(stage.storage, _SMALL)
        bare = await _measured(f"{stage.bare}/bare", stage.bare_pid, "a function that does nothing")
        read = await _measured(f"{stage.bare}/row?{history.job_query}", stage.bare_pid, "a function that reads a row")
        found = {name: await _asked(stage, name, path) async for name, path in _questions()}
        rows_read = [await _timed(history) for _ in range(20)]
    one_read = median(rows_read)
    return [*_rows(found, bare, read, one_read)]


async def _questions() -> AsyncIterator[tuple[str, str]]:
    ninety = quote((datetime.now(UTC) - timedelta(days=90)).isoformat(timespec="seconds").replace("+00:00", "Z"))
    yield "jobs list", "jobs"
    yield "job", f"jobs/{_SMALL}"
    yield "history, 24 h", f"jobs/{_SMALL}/history"
    yield "history, 90 d", f"jobs/{_SMALL}/history?from={ninety}"
    yield "failures", f"jobs/{LARGE}/failures"
    yield "tasks, running", f"jobs/{LARGE}/tasks?state=running"
    yield "tasks, failed", f"jobs/{LARGE}/tasks?result=failure"
    yield "tasks, all", f"jobs/{LARGE}/tasks"
    yield "tasks, the longest runs", f"jobs/{LARGE}/tasks?orderby=runTime%20desc"


async def _asked(stage: ApiStage, name: str, path: str) -> Measured:
    return await _measured(f"{stage.api}/accounts/demo/{path}", stage.api_pid, name)


async def _measured(url: str, pid: int, name: str) -> Measured:
    alone = await load(url, clients=1, seconds=_SECONDS, most=_MOST, pid=pid)
    loaded = await load(url, clients=_CLIENTS, seconds=_SECONDS, most=_MOST, pid=pid)
    told = f"{loaded.rate:,.0f}/s, p50 {1e3 * alone.quantile(0.5):.1f} ms, p99 {1e3 * alone.quantile(0.99):.1f} ms"
    print(f"  {name}: {told}, {1e3 * alone.cpu:.1f} ms CPU", file=sys.stderr, flush=True)
    return Measured(alone, loaded)


async def _timed(history: "HistoryRows") -> float:
    began = time.perf_counter()
    await history.read()
    return time.perf_counter() - began


def _rows(found: dict[str, Measured], bare: Measured, read: Measured, one_read: float) -> list[dict[str, Any]]:
    nothing, one_row = "a function that does nothing", "a function that reads one row"
    rows = []
    for name, measured in {nothing: bare, one_row: read, **found}.items():
        least = 0.5 if name in ("job", "jobs list") else None
        other = (bare.loaded.rate, nothing)
        rows.append(row(f"{name}: requests", measured.loaded.rate, "/s", other=other, least=least))
    for name, measured in {nothing: bare, one_row: read, **found}.items():
        for share, quantile in (("p50", 0.5), ("p99", 0.99)):
            rows.append(row(f"{name}: {share}", 1e3 * measured.alone.quantile(quantile), "ms"))
    day = 1e3 * found["history, 24 h"].alone.quantile(0.5)
    rows.append(row("history, 24 h: p50", day, "ms", other=(1e3 * one_read, "one read of its rows"), bar=3))
    for name in ("tasks, running", "tasks, failed"):
        rows.append(row(f"{name}: a page", found[name].alone.cpu, "s CPU", bar=_PAGE_CPU))
    rows.append(row("tasks, the longest runs: a page", found["tasks, the longest runs"].alone.cpu, "s CPU"))
    return rows


def main() -> int:
    """1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="dev.py bench api", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measures there")
    parser.add_argument("--tasks", type=int, default=_FULL, help="tasks in the large job (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help=f"a job of {_QUICK:,}; bars are for {_FULL:,}")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with suppress(KeyboardInterrupt):
        rows = asyncio.run(measure(_QUICK if options.quick else options.tasks))
    print(table(rows))
    if options.json:
        options.json.write_text(answer("api", rows), encoding="utf-8")
    return 0 if rows and all(one["ok"] for one in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
