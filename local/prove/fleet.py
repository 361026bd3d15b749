"""Proves that a fleet stays fresh: 200 accounts of 50 jobs, 5 % of which change a round, at 50 ms a request to Batch.

Starts its own storage, Batch emulator and functions hosts. First all jobs are read; then, while nothing changes, what a
job costs a round is counted by the emulator and in the storage's access log; then tasks are added, and for each number
of hosts all jobs are looked at through the API. The app runs
with its own defaults, a tick a minute; a shorter --budget leaves more to the queue, which all hosts share.
"""

import argparse
import asyncio
import contextlib
import os
import platform
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout

from local.azurite import StorageAddresses, azurite_program
from local.dev.checkout import HERE
from local.dev.children import Children
from local.dev.stack import Emulated, Options, base_environment, emulator_program, fresh_key
from local.prove._fleet import Fleet
from local.prove._fleet_hosts import PREFIX, Hosts, by_host, table_operations
from local.prove._freshness import Freshness, jobs_of, percentile, sample
from local.prove._proofs_page import write_section
from local.prove.counts import call

_LOGS = HERE.logs / "fleet"
_ROUND = 60.0  # seconds
_CHANGING = 0.05  # share of the jobs, a round
_BOUND = 120.0  # seconds
_WARM_UP = 45.0  # seconds, with another number of hosts
_PATIENCE = 900.0
_BETWEEN_TICKS = 57  # the second of a minute at which no tick should be under way
_SETTLING = 45.0  # seconds until counts that moved are settled: the overlap, then one more comparison


@dataclass(slots=True)
class Quiet:
    """What was counted while nothing changed."""

    rounds: int
    requests: int
    tables: Counter[str]


@dataclass(slots=True)
class Watched:
    """What was seen with a number of hosts."""

    hosts: int
    freshness: Freshness
    requests: Counter[str]
    load: float


@dataclass(slots=True)
class Findings:
    first_reads: float = 0.0
    quiet: Quiet | None = None
    watched: list[Watched] = field(default_factory=list)


async def prove(options: argparse.Namespace, children: Children, say: Callable[[str], None]) -> Findings:
    async with ClientSession(timeout=ClientTimeout(total=60)) as session, contextlib.AsyncExitStack() as stack:
        found = Findings()
        azurite = azurite_program(HERE, log=_LOGS / "azurite.log", environment=base_environment())
        azurite = replace(azurite, command=tuple(part for part in azurite.command if part != "--silent"))
        storage = StorageAddresses.announced(await asyncio.to_thread(children.start, azurite))
        keys = {f"fleet{number:03}": fresh_key() for number in range(options.accounts)}
        emulator = await _start_emulator(children, keys)
        fleet = Fleet(emulator, keys, jobs=options.jobs, nodes=0)
        stack.push_async_callback(fleet.close)
        say(f"filling {len(keys)} accounts with {options.jobs} jobs of {options.tasks} tasks each")
        await fleet.fill(options.tasks)
        await _control(emulator, "POST", "settings", {"latencySeconds": options.latency / 1000})
        hosts = Hosts(children, _settings(storage.connection_string, emulator, keys), _LOGS)
        await hosts.run(max(options.hosts))
        found.first_reads = await _first_reads(session, hosts, list(keys), options.jobs)
        say(f"all jobs were read for the first time {found.first_reads:.0f} s after the hosts started")
        await hosts.run(0)
        hosts.settings["TICK_BUDGET_SECONDS"] = str(options.budget)
        await hosts.run(min(options.hosts))
        await asyncio.sleep(_SETTLING)
        await _until_quiet()
        found.quiet = await _count_quiet(emulator)
        say(f"while nothing changes: {_costs(found.quiet, options.jobs)}")
        changes = options.accounts * options.jobs * _CHANGING / _ROUND
        going = asyncio.create_task(fleet.keep_going(changes))
        for number in options.hosts:
            await hosts.run(number)
            await asyncio.sleep(_WARM_UP)
            watched = await _watch(session, emulator, hosts, list(keys), options)
            found.watched.append(watched)
            say(_told(watched))
        going.cancel()
        await asyncio.wait([going])
        return found


