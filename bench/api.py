"""Measures the API's answers beside functions without work on the same host: requests a second, p50, p99, CPU.

The app runs on the local functions host with real storage. A job of a million tasks was read from the emulator, and the
account is switched off during most measurements. Eight clients on loopback send the next request after each answer; p50
and p99 are of a single client. The app reuses the 32 latest answers for a second. So a job and the list of jobs are
requested in two ways: one address repeatedly, like many viewers of one page, and fifty addresses in turn, none of them
cached. A write invalidates a process's cached answers, so the bars of these two apply to a whole minute in which the
account is polled as by default and its tasks change. Other work on the machine takes CPU from requests, but not from
rounds and from the recomputation of answers each second. So these bars use CPU, as if each host had its own core: the
cost of a minute with one request per second counts once. Each history request has another range. The bare host is a
second host of the same kind, measured in the same run.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from statistics import mean, median
from typing import Any
from urllib.parse import quote

from bench.parts.api_stage import LARGE, ROUND_SECONDS, SMALL, ApiStage, HistoryRows, api_stage
from bench.parts.cost_days import DAYS, JOBS, POOLS, CostDays
from bench.parts.load import Load, cpu_of, load, peak_of, size_of
from bench.parts.measured_runs import cpu_anew, seed_runs
from bench.report.command import bench_parser, show
from bench.report.rows import row
from shared.stores.tables.tables import Tables

MEASURED_PATHS = ("functions", "shared")
_QUICK, _FULL = 50_000, 1_000_000
_JOBS = 50
_CLIENTS = 8
_SECONDS = 5.0
_MAX = 2000
_READS = 20
_MEMORY = 400
_MIN_RATE, _PAGE_CPU, _COST_REQUESTS = 0.5, 0.5, 10
_EFFICIENCY_CPU, _LEAST_CPU = 1.0, 0.001
_DAY = "history, 24 h"
_NOTHING, _ONE_ROW = "a function that does nothing", "a function that reads a row"


@dataclass(frozen=True, slots=True)
class AddressLoad:
    """The load results of one address: with one client, and with eight."""

    alone: Load
    loaded: Load


@dataclass(frozen=True, slots=True)
class PolledLoad:
    """The load results of one address while the account was polled, and those of the reference in the minutes around.

    `fixed` is the CPU, in seconds, of a minute with one request per second: rounds, and recomputed answers.
    """

    asked: Load
    around: tuple[Load, Load]
    fixed: float

    @property
    def by_cpu(self) -> float:
        """The requests a second of a host with its own core."""
        requests = len(self.asked.seconds)
        return requests / (self.asked.cpu * requests - self.fixed) * (1 - self.fixed / ROUND_SECONDS)

    @property
    def other_rate(self) -> float:
        """The requests a second of the reference."""
        return mean(one.rate for one in self.around)

    @property
    def other_by_cpu(self) -> float:
        """The requests a second of the reference if its host had its own core."""
        return mean(1 / one.cpu for one in self.around)


async def measure(tasks: int) -> list[dict[str, Any]]:
    """Returns rows in the format of all benchmarks."""
    async with api_stage(tasks, _JOBS) as stage:
        memory = peak_of(stage.api_pid)
        one_read = await _history(stage)
        bare = {
            _NOTHING: await _measured(f"{stage.bare}/bare", stage.bare_pid, _NOTHING),
            _ONE_ROW: await _measured(f"{stage.bare}/row?partition=demo&row={SMALL}", stage.bare_pid, _ONE_ROW),
        }
        found = {name: await _asked(stage, name, path) for name, path in _questions()}
        costs = [*await _costs(stage), *await _efficiency(stage, tasks)]
        polled = await _polled(stage)
    peak = row("peak memory of the functions host, first read of the job", memory, "MB", bar=_MEMORY)
    return [
        *_rates(bare | found),
        *_polled_rates(polled),
        *_times(bare | found),
        *costs,
        *_bars(found, one_read),
        peak,
    ]


async def _history(stage: ApiStage) -> float:
    """Seeds the history; returns the median time of a plain read of one day, in seconds."""
    tables = Tables.connect(connection_string=stage.storage, endpoint=None, credential=None, prefix="")
    try:
        history = HistoryRows(tables)
        await history.seed()
        return median([await _timed(history.read_day) for _ in range(_READS)])
    finally:
        await tables.close()


async def _costs(stage: ApiStage) -> list[dict[str, Any]]:
    """Seeds the usage of days; returns rows about its costs beside a function that answers as many bytes."""
    tables = Tables.connect(connection_string=stage.storage, endpoint=None, credential=None, prefix="")
    try:
        days = CostDays(tables)
        await days.seed()
        requests = await days.requests()
    finally:
        await tables.close()
    rows = [row(f"cost of {DAYS} days with jobs: requests to tables", requests, "", bar=_COST_REQUESTS)]
    first, end = (quote(_ago(days)[:10] + "T00:00:00") for days in (DAYS, 0))
    questions = {
        f"cost of {DAYS} days, {POOLS} pools by day": "step=P1D",
        f"cost of {DAYS} days, {JOBS:,} jobs": f"step=P{DAYS}D&groupBy=job",
    }
    for name, query in questions.items():
        url = f"{stage.api}/accounts/demo/cost?{query}&from={first}Z&to={end}Z"
        size = await size_of(url)
        bare = f"a function that answers {size / 1e6:.2f} MB"
        ours = await _measured(url, stage.api_pid, name)
        other = await _measured(f"{stage.bare}/bytes?count={size}", stage.bare_pid, bare)
        another = url.replace(f"{first}Z", f"{first}.{{n}}Z")
        anew = await load(another, clients=1, seconds=_SECONDS, most=_MAX, pid=stage.api_pid)
        rows.append(row(f"{name}: requests", ours.loaded.rate, "/s", other=(other.loaded.rate, bare), least=_MIN_RATE))
        rows.append(row(f"{name}, computed anew: p50", 1e3 * anew.quantile(0.5), "ms"))
        rows.append(row(f"{name}, computed anew", anew.cpu, "s CPU"))
    return rows


async def _efficiency(stage: ApiStage, tasks: int) -> list[dict[str, Any]]:
    """Seeds a measured run of each task; returns rows about their efficiency beside a function of as many bytes."""
    tables = Tables.connect(connection_string=stage.storage, endpoint=None, credential=None, prefix="")
    try:
        await seed_runs(tables, LARGE, tasks)
    finally:
        await tables.close()
    url = f"{stage.api}/accounts/demo/jobs/{LARGE}/efficiency"
    size = await size_of(url)
    other = await cpu_anew(f"{stage.bare}/bytes?count={size}", stage.bare_pid)
    name, bare = f"efficiency of {tasks:,} measured tasks", f"a function that answers {size / 1e3:.0f} kB"
    ours = await cpu_anew(url, stage.api_pid)
    return [
        row(f"{name}: CPU of an answer", ours, "s", other=(max(other, _LEAST_CPU), bare)),
        row(f"{name}: CPU of an answer, alone", ours, "s CPU", bar=_EFFICIENCY_CPU),
    ]


def _questions() -> Iterator[tuple[str, str]]:
    ninety, day = (quote(_ago(days)) for days in (90, 1))
    yield "jobs list", "jobs"
    yield "job", f"jobs/{SMALL}"
    yield "jobs list, another each time", "jobs?maxpagesize=1{n50}"
    yield "job, another each time", "jobs/render-0{n50}"
    yield _DAY, f"jobs/{SMALL}/history?from={day}.{{n}}Z"
    yield "history, 90 d", f"jobs/{SMALL}/history?from={ninety}.{{n}}Z"
    yield "failures", f"jobs/{LARGE}/failures"
    yield "tasks, running", f"jobs/{LARGE}/tasks?state=running"
    yield "tasks, active", f"jobs/{LARGE}/tasks?state=active"
    yield "tasks, failed", f"jobs/{LARGE}/tasks?result=failure"
    yield "tasks, all", f"jobs/{LARGE}/tasks"
    yield "tasks, the longest runs", f"jobs/{LARGE}/tasks?orderby=runTime%20desc"


def _ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S")


async def _asked(stage: ApiStage, name: str, path: str) -> AddressLoad:
    return await _measured(f"{stage.api}/accounts/demo/{path}", stage.api_pid, name)


async def _measured(url: str, pid: int, name: str) -> AddressLoad:
    alone = await load(url, clients=1, seconds=_SECONDS, most=_MAX, pid=pid)
    loaded = await load(url, clients=_CLIENTS, seconds=_SECONDS, pid=pid)
    summary = f"{loaded.rate:,.0f}/s, p50 {1e3 * alone.quantile(0.5):.1f} ms, p99 {1e3 * alone.quantile(0.99):.1f} ms"
    print(f"  {name}: {summary}, {1e3 * alone.cpu:.1f} ms CPU", file=sys.stderr, flush=True)
    return AddressLoad(alone, loaded)


async def _polled(stage: ApiStage) -> dict[str, PolledLoad]:
    """Measures the addresses with a bar, each for the time between two rounds, and the reference before and after each.

    Rounds run throughout, so that all share the machine's cores equally; each measurement contains a whole round.
    """
    asked = [(name, f"{stage.api}/accounts/demo/{path}") for name, path in islice(_questions(), 2)]
    async with stage.polled():
        await stage.next_round()
        await asyncio.sleep(ROUND_SECONDS / 3)
        fixed = [await _cpu_of_a_minute(url, stage.api_pid) for _, url in asked]
        bare = [await _loaded_for_a_round(stage, _NOTHING, f"{stage.bare}/bare", stage.bare_pid)]
        found = list[Load]()
        for name, url in asked:
            found.append(await _loaded_for_a_round(stage, name, url, stage.api_pid))
            bare.append(await _loaded_for_a_round(stage, _NOTHING, f"{stage.bare}/bare", stage.bare_pid))
    measured = zip(asked, found, pairwise(bare), fixed, strict=True)
    return {name: PolledLoad(one, around, cpu) for (name, _), one, around, cpu in measured}


async def _loaded_for_a_round(stage: ApiStage, name: str, url: str, pid: int) -> Load:
    before = await stage.as_of()
    found = await load(url, clients=_CLIENTS, seconds=ROUND_SECONDS, pid=pid)
    if await stage.as_of() == before:
        raise RuntimeError(f"no round ended while '{name}' was asked for")
    p99 = 1e3 * found.quantile(0.99)
    print(f"  {name}, polled: {found.rate:,.0f}/s, p99 {p99:.1f} ms", file=sys.stderr, flush=True)
    return found


async def _cpu_of_a_minute(url: str, pid: int) -> float:
    """Returns a host's CPU for one request per second from one round to the next."""
    before = cpu_of(pid)
    for _ in range(int(ROUND_SECONDS)):
        await asyncio.gather(load(url, clients=1, seconds=1, most=1, pid=pid), asyncio.sleep(1))
    return cpu_of(pid) - before


