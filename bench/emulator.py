"""Measures the Batch emulator: adding, listing and change queries in jobs of growing size, and its memory.

The emulator runs in a separate process and is called over HTTP with a bearer token. Adding is compared with the same
requests for a missing job (a 404), the ceiling of HTTP and Python. The bar applies to tasks per second of the
emulator's own CPU, so that other load on the machine matters little. The largest job is then added again to an emulator
that keeps its accounts, which is killed and must find the job again.
"""

import argparse
import asyncio
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

import aiohttp
import orjson

from bench.parts.load import CLOCK_TICKS, cpu_of

MEASURED_PATHS = ("local/batch_emulator",)

_ROOT = Path(__file__).resolve().parents[1]
_SIZES = (10_000, 100_000, 1_000_000)
_VERSION = "api-version=2025-06-01"
_AT_ONCE = 4
_PAGE = 1000
_LOOKS = 7
_ADD_BAR, _MEMORY_BAR, _GROWTH_BAR = 20_000.0, 1500.0, 3.0
_LOAD_BAR, _LOOK_SECONDS = 30.0, 0.01
_TOKEN = "bench"  # noqa: S105 - opens nothing but the emulators of this run
_CEILING_TASKS = 20_000
_QUERY = f"&$select=id,state,stateTransitionTime&maxresults={_PAGE}"


class Bench:
    """One emulator and a session with it; `pid` is the emulator's."""

    def __init__(self, url: str, session: aiohttp.ClientSession, pid: int) -> None:
        self._url = url
        self._session = session
        self._pid = pid

    async def call(self, method: str, path: str, body: Any = None, query: str = "") -> Any:
        payload = None if body is None else orjson.dumps(body)
        async with self._session.request(method, f"{self._url}{path}?{_VERSION}{query}", data=payload) as answer:
            raw = await answer.read()
            return orjson.loads(raw) if raw else None

    async def fill(self, job: str, count: int) -> float:
        """Adds tasks, a hundred per request; returns tasks a second."""
        began = time.perf_counter()
        bodies = _bodies(count)
        await asyncio.gather(*(self._send(job, bodies) for _ in range(_AT_ONCE)))
        return count / (time.perf_counter() - began)

    def cpu(self) -> float:
        """Returns the seconds of CPU that the emulator has used."""
        return cpu_of(self._pid)

    async def change(self, job: str) -> str:
        """Ends a page of tasks spread over the job; returns a filter for later changes."""
        listed = await self.call("GET", f"/jobs/{job}/tasks", query=f"&maxresults={_PAGE}&$select=id")
        clock = await self.call("GET", "/_emulator/clock")
        for row in listed["value"]:
            await self.call("POST", f"/jobs/{job}/tasks/{row['id']}/terminate", {})
        return quote(f"stateTransitionTime ge DateTime'{clock['time']}'")

    async def page_seconds(self, job: str, query: str) -> float:
        """Returns the median time of several requests for one page, after a first that may sort."""
        ask = f"/jobs/{job}/tasks"
        found = len((await self.call("GET", ask, query=query))["value"])
        if found != _PAGE:
            raise RuntimeError(f"a page has {found} tasks instead of {_PAGE}: {query}")
        return statistics.median([await _timed(lambda: self.call("GET", ask, query=query)) for _ in range(_LOOKS)])

    def megabytes(self) -> float:
        """Returns the resident memory of the emulator; 0 if the system doesn't report it."""
        try:
            text = Path(f"/proc/{self._pid}/status").read_text(encoding="utf-8")
        except OSError:
            return 0.0
        return next(float(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmRSS"))

    async def longest_wait(self, until: asyncio.Event) -> float:
        """Returns the longest time of one small request, repeated in parallel with others."""
        longest = 0.0
        while not until.is_set():
            longest = max(longest, await _timed(lambda: self.call("GET", "/pools")))
            await asyncio.sleep(_LOOK_SECONDS)
        return longest

    async def _send(self, job: str, bodies: Iterator[Any]) -> None:
        for body in bodies:
            await self.call("POST", f"/jobs/{job}/addtaskcollection", body)


async def measure(bench: Bench, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Returns rows for each size; change queries are compared with the first size's."""
    ceiling = await bench.fill("nothing", _CEILING_TASKS)
    rows: list[dict[str, Any]] = []
    first = 0.0
    for size in sizes:
        await bench.call("POST", "/_emulator/reset", {})
        added = await _add(bench, size)
        pages = 1 / await bench.page_seconds("job", _QUERY)
        changed = 1e3 * await bench.page_seconds("job", f"{_QUERY}&$filter={await bench.change('job')}")
        first = first or changed
        memory = bench.megabytes()
        found = [
            _row(f"add {size:,}", added.rate, "tasks/s", other=(ceiling, "the same server answering 404")),
            _row(f"add {size:,}, by CPU", added.by_cpu, "tasks/s CPU", bar=_ADD_BAR),
            _row(f"list {size:,}", pages, "pages/s"),
            _row(f"1,000 changed of {size:,}", changed, "ms", other=(first, "the same of the first size"))
            | {"bar": _GROWTH_BAR, "ok": changed <= _GROWTH_BAR * first},
            _row(f"longest wait adding {size:,}", added.longest_wait, "ms"),
            _at_most(f"memory with {size:,}", memory, "MB", _MEMORY_BAR),
        ]
        _print(found)
        rows += found
    return rows


async def measure_kept(bench: Bench, size: int, unkept: Mapping[str, float]) -> list[dict[str, Any]]:
    """Measures adding with `--data`, compared with the measures without."""
    added = await _add(bench, size)
    before = unkept[f"add {size:,}"], unkept[f"longest wait adding {size:,}"]
    found = [
        _row(f"add {size:,}, kept", added.rate, "tasks/s", other=(before[0], "without --data")),
        _row(f"add {size:,}, kept, by CPU", added.by_cpu, "tasks/s CPU", bar=_ADD_BAR),
        _row(f"longest wait adding {size:,}, kept", added.longest_wait, "ms", other=(before[1], "without --data")),
        _at_most(f"memory with {size:,}, kept", bench.megabytes(), "MB", _MEMORY_BAR),
    ]
    _print(found)
    await asyncio.sleep(1)
    return found


async def measure_found(bench: Bench, size: int, loading: float) -> list[dict[str, Any]]:
    """Measures the data that a killed emulator finds again, `loading` seconds after its start."""
    await _check_size(bench, size)
    found = [
        _at_most(f"load {size:,}", loading, "s", _LOAD_BAR),
        _at_most(f"memory with {size:,}, loaded", bench.megabytes(), "MB", _MEMORY_BAR),
    ]
    _print(found)
    return found


class _Added(NamedTuple):
    """Tasks a second, the same by the emulator's CPU, and the longest time of a parallel small request, in ms."""

    rate: float
    by_cpu: float
    longest_wait: float


async def _add(bench: Bench, size: int) -> _Added:
    await bench.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "none"}})
    over = asyncio.Event()
    waiting = asyncio.create_task(bench.longest_wait(over))
    before = bench.cpu()
    added = await bench.fill("job", size)
    used = bench.cpu() - before
    over.set()
    await _check_size(bench, size)
    return _Added(added, size / max(used, 1 / CLOCK_TICKS), 1e3 * await waiting)


