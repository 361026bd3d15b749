"""Proves that a fleet stays fresh: 200 accounts of 50 jobs, with changes in 5 % a minute, at 50 ms a Batch request.

Starts its own storage, Batch emulator and functions hosts. First all jobs are read. Then, without changes, the cost of
a job per round is counted by the emulator and in the storage's access log. Then tasks are added. For each number of
hosts the API is polled for all jobs: the time of the last request to Batch, and the delay until each change shows.
Added tasks stay active, as pools have no nodes, so nothing else changes. The app runs with its defaults, a tick a
minute; a shorter --budget leaves more to the queue, which all hosts share.
"""

import argparse
import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from aiohttp import ClientSession, ClientTimeout

from local.dev.running.stack import fresh_key
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.dev.system.console import say
from local.prove.fleet.findings import CHANGING, Findings, HostsFindings, IdleFindings
from local.prove.fleet.fleet_jobs import Fleet
from local.prove.fleet.freshness import Freshness, first_reads, sample
from local.prove.fleet.hosts import PREFIX, Hosts, by_host, table_operations
from local.prove.fleet.shown_changes import Changes, look_closer
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.reporting.figures import headline
from local.prove.stack.api import call
from local.prove.stack.services import start_emulator_of, start_storage

MEASURED_PATHS = ("functions", "shared")
_LOGS = HERE.logs / "fleet"
_ROUND = 60.0  # seconds
_AIM = 1.02 * CHANGING  # slightly more than required
_WARM_UP = 45.0  # seconds after a change of hosts; changes are judged, but not the age of polls
_PATIENCE = 900.0
_BETWEEN_TICKS = 57  # the second of a minute at which no tick should be running
_HOUSEKEEPING = 17  # the minute of an hour at which housekeeping begins
_ROUNDS_BEFORE = 3  # minutes: two rounds and the rest of the current one
_LOOK_EVERY = 5.0  # seconds between checks for activity


async def prove(options: argparse.Namespace, children: Children) -> Findings:
    async with ClientSession(timeout=ClientTimeout(total=60)) as session, contextlib.AsyncExitStack() as stack:
        found = Findings()
        storage = await asyncio.to_thread(start_storage, children, _LOGS, is_silent=False)
        keys = {f"fleet{number:03}": fresh_key() for number in range(options.accounts)}
        emulator = await asyncio.to_thread(start_emulator_of, children, _LOGS, keys)
        fleet = Fleet(emulator, keys, jobs=options.jobs, nodes=0)
        stack.push_async_callback(fleet.close)
        say(f"filling {len(keys)} accounts with {options.jobs} jobs of {options.tasks} tasks each")
        await fleet.fill(options.tasks)
        await _control(emulator, "POST", "settings", {"latencySeconds": options.latency / 1000})
        hosts = Hosts(children, _settings(storage.connection_string, emulator, keys), _LOGS)
        await hosts.run(max(options.hosts))
        found.first_reads = await first_reads(
            session, hosts.apis["host-1"], list(keys), jobs=options.jobs, patience=_PATIENCE
        )
        say(f"all jobs were read for the first time {found.first_reads:.0f} s after the hosts started")
        await hosts.run(0)
        hosts.settings["TICK_BUDGET_SECONDS"] = str(options.budget)
        await hosts.run(min(options.hosts))
        await _until_quiet()
        found.quiet = await _count_quiet(emulator, options.accounts, options.jobs)
        say(f"while nothing changes: {found.quiet.summary()}")
        changes = Changes(options.tasks)
        per_second = options.accounts * options.jobs * _AIM / 60
        note = partial(_note, changes)
        async with asyncio.TaskGroup() as group:
            going = group.create_task(fleet.keep_going(per_second, note))
            for number in options.hosts:
                await hosts.run(number)
                watched = await _watch(session, emulator, hosts, fleet=fleet, changes=changes, options=options)
                found.watched.append(watched)
                say(watched.summary())
            going.cancel()
        return found


def _note(changes: Changes, account: str, job: str) -> None:
    changes.add(account, job, time.monotonic())


def _settings(storage: str, emulator: str, keys: dict[str, str]) -> dict[str, str]:
    return {
        "AzureWebJobsStorage": storage,
        "FUNCTIONS_WORKER_RUNTIME": "python",
        "BATCH_ACCOUNTS": " ".join(f"{name}={emulator}" for name in keys),
        "BATCH_ACCOUNT_KEYS": " ".join(f"{name}={key}" for name, key in keys.items()),
        "TABLE_PREFIX": PREFIX,
        "AzureFunctionsWebHost__hostid": "fleet",
    }


async def _control(emulator: str, method: str, name: str, body: Any = None) -> Any:
    return await asyncio.to_thread(call, method, f"{emulator}/_emulator/{name}", body)


async def _until_quiet() -> None:
    """Waits for two rounds without writes of tasks: restarted hosts first share out the accounts."""
    seen, since = 0, time.monotonic()
    async with asyncio.timeout(_PATIENCE):
        while time.monotonic() - since < 2 * _ROUND:
            await asyncio.sleep(_LOOK_EVERY)
            tables = table_operations(_LOGS / "azurite.log")
            moved = tables["tasks written"] + tables["transactions"]
            if moved > seen:
                seen, since = moved, time.monotonic()


