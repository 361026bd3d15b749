"""Proves that counts reported as exact are exact under faults, and that all are exact again soon after.

It starts its own stack beside any running one: Azurite, the Batch emulator and hosts that share one storage. Jobs,
tasks, pools, nodes and schedules change all the time. Hosts are killed by `kill -9` during polls, and the service
throttles, resets, truncates, delays, lags and orders its lists oddly. `exactness.cycles` compares, `exactness.chaos`
injects faults; the logs of all host processes are in `.local/logs/exact`. The exit code is 1 if an exact count was
wrong, anything wasn't exact again in time, or the kills didn't fit into the time.
"""

import argparse
import re
import shlex
import signal
import sys
import time
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from local.dev.system.checkout import HERE
from local.dev.system.console import Failure, complain, say, step
from local.prove.exact.chaos import Kinds, plan_cycle
from local.prove.exact.cycles import Cycles
from local.prove.exact.driver import Driver
from local.prove.exact.ids import JOBS
from local.prove.exact.judging import histogram
from local.prove.exact.pollers import running_pollers
from local.prove.exact.report import Run, section, text
from local.prove.reporting.proofs_page import write_section
from local.prove.stack.rig import UNANSWERED, Rig, running_rig

MEASURED_PATHS = ("functions", "shared")
_SPEED = 20.0
_KILLS_PER_CYCLE = 7
_WARM_UP = 4.0  # seconds until the first data


def main() -> int:
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began, clock = datetime.now(UTC), time.monotonic()
    try:
        with ExitStack() as stack:
            with step(f"Starting storage, the emulator and {options.hosts} hosts"):
                rig = stack.enter_context(running_rig(HERE, hosts=options.hosts, seed=options.seed, speed=_SPEED))
            run = _prove(rig, options, began, clock)
    except Failure as failure:
        complain(str(failure))
        return 1
    except UNANSWERED as error:
        complain(f"The stack doesn't answer any more ({error}); its logs are in {HERE.logs / 'exact'}.")
        return 1
    except KeyboardInterrupt:
        say("Stopped.")
        return 130
    say(f"\n{text(run)}\n")
    for line in run.broke[:20]:
        say(f"  {line}")
    if options.write:
        write_section("exact", section(run, HERE.root))
    return _verdict(run, options.kills)


def _prove(rig: Rig, options: argparse.Namespace, began: datetime, clock: float) -> Run:
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
        options=f"dev.py prove exact {shlex.join(sys.argv[1:])}".strip(),
        began=began,
        seconds=time.monotonic() - clock,
        hosts=options.hosts,
        findings=cycles.findings,
        kills=rig.kills,
        polls=ends,
        done=driver.done,
        broke=_defects(rig.program.log.parent),
    )


def _defects(logs: Path) -> list[str]:
    """Returns lines of the hosts' logs that indicate a defect rather than an expected failure."""
    return [
        f"{log.name}: {line}"
        for log in sorted(logs.glob("host-*.log"))
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()
        if re.search(r"\bbroke\b|Traceback|was never retrieved", line)
    ]


def _verdict(run: Run, kills: int) -> int:
    found = run.findings
    if run.kills["all"] < kills:
        complain(f"Only {run.kills['all']} of {kills} kills fitted into the time; give it more --minutes.")
    if not (found.compared and found.beside):
        complain("No job, or nothing beside jobs, could be compared, so nothing is proved.")
    if found.wrong or found.failures:
        complain(f"{len(found.wrong)} claims were wrong though exact; {len(found.failures)} didn't become so.")
    is_proved = found.compared and found.beside and not found.wrong and not found.failures and run.kills["all"] >= kills
    if is_proved:
        say(f"All {found.compared + found.beside} exact claims were right, and all was exact again in time.")
    return 0 if is_proved else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py prove exact", description=__doc__)
    add = parser.add_argument
    add("--kills", type=_whole, default=100, help="how often a host is killed (default: %(default)s)")
    add("--seed", type=int, default=1, help="of what changes and what goes wrong (default: %(default)s)")
    add("--minutes", type=float, default=15.0, help="begin no cycle after so long (default: %(default)s)")
    add("--hosts", type=_whole, default=2, help="how many at once (default: %(default)s)")
    kinds = ("deletions", "lateReports")
    add("--without", choices=kinds, action="append", default=[], help="leave something out, repeatable")
    add("--write", action="store_true", help="write the summary into docs/proofs.md")
    return parser


def _whole(words: str) -> int:
    if not (words.isascii() and words.isdecimal() and int(words)):
        raise argparse.ArgumentTypeError(f"'{words}' is not a whole number above 0")
    return int(words)


if __name__ == "__main__":
    sys.exit(main())