async def _check_size(bench: Bench, size: int) -> None:
    counts = await bench.call("GET", "/jobs/job/taskcounts")
    if counts["taskCounts"]["active"] != size:
        raise RuntimeError(f"{counts} for {size} tasks")


def _print(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        beside = f"{row['other']:,} {row['otherName']}" if row["other"] else ""
        print(f"{row['measure']:36} {row['ours']:>12,} {row['unit']:8} {'ok' if row['ok'] else 'MISSED':8} {beside}")
    sys.stdout.flush()


def _at_most(measure: str, ours: float, unit: str, bar: float) -> dict[str, Any]:
    return _row(measure, ours, unit, bar=bar) | {"ok": ours <= bar}


def _row(
    measure: str, ours: float, unit: str, *, other: tuple[float, str] | None = None, bar: float | None = None
) -> dict[str, Any]:
    """Returns a measure in the format of all benchmarks; `bar` is a minimum."""
    return {
        "measure": measure,
        "ours": round(ours, 1),
        "other": round(other[0], 1) if other else None,
        "otherName": other[1] if other else None,
        "unit": unit,
        "ratio": round(ours / other[0], 2) if other else None,
        "bar": bar,
        "ok": bar is None or ours >= bar,
    }


def _bodies(count: int) -> Iterator[Any]:
    for start in range(0, count, 100):
        numbers = range(start, min(start + 100, count))
        yield {"value": [{"id": f"task-{number:07}", "commandLine": "/bin/sh -c 'sleep 60'"} for number in numbers]}


async def _timed(act: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await act()
    return time.perf_counter() - began


async def _on_emulator(
    work: Callable[[Bench, float], Awaitable[list[dict[str, Any]]]], *arguments: str
) -> list[dict[str, Any]]:
    """Runs a measurement on a separate emulator, given the seconds of its start; kills it afterwards."""
    began = time.perf_counter()
    command = (sys.executable, "-m", "local.batch_emulator", "--port", "0", "--token", _TOKEN, *arguments)
    emulator = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220 - waited for
    try:
        url = (emulator.stdout.readline() if emulator.stdout else "").split()[-1]
        took = time.perf_counter() - began
        headers = {"Authorization": f"Bearer {_TOKEN}", "Content-Type": "application/json; odata=minimalmetadata"}
        async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=120)) as session:
            return await work(Bench(url, session, emulator.pid), took)
    finally:
        emulator.kill()
        emulator.wait()
        if emulator.stdout:
            emulator.stdout.close()


async def _run(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    rows = await _on_emulator(lambda bench, _: measure(bench, sizes))
    size = sizes[-1]
    unkept = {row["measure"]: row["ours"] for row in rows}
    with TemporaryDirectory() as folder:
        rows += await _on_emulator(lambda bench, _: measure_kept(bench, size, unkept), "--data", folder)
        rows += await _on_emulator(lambda bench, took: measure_found(bench, size, took), "--data", folder)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py bench emulator", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measures there")
    parser.add_argument("--most", type=int, default=_SIZES[-1], help="tasks in the largest job (default: %(default)s)")
    options = parser.parse_args()
    rows = asyncio.run(_run(tuple(size for size in _SIZES if size <= options.most)))
    if options.json:
        answer = {"name": "emulator", "machine": f"{platform.machine()} {platform.python_version()}", "measures": rows}
        options.json.write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
