"""Proves that costs follow what nodes and tasks did: a day of churn, compared with the emulator's own ledger.

It starts its own stack beside any running one: Azurite, the Batch emulator in stepped time, and two apps. The first one
reads Batch's event log. Seconds of nodes by pool, kind and class must be right within 0.5 %, unwatched time in outages
to the second. With the log at most 1 % of billed time may be unwatched outside outages or unattributed, and each job's
cost must be right within 1 %. The day's table in FOCUS must be valid for focus-validator. The exit code is 1 if a bar
doesn't hold.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from local.dev.system.console import Failure, say, step
from local.prove.cost.churn import Churn
from local.prove.cost.day import Day
from local.prove.cost.focus import check_focus
from local.prove.cost.judging import Verdict, judged
from local.prove.cost.outages import unseen
from local.prove.cost.report import Run, section, text
from local.prove.cost.rig import NAMES, Rig, running_rig
from local.prove.cost.shown import shown_by
from local.prove.cost.truth import truth_of
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof

MEASURED_PATHS = ("functions", "shared")
_PREEMPTION = 3 * 3600.0  # seconds that a spot node lives, in the mean


def main() -> int:
    options = _parser().parse_args()
    return run_proof("cost", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    began, clock = datetime.now(UTC), time.monotonic()
    start = began.replace(hour=24 - options.hours, minute=0, second=0, microsecond=0)  # the app's days end at midnight
    minutes = options.hours * 60
    with running_rig(start, seed=options.seed, preemption=_PREEMPTION) as rig:
        day = Day(rig, start, seed=options.seed, minutes=minutes, kills=options.kills)
        say(f"A day of {options.hours} hours passes, seed {options.seed}")
        churn = asyncio.run(day.run())
        with step("Comparing"):
            verdicts = _verdicts(rig, day, churn, start, start + timedelta(minutes=minutes))
        focus = [] if options.without_focus else _broken_rules(rig, start, start + timedelta(minutes=minutes))
    faults = [*focus, *(fault for verdict in verdicts for fault in verdict.faults), *day.failures]
    if day.killed < options.kills:
        faults.append(f"Only {day.killed} of {options.kills} kills fitted into the day.")
    run = Run(
        began=began,
        seconds=time.monotonic() - clock,
        seed=options.seed,
        minutes=minutes,
        kills=day.killed,
        done=churn.done,
        verdicts=verdicts,
        faults=faults,
        has_focus=not options.without_focus,
    )
    return Outcome(text(run), section(run), not faults, faults)


def _verdicts(rig: Rig, day: Day, churn: Churn, start: datetime, end: datetime) -> list[Verdict]:
    truth, found = truth_of(rig, start, end, churn.deleted), []
    pools = sorted({line.pool for hour in truth.nodes.values() for line in hour})
    for watcher in rig.watchers:
        shown = shown_by(watcher, rig.account.name, pools, start, end)
        outages = [one for outage in day.outages for one in unseen(rig, outage, watcher.name, shown, truth)]
        found.append(judged(watcher.name, shown, truth, outages, has_log=watcher.name == NAMES[0]))
    return found


def _broken_rules(rig: Rig, start: datetime, end: datetime) -> list[str]:
    """Returns the rules of FOCUS that the day's table breaks, or why they can't be checked."""
    with tempfile.TemporaryDirectory() as folder, step("Validating the table in FOCUS"):
        table = Path(folder) / "focus.csv"
        span = f"from={start:%Y-%m-%dT%H:%M:%SZ}&to={end:%Y-%m-%dT%H:%M:%SZ}"
        table.write_bytes(rig.watchers[0].text(f"accounts/{rig.account.name}/cost/focus?{span}"))
        try:
            return [f"FOCUS: {rule}" for rule in check_focus(table)]
        except Failure as failure:
            return [f"FOCUS: {failure}"]


def _parser() -> argparse.ArgumentParser:
    parser = proof_parser("cost", __doc__)
    add = parser.add_argument
    add("--seed", type=int, default=1, help=f"of what changes and when {DEFAULT}")
    add(
        "--hours",
        type=int,
        choices=range(1, 25),
        metavar="HOURS",
        default=24,
        help=f"of the day, its last ones {DEFAULT}",
    )
    add("--kills", type=int, default=12, help=f"how often one of the apps is killed {DEFAULT}")
    add("--without-focus", action="store_true", help="don't run focus-validator, which needs Python 3.12")
    return parser


if __name__ == "__main__":
    sys.exit(main())