async def _count_quiet(emulator: str, accounts: int, jobs: int) -> IdleFindings:
    """Counts over two rounds; the API isn't called meanwhile, as that also reads tables."""
    log = _LOGS / "azurite.log"
    await asyncio.sleep(_until_countable(datetime.now(UTC)))
    before, tables = await _control(emulator, "GET", "counters"), table_operations(log)
    await asyncio.sleep(2 * _ROUND)
    after = await _control(emulator, "GET", "counters")
    rounds = _served(after, "GET /jobs") - _served(before, "GET /jobs")
    routes = ("GET /jobs/{jobId}/tasks", "GET /jobs/{jobId}/taskcounts")
    requests = sum(_served(after, route) - _served(before, route) for route in routes)
    return IdleFindings(accounts, jobs, rounds, requests, table_operations(log) - tables)


def _until_countable(now: datetime) -> float:
    """Returns the seconds until two rounds can be counted between ticks: hourly housekeeping reads all rows."""
    minutes = (_HOUSEKEEPING - now.minute) % 60
    past_housekeeping = minutes + 1 if minutes <= _ROUNDS_BEFORE else 0
    return (_BETWEEN_TICKS - now.second) % 60 + 60 * past_housekeeping


def _served(counters: dict[str, Any], route: str) -> int:
    return int(counters["routes"].get(route, {}).get("requests", 0))


async def _watch(
    session: ClientSession,
    emulator: str,
    hosts: Hosts,
    *,
    fleet: Fleet,
    changes: Changes,
    options: argparse.Namespace,
) -> HostsFindings:
    freshness, added, began = Freshness(), fleet.added, time.monotonic()
    before = by_host((await _control(emulator, "GET", "counters"))["clients"])
    apis = list(hosts.apis.values())

    def take(account: str, jobs: Sequence[dict[str, Any]], now: datetime) -> None:
        changes.take(account, jobs, time.monotonic())
        if time.monotonic() - began >= _WARM_UP:
            freshness.take(account, jobs, now)

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_WARM_UP + options.minutes * 60), asyncio.TaskGroup() as looking:
            looking.create_task(look_closer(session, apis, changes))
            for place, api in enumerate(apis):
                some = fleet.accounts[place :: len(apis)]
                looking.create_task(sample(session, api, some, take, every=options.sample))
    ended = time.monotonic()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    share = (fleet.added - added) / ((ended - began) / 60) / (options.accounts * options.jobs)
    after = by_host((await _control(emulator, "GET", "counters"))["clients"])
    made = changes.since(began)
    waits = [change.waited(ended) for change in made if change.shown_at is not None]
    waiting = [change.waited(ended) for change in made if change.shown_at is None]
    return HostsFindings(len(apis), freshness, waits, waiting, share, after - before, load)


def _report(options: argparse.Namespace, found: Findings) -> str:
    minutes, hosts = f"{options.minutes:g} minutes", max(options.hosts)
    lines = [
        f"{headline('fleet', datetime.now(UTC))}",
        f"that storage, emulator, hosts and the proof share: {options.accounts} accounts of",
        f"{options.jobs} jobs of {options.tasks} tasks, {options.latency} ms latency of Batch, polled every",
        f"{_ROUND:.0f} s. A task is added to at least {CHANGING:.0%} of the jobs a minute (counted). Jobs are looked",
        f"at every {options.sample:g} s, one whose change waits long more often: for {_WARM_UP:g} s, in which changes",
        f"alone are judged, then for {minutes}. First reads took {found.first_reads:.0f} s with {hosts} hosts.",
        "",
        *found.lines(),
    ]
    return "\n".join(lines)


def main() -> int:
    parser = proof_parser("fleet", __doc__)
    add = parser.add_argument
    add("--accounts", type=int, default=200, help=DEFAULT)
    add("--jobs", type=int, default=50, help=f"in each account {DEFAULT}")
    add("--tasks", type=int, default=10, help=f"in each job at first {DEFAULT}")
    add("--hosts", type=_numbers, default="1,2,4", help=f"how many, one after the other {DEFAULT}")
    add("--minutes", type=float, default=3.0, help=f"how long to watch each {DEFAULT}")
    add("--latency", type=int, default=50, help=f"of Batch, in ms {DEFAULT}")
    add("--budget", type=int, default=45, help=f"TICK_BUDGET_SECONDS once all is read {DEFAULT}")
    add("--sample", type=float, default=20.0, help=f"seconds between two looks at a job {DEFAULT}")
    options = parser.parse_args()
    return run_proof("fleet", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    with Children() as children:
        found = asyncio.run(prove(options, children))
    text = _report(options, found)
    return Outcome(text, text, not found.problems())


def _numbers(words: str) -> list[int]:
    return [int(word) for word in words.split(",")]


if __name__ == "__main__":
    sys.exit(main())
