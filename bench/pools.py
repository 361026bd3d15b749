"""Measures the cost of a round over pools while nodes change, and of the hourly roll-up of their usage.

The app's rounds run in a separate process against the Batch emulator on loopback and a real Azurite. "Reading" is the
SDK client's `send_request` and `orjson.loads` of that round's requests, in the same process. CPU is that process's, so
other load on the machine matters little. Roll-ups are of tasks that tables have already, beside reading these.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.emulated.services import measured_by, running_accounts, running_emulator, running_storage
from bench.report.command import bench_parser, show
from bench.report.rows import row

MEASURED_PATHS = ("functions", "shared/domain", "shared/services", "shared/stores")
_QUICK, _FULL = 10, 100  # pools
_NODES, _SHARE = 50, 0.05
_BAR, _LEDGERS = 3, 0.05
_TASKS, _JOBS = 50_000, 100  # of roll-ups: tasks with events in one job, and jobs that share a tenth of these
_CONDITIONS = 2  # requests to tables a tick and account
_WAITING, _BEFORE_CAUSES, _TICK = 5, 7.5, 1.5  # jobs, requests to tables a tick of a716544f, and the bar
_ROLL_UP, _ROLL_UP_OF_JOBS, _GROWTH, _OTHERS_WAIT = 9, 3, 1.2, 150  # the last in milliseconds


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


def _roll_ups(tasks: int) -> Iterator[dict[str, Any]]:
    """Yields rows for the roll-up of a day's usage: of one job, beside a tenth of its tasks, and of many jobs."""
    tenth = tasks // 10
    with running_storage() as storage:
        one, part = _rolled_up(storage, 1, tasks), _rolled_up(storage, 1, tenth)
        many = _rolled_up(storage, _JOBS, tenth // _JOBS)
    name, all_of_them = f"roll-up of usage, a job of {tasks:,} tasks with events", "reading the same events and tasks"
    yield row(name, one["rollUp"], "s CPU", other=(one["reading"], all_of_them), bar=_ROLL_UP)
    yield row(name, one["rollUp"], "s CPU", other=(10 * part["rollUp"], f"ten times {tenth:,} tasks"), bar=_GROWTH)
    yield row("longest wait of others for this roll-up", 1000 * one["longest"], "ms CPU", bar=_OTHERS_WAIT)
    name = f"roll-up of usage, {_JOBS} jobs with {tenth:,} tasks"
    yield row(name, many["rollUp"], "s CPU", other=(many["reading"], all_of_them), bar=_ROLL_UP_OF_JOBS)
    yield row(f"{name}, requests to tables for a job", many["requests"] / _JOBS, "requests")


def _rolled_up(storage: str, jobs: int, tasks: int) -> dict[str, Any]:
    print(f"roll-up of usage, {jobs} jobs of {tasks:,} tasks", file=sys.stderr, flush=True)
    return measured_by("rollups_app", json.dumps({"storage": storage, "jobs": jobs, "tasks": tasks}))


def _ticks() -> Iterator[dict[str, Any]]:
    """Yields the requests to tables of a whole tick, two of ten with explanations of all jobs that wait.

    The reference took the same stage on the commit before such causes were read.
    """
    print(f"ticks with {_WAITING} waiting jobs", file=sys.stderr, flush=True)
    with running_accounts(1) as stage:
        found = measured_by("ticks_app", json.dumps(stage | {"jobs": _WAITING}))
    name = f"requests to tables of a tick, {_WAITING} jobs wait"
    yield row(name, found["requests"], "requests", other=(_BEFORE_CAUSES, "without causes (a716544f)"), bar=_TICK)
    yield row("further ones for conditions, nothing changes", found["conditions"], "requests", bar=_CONDITIONS)


def main() -> int:
    """Returns 1 if a bar is missed."""
    parser = bench_parser("pools", __doc__)
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK} pools; bars are for {_FULL}")
    options = parser.parse_args()
    rows = [*measure(_QUICK if options.quick else _FULL), *_roll_ups(_TASKS // 10 if options.quick else _TASKS)]
    return show("pools", [*rows, *_ticks()], options.json)


if __name__ == "__main__":
    sys.exit(main())
