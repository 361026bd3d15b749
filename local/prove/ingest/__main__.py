"""Proves that all data in blobs is ingested exactly once, with several hosts that are killed at any moment.

Starts its own storage, Batch emulator and two hosts that sweep all blobs every second. Agents append telemetry in every
format, cut anywhere. Some blobs are re-created, some sealed and followed by the next, some go quiet, some hold several
nodes or runs on one. Some units are unreadable, and record layouts change all the time. Batch's log grows as well, with
repeats. Hosts are killed by `kill -9` and frozen at random moments. At the end every minute of every series, every
event, every reject and every count of dropped data is compared with the writers' notes. This happens twice: once all is
read, and after a restart of all hosts. Telemetry totals lack counts that a killed host hadn't stored: they may never
exceed the written amounts, nor be lower without a kill. The exit code is 1 if anything differs, or the kills didn't fit
into the time.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from azure.storage.blob.aio import BlobServiceClient

from local.dev.system.checkout import HERE
from local.dev.system.console import say, step
from local.prove.ingest.asking import compare
from local.prove.ingest.book import WrittenData
from local.prove.ingest.judging import Verdict
from local.prove.ingest.killing import Killer
from local.prove.ingest.logs import LogWriter
from local.prove.ingest.pens import PLANS
from local.prove.ingest.report import Run, section, text
from local.prove.ingest.writers import Writer
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.stack.host_logs import defects
from local.prove.stack.rig import UNANSWERED, Rig, running_rig

MEASURED_PATHS = ("functions", "shared")
_HOURS = 3.0  # that agents' clocks advance per minute, so that they write hours
_MAX_MINUTES = 25.0  # so that one answer of the API holds all minutes of a node
_LOGGED = timedelta(hours=5)
_PATIENCE = 240.0  # seconds for reading everything
_SETTLED = 12.0  # seconds of restarted hosts, in which nothing may be ingested twice
_RETRY = 2.0
_SETTINGS = {"TICK_SCHEDULE": "* * * * * *", "POLL_SECONDS": "60"}
_HOSTS = "hosts"  # the verdict if none answers
_CONTAINERS = ("telemetry", "insights-logs-servicelog")


def main() -> int:
    options = _parser().parse_args()
    return run_proof("ingest", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    with ExitStack() as stack:
        with step("Starting storage, the emulator and two hosts"):
            started = running_rig(
                HERE, hosts=2, seed=options.seed, speed=1.0, name="ingest", apart=True, settings=_SETTINGS
            )
            rig = stack.enter_context(started)
        run = asyncio.run(_run(rig, options))
    return Outcome(text(run), section(run), run.is_proved, run.wrong)


async def _run(rig: Rig, options: argparse.Namespace) -> Run:
    began, book, seconds = datetime.now(UTC), WrittenData(), options.minutes * 60
    begin = began - timedelta(hours=_HOURS * (options.minutes + 1))
    killer = Killer(rig, kills=options.kills, seconds=seconds, seed=options.seed)
    clock = time.monotonic()
    async with BlobServiceClient.from_connection_string(rig.storage.connection_string, retry_total=0) as service:
        writers = await _writers(service, book, options.seed, begin, lambda: time.monotonic() < clock + seconds)
        await _together(killer.run(), *writers)
    say(f"{book.samples:,} samples and {book.deliveries:,} events in {book.written:,} bytes are written.")
    took, found = await _until_right(rig, book, begin)
    wrong = sum(len(verdict.wrong) for verdict in found.values())
    say(f"Compared {took:.0f} s later: {wrong} differences; the hosts begin anew.")
    await killer.restart_all()
    await asyncio.sleep(_SETTLED)
    again = await _answered(rig, book, begin)
    return Run(
        options=options,
        began=began,
        seconds=time.monotonic() - clock,
        book=book,
        kills=rig.kills,
        took=took,
        verdicts=again,
        wrong=[text for one in (found, again) for verdict in one.values() for text in verdict.wrong]
        + defects(HERE.logs / "ingest"),
    )


async def _writers(
    service: BlobServiceClient, book: WrittenData, seed: int, begin: datetime, goes_on: Callable[[], bool]
) -> list[Coroutine[Any, Any, None]]:
    """Returns all writers, ready to run; `begin` is the agents' first measurement."""
    telemetry, logs = (service.get_container_client(name) for name in _CONTAINERS)
    for container in (telemetry, logs):
        await container.create_container()
    log = LogWriter(logs, book, seed=seed, begin=datetime.now(UTC) - _LOGGED)
    first = int(begin.timestamp()) * 1_000_000_000
    agents = (Writer(plan, telemetry, book, seed=seed, begin=first) for plan in PLANS)
    return [*(agent.run(goes_on) for agent in agents), log.run(goes_on)]


async def _together(*parts: Coroutine[Any, Any, None]) -> None:
    """Runs all to their end; if one fails, all stop."""
    async with asyncio.TaskGroup() as group:
        for part in parts:
            group.create_task(part)


async def _until_right(rig: Rig, book: WrittenData, since: datetime) -> tuple[float, dict[str, Verdict]]:
    """Returns the seconds until all was right, or the last verdicts after the patience ended."""
    began = time.monotonic()
    while True:
        found = await asyncio.to_thread(_compared, rig, book, since)
        took = time.monotonic() - began
        if took > _PATIENCE or not any(verdict.wrong for verdict in found.values()):
            return took, found
        await asyncio.sleep(_RETRY)


async def _answered(rig: Rig, book: WrittenData, since: datetime) -> dict[str, Verdict]:
    """Returns the hosts' verdicts once they answer: with slow storage they answer 503 first."""
    began = time.monotonic()
    while True:
        found = await asyncio.to_thread(_compared, rig, book, since)
        if _HOSTS not in found or time.monotonic() - began > _PATIENCE:
            return found
        await asyncio.sleep(_RETRY)


def _compared(rig: Rig, book: WrittenData, since: datetime) -> dict[str, Verdict]:
    """Returns the verdicts of the first host; an unanswered request counts as wrong."""
    stack = rig.alive(random.Random(1))
    try:
        if stack is None:
            return {_HOSTS: Verdict(0, ("no host runs",))}
        return compare(stack, book, since, killed=bool(rig.kills.get("all")))
    except UNANSWERED as error:
        return {_HOSTS: Verdict(0, (f"a host doesn't answer: {error}",))}


def _parser() -> argparse.ArgumentParser:
    parser = proof_parser("ingest", __doc__)
    add = parser.add_argument
    add("--minutes", type=_minutes, default=5.0, help=f"how long is written {DEFAULT}")
    add("--kills", type=int, default=20, help=f"of hosts in that time {DEFAULT}")
    add("--seed", type=int, default=1, help=f"of what is written and when a host is killed {DEFAULT}")
    return parser


def _minutes(words: str) -> float:
    if not 0 < float(words) <= _MAX_MINUTES:
        raise argparse.ArgumentTypeError(f"'{words}' is not above 0 and at most {_MAX_MINUTES:g}")
    return float(words)


if __name__ == "__main__":
    sys.exit(main())