async def _start_emulator(children: Children, keys: dict[str, str]) -> str:
    (first, key), *others = keys.items()
    program = emulator_program(HERE, Options(), Emulated(first, key))
    further = [part for name, other in others for part in ("--account", f"{name}={other}")]
    program = replace(program, command=(*program.command, *further), log=_LOGS / "emulator.log")
    return (await asyncio.to_thread(children.start, program))["address"].rstrip("/")


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


async def _first_reads(session: ClientSession, hosts: Hosts, accounts: list[str], jobs: int) -> float:
    began, left = time.monotonic(), list(accounts)
    async with asyncio.timeout(_PATIENCE):
        while left:
            api = hosts.apis["host-1"]
            with contextlib.suppress(ClientError):
                shown = await jobs_of(session, api, left[0])
                if len(shown) == jobs and all(job["verdict"]["asOf"] for job in shown):
                    left.pop(0)
                    continue
            await asyncio.sleep(1)
    return time.monotonic() - began


async def _until_quiet() -> None:
    """Until a round passes in which no task is read or written: hosts that began anew share out the accounts first."""
    async with asyncio.timeout(_PATIENCE):
        while True:
            before = table_operations(_LOGS / "azurite.log")
            await asyncio.sleep(_ROUND)
            if not (table_operations(_LOGS / "azurite.log") - before)["tasks"]:
                return


async def _count_quiet(emulator: str) -> Quiet:
    """Over two rounds; the API isn't asked meanwhile, as that reads tables, too."""
    log = _LOGS / "azurite.log"
    await asyncio.sleep((_BETWEEN_TICKS - datetime.now(UTC).second) % _ROUND)
    before, tables = await _control(emulator, "GET", "counters"), table_operations(log)
    await asyncio.sleep(2 * _ROUND)
    after = await _control(emulator, "GET", "counters")
    rounds = _served(after, "GET /jobs") - _served(before, "GET /jobs")
    routes = ("GET /jobs/{jobId}/tasks", "GET /jobs/{jobId}/taskcounts")
    requests = sum(_served(after, route) - _served(before, route) for route in routes)
    return Quiet(rounds, requests, table_operations(log) - tables)


def _served(counters: dict[str, Any], route: str) -> int:
    return int(counters["routes"].get(route, {}).get("requests", 0))


async def _watch(
    session: ClientSession, emulator: str, hosts: Hosts, accounts: list[str], options: argparse.Namespace
) -> Watched:
    freshness = Freshness()
    before = by_host((await _control(emulator, "GET", "counters"))["clients"])
    apis = list(hosts.apis.values())
    sampling = [
        asyncio.create_task(sample(session, api, accounts[place :: len(apis)], freshness, every=options.sample))
        for place, api in enumerate(apis)
    ]
    await asyncio.wait(sampling, timeout=options.minutes * 60)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    for task in sampling:
        task.cancel()
    for error in await asyncio.gather(*sampling, return_exceptions=True):
        if error and not isinstance(error, asyncio.CancelledError):
            raise error
    after = by_host((await _control(emulator, "GET", "counters"))["clients"])
    return Watched(len(apis), freshness, after - before, load)


def _told(watched: Watched) -> str:
    fresh = watched.freshness
    return (
        f"{watched.hosts} hosts: asked at most {fresh.worst:.0f} s ago (99 % {fresh.percentile(0.99):.0f} s, median"
        f" {fresh.percentile(0.5):.0f} s) in {len(fresh.ages):,} looks; requests {_shares(watched.requests)}"
    )


def _shares(requests: Counter[str]) -> str:
    return ", ".join(f"{name}: {number:,}" for name, number in sorted(requests.items())) or "none"


