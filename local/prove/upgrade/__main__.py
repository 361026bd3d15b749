"""Proves that this version continues with tables of version 0.1.0, and shows how 0.1.0 handles this version's tables.

First the tables that 0.1.0 wrote, kept in tests/data/tables-0.1.0, are restored into empty storage: all answers of this
version must equal those of 0.1.0. Then 0.1.0, whose source is also kept there, and this version run in turn on the same
tables, while jobs, tasks, pools, nodes and schedules change on the emulator. The turns are 0.1.0, this version (the
upgrade), 0.1.0 again (the rollback), and this version again. At each turn the emulator is paused and all counts are
compared with its truth. Before the first poll of a version its answers are compared with those of the previous version.
What only this version stores, such as settings of pools, usage and measured runs, is compared too: in its turns with
the truth, and after the rollback with what was there before. Costs of a day that is over never change.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from local.dev.checking.figures import markdown
from local.dev.running.stack import EmulatedAccount, Options, app_settings
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.dev.system.console import say
from local.prove.exact.driver import Driver
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.reporting.figures import short_headline
from local.prove.stack.api import Stack
from local.prove.stack.services import start_emulator, start_storage
from local.prove.stack.truth import compare
from local.prove.upgrade.answers import Answers, Difference, by_field, differences, is_on_purpose, recorded
from local.prove.upgrade.costs import CostPaths, changed_costs, copy_to_the_day_before, cost_problems, roll_up
from local.prove.upgrade.kept_tables import FOLDER, answers_of_this_version, keep, kept_answers, put_back
from local.prove.upgrade.later_rows import TAG, Credentials, later_problems, lost_in_rollback, tag_pools, tagged_pools
from local.prove.upgrade.measured_jobs import MeasuredJobs
from local.prove.upgrade.versions import EARLIER, Hosts, asked, earlier_source, present_source

MEASURED_PATHS = ("functions", "shared")
_LOGS = HERE.logs / "upgrade"
_ROUNDS = 5
_SHOWN = 10


@dataclass(slots=True)
class Findings:
    """The results: `lines` of the report, and problems (`wrong`)."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def compared(self, what: str, found: Sequence[Difference], *, counts: bool = True) -> None:
        """Records differences of answers; with `counts` they are wrong, except for intended changes of 0.2.0."""
        wrong = [one for one in found if not is_on_purpose(one)]
        result = f"{len(wrong)} fields differ: {by_field(wrong)}" if wrong else "the same"
        self.note(what, f"{result}; said otherwise on purpose: {by_field([one for one in found if one not in wrong])}")
        for one in wrong[:_SHOWN]:
            say(f"    {one}")
        if counts:
            self.wrong += [f"{what}: {one}" for one in wrong]

    def counted(self, what: str, problems: Sequence[str], rounds: int) -> None:
        """Records differences between counts and the truth after some polls on demand."""
        self.note(what, f"the truth after {rounds} polls" if not problems else f"{len(problems)} are wrong")
        for problem in problems[:_SHOWN]:
            say(f"    {problem}")
        self.wrong += [f"{what}: {problem}" for problem in problems]

    def checked(self, what: str, problems: Sequence[str]) -> None:
        """Records problems of what only this version stores."""
        self.note(what, "as it should be" if not problems else f"{len(problems)} are wrong")
        for problem in problems[:_SHOWN]:
            say(f"    {problem}")
        self.wrong += [f"{what}: {problem}" for problem in problems]

    def note(self, what: str, result: str) -> None:
        self.lines.append((what, result))
        say(f"  {what}: {result}")


