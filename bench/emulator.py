"""What the Batch emulator bears: adding, listing and asking for changes in jobs of growing size, and its memory.

The emulator runs in a process of its own and is driven over HTTP by a bearer token. Adding is held against what the
same server does with the same requests when there is nothing to add them to (a 404): the ceiling of HTTP and Python.
"""

import argparse
import asyncio
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import orjson

_ROOT = Path(__file__).resolve().parents[1]
_SIZES = (10_000, 100_000, 1_000_000)
_VERSION = "api-version=2025-06-01"
_AT_ONCE = 4
_PAGE = 1000
_LOOKS = 7
_ADD_BAR, _MEMORY_BAR, _GROWTH_BAR = 20_000.0, 1500.0, 3.0
_CEILING_TASKS = 20_000
_QUERY = f"&$select=id,state,stateTransitionTime&maxresults={_PAGE}"


class Bench:
    """One emulator and a session to it; `pid` is the emulator's."""

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
        """Adds tasks, a hundred a request; tasks a second."""
        began = time.perf_counter()
        bodies = _bodies(count)
        await asyncio.gather(*(self._send(job, bodies) for _ in range(_AT_ONCE)))
        return count / (time.perf_counter() - began)

    async def change(self, job: str) -> str:
        """Ends a page of tasks all over the job; a filter for what has changed since."""
        listed = await self.call("GET", f"/jobs/{job}/tasks", query=f"&maxresults={_PAGE}&$select=id")
        clock = await self.call("GET", "/_emulator/clock")
        for row in listed["value"]:
            await self.call("POST", f"/jobs/{job}/tasks/{row['id']}/terminate", {})
        return quote(f"stateTransitionTime ge DateTime'{clock['time']}'")

    async def page_seconds(self, job: str, query: str) -> float:
        """The median of some looks at one page, after a first that may have to sort."""
        ask = f"/jobs/{job}/tasks"
        found = len((await self.call("GET", ask, query=query))["value"])
        if found != _PAGE:
            raise RuntimeError(f"a page has {found} tasks instead of {_PAGE}: {query}")
        return statistics.median([await _timed(lambda: self.call("GET", ask, query=query)) for _ in range(_LOOKS)])

    def megabytes(self) -> float:
        """Resident memory of the emulator; 0 where the system doesn't tell."""
        try:
            text = Path(f"/proc/{self._pid}/status").read_text(encoding="utf-8")
        except OSError:
            return 0.0
        return next(float(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmRSS"))

    async def _send(self, job: str, bodies: Iterator[Any]) -> None:
        for body in bodies:
            await self.call("POST", f"/jobs/{job}/addtaskcollection", body)


async def measure(bench: Bench, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Rows for each size; those of asking for changes are held against the first size's."""
    ceiling = await bench.fill("nothing", _CEILING_TASKS)
    rows: list[dict[str, Any]] = []
    first = 0.0
    for size in sizes:
        await bench.call("POST", "/_emulator/reset", {})
        await bench.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "none"}})
        added = await bench.fill("job", size)
        counts = await bench.call("GET", "/jobs/job/taskcounts")
        if counts["taskCounts"]["active"] != size:
            raise RuntimeError(f"{counts} for {size} tasks")
        pages = 1 / await bench.page_seconds("job", _QUERY)
        changed = 1e3 * await bench.page_seconds("job", f"{_QUERY}&$filter={await bench.change('job')}")
        first = first or changed
        memory = bench.megabytes()
        found = [
            _row(f"add {size:,}", added, "tasks/s", other=(ceiling, "the same server answering 404"), bar=_ADD_BAR),
            _row(f"list {size:,}", pages, "pages/s"),
            _row(f"1,000 changed of {size:,}", changed, "ms", other=(first, "the same of the first size"))
            | {"bar": _GROWTH_BAR, "ok": changed <= _GROWTH_BAR * first},
            _row(f"memory with {size:,}", memory, "MB", bar=_MEMORY_BAR) | {"ok": memory <= _MEMORY_BAR},
        ]
        for row in found:
            verdict = "ok" if row["ok"] else "MISSED"
            print(f"{row['measure']:28} {row['ours']:>12,} {row['unit']:8} {verdict}", flush=True)
        rows += found
    return rows


def _row(
    measure: str, ours: float, unit: str, *, other: tuple[float, str] | None = None, bar: float | None = None
) -> dict[str, Any]:
    """A measure as all benchmarks write it; `ok` says that the bar, if any, is reached from below."""
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


async def _run(url: str, pid: int, token: str, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json; odata=minimalmetadata"}
    async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=120)) as session:
        return await measure(Bench(url, session, pid), sizes)


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py bench emulator", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measures there")
    parser.add_argument("--most", type=int, default=_SIZES[-1], help="tasks in the largest job (default: %(default)s)")
    options = parser.parse_args()
    token = "bench"  # noqa: S105 - opens nothing but the emulator of this run
    command = (sys.executable, "-m", "local.batch_emulator", "--port", "0", "--token", token)
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as emulator:
        try:
            url = (emulator.stdout.readline() if emulator.stdout else "").split()[-1]
            sizes = tuple(size for size in _SIZES if size <= options.most)
            rows = asyncio.run(_run(url, emulator.pid, token, sizes))
        finally:
            emulator.terminate()
    if options.json:
        answer = {"name": "emulator", "machine": f"{platform.machine()} {platform.python_version()}", "measures": rows}
        options.json.write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