async def _timed(read: Callable[[], Awaitable[None]]) -> float:
    began = time.perf_counter()
    await read()
    return time.perf_counter() - began


def _rates(measured: dict[str, AddressLoad]) -> Iterator[dict[str, Any]]:
    for name, found in measured.items():
        other = None if name == _NOTHING else (measured[_NOTHING].loaded.rate, _NOTHING)
        yield row(f"{name}: requests", found.loaded.rate, "/s", other=other)


def _polled_rates(polled: dict[str, PolledLoad]) -> Iterator[dict[str, Any]]:
    for name, found in polled.items():
        rate, by_cpu = (found.other_rate, _NOTHING), (found.other_by_cpu, _NOTHING)
        yield row(f"{name}, while polled: requests", found.asked.rate, "/s", other=rate)
        yield row(f"{name}, while polled: requests by CPU", found.by_cpu, "/s", other=by_cpu, least=_MIN_RATE)
        yield row(f"{name}, while polled: p99 of eight clients", 1e3 * found.asked.quantile(0.99), "ms")
    p99 = max(one.quantile(0.99) for found in polled.values() for one in found.around)
    yield row(f"{_NOTHING}, while polled: p99 of eight clients", 1e3 * p99, "ms")


def _times(measured: dict[str, AddressLoad]) -> Iterator[dict[str, Any]]:
    for name, found in measured.items():
        for share in (0.5, 0.99):
            yield row(f"{name}: p{100 * share:g}", 1e3 * found.alone.quantile(share), "ms")


def _bars(measured: dict[str, AddressLoad], one_read: float) -> Iterator[dict[str, Any]]:
    day = 1e3 * measured[_DAY].alone.quantile(0.5)
    yield row(f"{_DAY}: p50", day, "ms", other=(1e3 * one_read, "one read of its rows"), bar=3)
    for name in ("tasks, running", "tasks, active", "tasks, failed", "tasks, the longest runs"):
        bar = None if name == "tasks, the longest runs" else _PAGE_CPU
        yield row(f"{name}: a page", measured[name].alone.cpu, "s CPU", bar=bar)


def main() -> int:
    """Returns 1 if a bar is missed."""
    parser = bench_parser("api", __doc__)
    parser.add_argument("--tasks", type=int, default=_FULL, help="tasks in the large job (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help=f"a job of {_QUICK:,}; bars are for {_FULL:,}")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with suppress(KeyboardInterrupt):
        rows = asyncio.run(measure(_QUICK if options.quick else options.tasks))
    return show("api", rows, options.json)


if __name__ == "__main__":
    sys.exit(main())