def main() -> int:
    options = _options()
    return run_proof("upgrade", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    findings, began = Findings(), datetime.now(UTC)
    shutil.rmtree(_LOGS, ignore_errors=True)
    if not options.keep:
        _prove_kept(findings)
    if options.keep or not options.kept_only:
        _prove_live(findings, options)
    head = f"{short_headline('upgrade', began)}, from 0.1.0 ({EARLIER[:7]}):"
    verdict = "As it should be." if not findings.wrong else f"{len(findings.wrong)} faults."
    return Outcome(verdict, f"{head}\n\n{markdown(('step', 'found'), findings.lines)}", not findings.wrong)


def _prove_kept(findings: Findings) -> None:
    """Compares this version's answers from the kept tables, without polls."""
    say("Tables that 0.1.0 left")
    with ExitStack() as stack:
        children = stack.enter_context(Children())
        storage = start_storage(children, _LOGS)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        asyncio.run(put_back(storage.connection_string))
        before, _ = kept_answers()
        after = answers_of_this_version(children, storage, "", folder)
        findings.compared(f"{len(before)} answers kept from 0.1.0, by this version", differences(before, after))


def _prove_live(findings: Findings, options: argparse.Namespace) -> None:
    say("0.1.0 and this version in turn")
    with ExitStack() as stack:
        children = stack.enter_context(Children())
        storage = start_storage(children, _LOGS)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        earlier, present = earlier_source(folder / "earlier"), present_source(folder / "present")
        account, choice = EmulatedAccount(), Options(port=0, scenario="none", speed=options.speed, seed=options.seed)
        emulator = start_emulator(children, _LOGS, account, choice, storage=storage.connection_string)
        settings = app_settings(choice, storage.connection_string, account, emulator) | {"COST_LABELS": TAG}
        hosts = Hosts(children, settings, _LOGS, emulator, account.name)
        driver = Driver(emulator, account.name, account.key, seed=options.seed)
        stack.callback(driver.close)
        costs = _Costs(CostPaths(account.name), storage.connection_string)
        credentials = (emulator, account.name, account.key)
        measured = MeasuredJobs(credentials, storage.connection_string)
        turns = _Turns(hosts, driver, findings, options.seconds, credentials, costs, measured)
        before = turns.turn("0.1.0", earlier, None)
        if options.keep:
            hosts.stop()
            asyncio.run(keep(storage.connection_string, before, turns.until))
            say(f"Kept in {FOLDER.relative_to(HERE.root)}.")
            return
        upgraded = turns.turn("this version after 0.1.0", present, before)
        before = turns.turn("0.1.0 after this version", earlier, upgraded, counts=False)
        turns.turn("this version after the rollback", present, before)
        lost = lost_in_rollback(upgraded, turns.first, account.name)
        findings.checked(
            "events of settings, retirements, start-ups and time waited of each pool after the rollback", lost
        )
        changed = list(changed_costs(upgraded, turns.first, costs.paths.all))
        findings.checked("costs by pool, job and label, budgets and limits after the rollback", changed)
        changed = list(measured.changed(upgraded, turns.first))
        findings.checked("efficiency of the account and of measured jobs after the rollback", changed)


@dataclass(slots=True)
class _Costs:
    paths: CostPaths
    storage: str
    kept: Answers = field(default_factory=dict)
    """Those of the first roll-up."""

    def problems(self, stack: Stack, tag: str) -> list[str]:
        """Rolls today's usage up; returns what lacks then, and which costs of the day before changed."""
        roll_up(stack, self.paths)
        if not self.kept:
            copy_to_the_day_before(self.storage, self.paths.today)
        found = self.paths.answers(stack.get)
        self.kept = self.kept or found
        changed = changed_costs(self.kept, found, self.paths.of_the_day_before)
        return [*cost_problems(found, self.paths, tag), *changed]


@dataclass(slots=True)
class _Turns:
    hosts: Hosts
    driver: Driver
    findings: Findings
    seconds: float
    credentials: Credentials
    costs: _Costs
    measured: MeasuredJobs
    number: int = 0
    first: Answers = field(default_factory=dict)
    until: datetime = field(default_factory=lambda: datetime.now(UTC))

    def turn(self, name: str, source: Path, before: Answers | None, *, counts: bool = True) -> Answers:
        """Runs a version: reads stored data, polls for a while, is compared with the truth; returns its final answers.

        Its first answers are compared with the previous version's; differences are wrong only with `counts`.
        """
        if before is not None:
            stack = self.hosts.start(source, polls=False)
            self.first = self._recorded(stack)
            found = differences(before, self.first)
            self.findings.compared(f"{name}: {len(before)} answers before its first poll", found, counts=counts)
            stack.pause(paused=False)
        stack = self.hosts.start(source, polls=True)
        self.number += 1
        stack.poll_all()
        tag_pools(self.credentials, self._tag)
        if before is not None:
            self.measured.run(self._measured)
        time.sleep(self.seconds)
        self.driver.check()
        stack.pause(paused=True)
        problems, rounds = compare(stack), 1
        while problems and rounds < _ROUNDS:
            time.sleep(2)
            problems, rounds = compare(stack), rounds + 1
        jobs = len(stack.truth())
        self.findings.counted(f"{name}: counts of {jobs} jobs and all pools", problems, rounds)
        if before is not None and counts:
            tagged = tagged_pools(self.credentials, self._tag)
            later = later_problems(stack, self._tag, tagged, self.first)
            self.findings.checked(
                f"{name}: settings, agents, counters and start-ups of each pool; {len(tagged)} pools changed", later
            )
            measured = self.measured.problems(stack, self._measured)
            self.findings.checked(f"{name}: runs of {len(self.measured.ids)} measured jobs", measured)
            costs = self.costs.problems(stack, self._tag)
            self.findings.checked(f"{name}: costs by pool, job and label, budgets and limits after a roll-up", costs)
        stack = self.hosts.start(source, polls=False)
        self.until = datetime.now(UTC)
        return self._recorded(stack)

    @property
    def _tag(self) -> str:
        return f"turn-{self.number}"

    @property
    def _measured(self) -> str:
        return f"measured-{self.number}"

    def _recorded(self, stack: Stack) -> Answers:
        get = partial(asked, stack.api)
        return recorded(get, stack.account, self.until) | self.costs.paths.answers(get) | self.measured.answers(get)


def _options() -> argparse.Namespace:
    parser = proof_parser("upgrade", __doc__)
    add = parser.add_argument
    add("--seconds", type=float, default=30.0, help=f"how long each version polls {DEFAULT}")
    add("--speed", type=float, default=20.0, help=f"of the emulator {DEFAULT}")
    add("--seed", type=int, default=1, help=f"of what changes on the emulator {DEFAULT}")
    add("--kept-only", action="store_true", help="only the kept tables, which takes some seconds")
    add("--keep", action="store_true", help="write the tables that 0.1.0 leaves to tests/data, and end")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