def _costs(quiet: Quiet, jobs: int) -> str:
    polls = max(quiet.rounds * jobs, 1)
    tables = ", ".join(
        f"{name} {number / max(quiet.rounds, 1):.2f}" for name, number in sorted(quiet.tables.items()) if number
    )
    return (
        f"{quiet.requests / polls:.3f} requests to Batch a job and round, "
        f"{quiet.tables['tasks'] / polls:.3f} operations on its tasks or its row; "
        f"for a whole account and round these tables: {tables}"
    )


def _report(options: argparse.Namespace, found: Findings) -> str:
    lines = [
        f"`dev.py prove fleet {shlex.join(sys.argv[1:])}` on {datetime.now(UTC):%Y-%m-%d}, {platform.system()},",
        f"{os.cpu_count()} cores that storage, emulator, hosts and the proof share: {options.accounts} accounts of",
        f"{options.jobs} jobs of {options.tasks} tasks, {options.latency} ms latency of Batch, {_CHANGING:.0%} of the",
        f"jobs change a minute, polled every {_ROUND:.0f} s, each job looked at every {options.sample:g} s for",
        f"{options.minutes:g} minutes. First reads took {found.first_reads:.0f} s with {max(options.hosts)} hosts.",
        "",
        "| hosts | Batch asked at most | 99 % | median | as of at most | 99 % | median | requests by host | load |",
        "|---|---|---|---|---|---|---|---|---|",
        *map(_row, found.watched),
        "",
        "A settled job is asked for changes and counts in turns, so its as of is older than the last question (ADR 7).",
    ]
    lines.append(_judged(found))
    if found.quiet:
        lines.append(f"While nothing changes: {_costs(found.quiet, options.jobs)}.")
    return "\n".join(lines)


def _judged(found: Findings) -> str:
    late = [str(each.hosts) for each in found.watched if each.freshness.worst >= _BOUND]
    fresh = [str(each.hosts) for each in found.watched if each.freshness.worst < _BOUND]
    missed = f", NOT with {', '.join(late)}" if late else ""
    good = ", ".join(fresh) or "no number of"
    return f"Every job was asked about within the last two minutes with {good} hosts{missed}."


def _row(watched: Watched) -> str:
    fresh, as_of = watched.freshness, watched.freshness.as_of_ages
    ages = [fresh.worst, fresh.percentile(0.99), fresh.percentile(0.5)]
    ages += [percentile(as_of, share) for share in (1.0, 0.99, 0.5)]
    told = " | ".join(f"{age:.0f} s" for age in ages)
    return f"| {watched.hosts} | {told} | {_shares(watched.requests)} | {watched.load:.1f} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="dev.py prove fleet", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add, default = parser.add_argument, "(default: %(default)s)"
    add("--accounts", type=int, default=200, help=default)
    add("--jobs", type=int, default=50, help=f"in each account {default}")
    add("--tasks", type=int, default=10, help=f"in each job at first {default}")
    add("--hosts", type=_numbers, default="1,2,4", help=f"how many, one after the other {default}")
    add("--minutes", type=float, default=1.5, help=f"how long to watch each {default}")
    add("--latency", type=int, default=50, help=f"of Batch, in ms {default}")
    add("--budget", type=int, default=45, help=f"TICK_BUDGET_SECONDS once all is read {default}")
    add("--sample", type=float, default=20.0, help=f"seconds between two looks at a job {default}")
    add("--write", action="store_true", help="write the section 'fleet' of docs/proofs.md")
    options = parser.parse_args()
    with Children() as children:
        found = asyncio.run(prove(options, children, partial(print, flush=True)))
    text = _report(options, found)
    print(f"\n{text}")
    if options.write:
        write_section("fleet", text)
    return 0 if found.watched and all(each.freshness.worst < _BOUND for each in found.watched) else 1


def _numbers(words: str) -> list[int]:
    return [int(word) for word in words.split(",")]


if __name__ == "__main__":
    sys.exit(main())
