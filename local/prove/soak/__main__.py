"""Proves that hosts keep their size: two hours of churn, small blobs, queries of every route, and hostile blobs.

Starts its own storage, Batch emulator with the demo workload, and two hosts that share timers and queues as instances
do in Azure. The resident memory of each host is measured every ten seconds, the rows of all tables every five minutes.
The proof judges memory after the first half hour, tables by the bounds of their rows, failures, defects in logs, and
whether the rates were approximately reached. It prints a status line each minute. The exit code is 0 only if all held.
"""

import argparse
import asyncio
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from azure.storage.blob.aio import BlobServiceClient

from local.dev.checking.figures import code_version
from local.dev.running.stack import Options, workload_program
from local.dev.system.checkout import HERE
from local.dev.system.console import say, step
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.reporting.figures import command_line
from local.prove.reporting.proofs_page import PAGE
from local.prove.soak.asking import QuerySender
from local.prove.soak.feeding import Feeder
from local.prove.soak.judging import defects_in
from local.prove.soak.record import Record, findings_of, load_record
from local.prove.soak.report import is_proved, picture, section, text
from local.prove.soak.watching import Watcher
from local.prove.stack.rig import Rig, running_rig

MEASURED_PATHS = ("functions", "shared")
_SETTINGS = {
    "TICK_SCHEDULE": "*/5 * * * * *",
    "POLL_SECONDS": "10",
    "HOUSEKEEPING_SCHEDULE": "30 */5 * * * *",
    "DELETED_JOB_DAYS": "0.02",  # half an hour
    "POLL_STATUS_DAYS": "0.01",  # a quarter of an hour
    "EVENT_DAYS": "1",
    "TELEMETRY_MINUTE_DAYS": "1",
    "TELEMETRY_HOUR_DAYS": "0",
    "HISTORY_MINUTE_DAYS": "1",
    "HISTORY_QUARTER_HOUR_DAYS": "1",
}
_MINUTE = 60.0  # seconds
_RECORD = HERE.logs / "soak/record.json"


def main() -> int:
    options = _parser().parse_args()
    return run_proof("soak", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    record = load_record(options.again) if options.again else _recorded(options)
    findings = findings_of(record)
    if options.write:
        PAGE.with_name("soak.svg").write_text(picture(record), encoding="utf-8")
    return Outcome(text(record, findings), section(record, findings), is_proved(findings))


def _recorded(options: argparse.Namespace) -> Record:
    """Returns the record of a new soak, which is kept in a file."""
    with ExitStack() as stack:
        with step("Starting storage, the emulator, the workload and two hosts"):
            started = running_rig(
                HERE, hosts=2, seed=options.seed, speed=1.0, name="soak", settings=_SETTINGS, with_logs=True
            )
            rig = stack.enter_context(started)
            _start_workload(rig, options.seed)
        record = asyncio.run(_soak(rig, options))
        record.save(_RECORD)
        return record


def _start_workload(rig: Rig, seed: int) -> None:
    workload = workload_program(HERE, Options(scenario="demo", seed=seed), rig.account, rig.emulator)
    rig.children.start(replace(workload, log=HERE.logs / "soak/workload.log"))


async def _soak(rig: Rig, options: argparse.Namespace) -> Record:
    began, version, storage = datetime.now(UTC), code_version(HERE.root), rig.storage.connection_string
    until = time.monotonic() + options.minutes * _MINUTE
    apis = [seat.stack.api for seat in rig.seats if seat.stack]
    pids = {seat.name: rig.children.pids[seat.name] for seat in rig.seats}
    asker = QuerySender(apis, rig.account.name, per_second=options.queries, seed=options.seed)
    async with BlobServiceClient.from_connection_string(storage) as service:
        feeder = Feeder(service, rig.account.name, per_minute=options.blobs, seed=options.seed)
        watcher = Watcher(pids, storage, rig.program.environment["TABLE_PREFIX"], lambda: feeder.blobs)
        async with asyncio.TaskGroup() as group:
            group.create_task(feeder.run(until))
            group.create_task(asker.run(until))
            group.create_task(watcher.run(until))
            group.create_task(_say_status(rig, feeder, asker, watcher, until))
    defects = _defects()
    for line in (*defects[:10], *asker.asked.examples):
        say(f"  {line}")
    return Record(
        began=began,
        version=version,
        command=command_line("soak"),
        minutes=options.minutes,
        blobs=options.blobs,
        queries=options.queries,
        seen=watcher.seen,
        written=feeder.blobs,
        asked=asker.asked.all,
        failed=asker.asked.failed,
        defects=len(defects),
        notes=_notes(feeder, asker, watcher),
    )


async def _say_status(rig: Rig, feeder: Feeder, asker: QuerySender, watcher: Watcher, until: float) -> None:
    """Prints a status line each minute. Raises Failure if a program has ended."""
    begin = following = time.monotonic()
    while (following := following + _MINUTE) < until:
        await asyncio.sleep(following - time.monotonic())
        rig.children.check()
        memory = ", ".join(f"{name} {line[-1][1]:.0f} MB" for name, line in watcher.seen.memory.items())
        minutes = (time.monotonic() - begin) / _MINUTE
        asked, rate = asker.asked, asker.asked.all / (time.monotonic() - begin)
        say(
            f"{minutes:4.0f} min: {memory}; {feeder.blobs:,} blobs ({feeder.blobs / minutes:.1f} a minute),"
            f" {asked.all:,} answers ({rate:.1f} a second), {asked.failed} failed, {feeder.failed} blobs refused"
        )


def _notes(feeder: Feeder, asker: QuerySender, watcher: Watcher) -> list[tuple[str, str]]:
    asked = asker.asked
    return [
        ("blobs by kind", ", ".join(f"{kind}: {number:,}" for kind, number in feeder.written.most_common())),
        ("answers by status", ", ".join(f"{status}: {number:,}" for status, number in sorted(asked.statuses.items()))),
        ("routes asked", str(len(asked.routes))),
        ("seconds an answer, on average", f"{asked.seconds / max(1, asked.all):.2f}"),
        ("looks at tables", f"{len(watcher.seen.looks)}, and {watcher.seen.missed} that storage didn't answer"),
    ]


def _defects() -> list[str]:
    """Returns the defects in the hosts' logs."""
    return [
        f"{log.name}: {record}"
        for log in sorted((HERE.logs / "soak").glob("host-*.log"))
        for record in defects_in(log.read_text(encoding="utf-8", errors="replace"))
    ]


def _parser() -> argparse.ArgumentParser:
    parser = proof_parser("soak", __doc__, beside=", and docs/soak.svg")
    add = parser.add_argument
    add("--minutes", type=_positive, default=120.0, help=f"how long {DEFAULT}")
    add("--blobs", type=_positive, default=20.0, help=f"new ones a minute {DEFAULT}")
    add("--queries", type=_positive, default=5.0, help=f"of the API a second, of both hosts together {DEFAULT}")
    add("--seed", type=int, default=1, help=f"of what is written and asked {DEFAULT}")
    add("--again", type=Path, metavar="FILE", help="judge what an earlier run saw, which it left in .local/logs/soak")
    return parser


def _positive(words: str) -> float:
    if not 0 < float(words) < float("inf"):
        raise argparse.ArgumentTypeError(f"'{words}' is not a number above 0")
    return float(words)


if __name__ == "__main__":
    sys.exit(main())
