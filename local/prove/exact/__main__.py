"""Proves that counts reported as exact are exact under faults, and that all are exact again soon after.

It starts its own stack beside any running one: Azurite, the Batch emulator and hosts that share one storage. Jobs,
tasks, pools, nodes and schedules change all the time. Hosts are killed by `kill -9` during polls, and the service
throttles, resets, truncates, delays, lags and orders its lists oddly. `exactness.cycles` compares, `exactness.chaos`
injects faults; the logs of all host processes are in `.local/logs/exact`. The exit code is 1 if an exact count was
wrong, anything wasn't exact again in time, or the kills didn't fit into the time.
"""

import argparse
import sys
import time
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime

from local.dev.system.checkout import HERE
from local.dev.system.console import Failure, say, step
from local.prove.exact.chaos import Kinds, plan_cycle
from local.prove.exact.cycles import Cycles
from local.prove.exact.driver import Driver
from local.prove.exact.ids import JOBS
from local.prove.exact.judging import histogram
from local.prove.exact.pollers import running_pollers
from local.prove.exact.report import Run, section, text
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.reporting.figures import command_line
from local.prove.stack.host_logs import defects
from local.prove.stack.rig import UNANSWERED, Rig, running_rig

MEASURED_PATHS = ("functions", "shared")
_SPEED = 20.0
_KILLS_PER_CYCLE = 7
_WARM_UP = 4.0  # seconds until the first data


def main() -> int:
    options = _parser().parse_args()
    return run_proof("exact", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    began, clock = datetime.now(UTC), time.monotonic()
    try:
        with ExitStack() as stack:
            with step(f"Starting storage, the emulator and {options.hosts} hosts"):
                rig = stack.enter_context(running_rig(HERE, hosts=options.hosts, seed=options.seed, speed=_SPEED))
            run = _run(rig, options, began, clock)
    except UNANSWERED as error:
        raise Failure(f"The stack doesn't answer any more ({error}); its logs are in {HERE.logs / 'exact'}.") from error
    faults, compared = _faults(run, options.kills), run.findings.compared + run.findings.beside
    verdict = "" if faults else f"\n\nAll {compared} exact claims were right, and all was exact again in time."
    return Outcome(f"{text(run)}{verdict}", section(run, HERE.root), not faults, [*faults, *run.broke])


def _run(rig: Rig, options: argparse.Namespace, began: datetime, clock: float) -> Run:
    kinds = Kinds(deletions="deletions" not in options.without, late_reports="lateReports" not in options.without)
    ends: Counter[str] = Counter()
    with ExitStack() as stack:
        driver = Driver(rig.emulator, rig.account.name, rig.account.key, seed=options.seed)
        stack.callback(driver.close)
        pollers = stack.enter_context(running_pollers(rig, JOBS, seed=options.seed))
        cycles = Cycles(rig, driver, pollers, seed=options.seed)
        stack.callback(cycles.close)
        time.sleep(_WARM_UP)
        number = 0
        while rig.kills["all"] < options.kills and time.monotonic() - clock < options.minutes * 60:
            number += 1
            plan = plan_cycle(options.seed, number, kinds)
            rounds = len(cycles.findings.rounds)
            cycles.run(plan, min(_KILLS_PER_CYCLE, options.kills - rig.kills["all"]))
            found = cycles.findings
            took = histogram(found.rounds[rounds:])
            say(
                f"{number:3}: {plan.title}; so far {rig.kills['all']} kills, {found.compared} claims of jobs and"
                f" {found.beside} others compared, {len(found.wrong)} wrong; rounds to exact: {took}"
            )
        for poller in pollers:
            ends.update(poller.ends)
    return Run(
        options=command_line("exact"),
        began=began,
        seconds=time.monotonic() - clock,
        hosts=options.hosts,
        findings=cycles.findings,
        kills=rig.kills,
        polls=ends,
        done=driver.done,
        broke=defects(rig.program.log.parent),
    )


def _faults(run: Run, kills: int) -> list[str]:
    """Returns the reasons why the proof doesn't hold."""
    found, faults = run.findings, []
    if run.kills["all"] < kills:
        faults.append(f"Only {run.kills['all']} of {kills} kills fitted into the time; give it more --minutes.")
    if not (found.compared and found.beside and found.counted):
        faults.append("No job, nothing beside jobs, or no counter could be compared, so nothing is proved.")
    if found.wrong or found.failures:
        faults.append(f"{len(found.wrong)} claims were wrong though exact; {len(found.failures)} didn't become so.")
    return faults


def _parser() -> argparse.ArgumentParser:
    parser = proof_parser("exact", __doc__)
    add = parser.add_argument
    add("--kills", type=_whole, default=100, help=f"how often a host is killed {DEFAULT}")
    add("--seed", type=int, default=1, help=f"of what changes and what goes wrong {DEFAULT}")
    add("--minutes", type=float, default=15.0, help=f"begin no cycle after so long {DEFAULT}")
    add("--hosts", type=_whole, default=2, help=f"how many at once {DEFAULT}")
    kinds = ("deletions", "lateReports")
    add("--without", choices=kinds, action="append", default=[], help="leave something out, repeatable")
    return parser


def _whole(words: str) -> int:
    if not (words.isascii() and words.isdecimal() and int(words)):
        raise argparse.ArgumentTypeError(f"'{words}' is not a whole number above 0")
    return int(words)


if __name__ == "__main__":
    sys.exit(main())
