"""Proves that a backup during polls can be restored to empty storage with all answers equal.

It starts its own stack: Azurite, the Batch emulator, and a host that polls while tasks run. Months of history and
events are stored first, as the app writes them. `dev.py backup` is killed by `kill -9` and resumed; `dev.py restore`
writes to another, empty Azurite, where a second host answers without polling. Answers of the first host that are equal
before, during and after the backup must be equal on the second. Counts of jobs and figures of pools must be those that
the first host gave as of the same moment. Then the emulator is paused, the second host polls, and all counts must be
true.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from local.azurite import StorageAddresses
from local.dev.running.stack import EmulatedAccount, Options, app_settings
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.dev.system.console import step
from local.prove.backup.commands import run_command
from local.prove.backup.judging import Findings, ShownFigures, judge_answers, judge_counts, judge_events, looking
from local.prove.load.many_jobs import fill
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.reporting.figures import figures_table, figures_text, short_headline
from local.prove.stack.api import Stack
from local.prove.stack.services import start_emulator, start_storage
from local.prove.stack.truth import compare
from local.prove.upgrade.answers import Answers, recorded
from local.prove.upgrade.versions import Hosts, asked, present_source
from tests.backup.seeding import seed

MEASURED_PATHS = ("local/backup", "shared/stores")
_LOGS = HERE.logs / "backup"
_PATIENCE = 3600.0  # seconds
_NODES_START = 20.0  # seconds until the pool's nodes run tasks
_MAX_MEMORY_MB = 400


def main() -> int:
    options = _options()
    return run_proof("backup", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    shutil.rmtree(_LOGS, ignore_errors=True)
    began, judged = datetime.now(UTC), Findings()
    with ExitStack() as stack:
        _Proof(stack, options, judged).run()
    size = f"{options.tasks:,} tasks, {options.days} days, {options.events:,} events"
    verdict = "As it should be." if not judged.wrong else f"{len(judged.wrong)} faults."
    section = f"{short_headline('backup', began)}, {size}:\n\n{figures_table(judged.lines)}"
    return Outcome(f"{figures_text(judged.lines)}\n\n{verdict}", section, not judged.wrong, judged.wrong)


class _Proof:
    """The proof: two storages, one emulator, and a host on each storage."""

    def __init__(self, stack: ExitStack, options: argparse.Namespace, judged: Findings) -> None:
        self._options, self._judged = options, judged
        self._children = stack.enter_context(Children())
        self._storage, self._empty = (
            start_storage(self._children, _LOGS, name=f"azurite-{name}") for name in ("first", "second")
        )
        self._source = present_source(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "app")
        self._account = EmulatedAccount()
        logged = self._storage.connection_string
        self._emulator = start_emulator(self._children, _LOGS, self._account, storage=logged)
        self._jobs = [f"Job-{number:02}" for number in range(options.jobs)]

    def run(self) -> None:
        self._seed()
        hosts = self._hosts(self._storage, "first")
        first = hosts.start(self._source, polls=True)
        with step("first reads"):
            self._wait_for_reads(first)
        until, seen = datetime.now(UTC), ShownFigures()
        before = self._recorded(first, until)
        with looking(first, seen):
            self._copy()
        after = self._recorded(first, until)
        others = self._hosts(self._empty, "second")
        second = others.start(self._source, polls=False)
        judge_answers(before, after, self._recorded(second, until), seen, self._judged)
        judge_events(first, second, self._judged)
        judge_counts(seen, second, self._judged)
        hosts.stop()
        second.pause(paused=True)
        self._wait_for_truth(others.start(self._source, polls=True))

    def _seed(self) -> None:
        options, now = self._options, datetime.now(UTC)
        with step(f"{options.days} days of history, {options.events:,} events"):
            place, account = self._storage.connection_string, self._account.name
            asyncio.run(seed(place, account, self._jobs, days=options.days, events=options.events, now=now))
        with step(f"{options.tasks:,} tasks"):
            asyncio.run(fill(self._emulator, self._account, self._jobs, options.tasks))
        time.sleep(_NODES_START)

    def _copy(self) -> None:
        """Runs a backup that is killed and resumed, and the restore."""
        judged, storage = self._judged, self._storage
        killed = run_command("backup", storage, storage, kill_after=("tasks:",))
        judged.lines.append(("killed by `kill -9`", f"after {killed.seconds:.1f} s"))
        backup = run_command("backup", storage, storage)
        if "Going on with the backup" not in backup.said:
            judged.wrong.append("the backup didn't go on where it was killed")
        restore = run_command("restore", storage, self._empty)
        for name, done in (("backup", backup), ("restore", restore)):
            judged.lines.append((name, f"{done.seconds:.0f} s, {done.memory:.0f} MB at most; {done.last_lines}"))
            if done.memory > _MAX_MEMORY_MB:
                judged.wrong.append(f"{name} took {done.memory:.0f} MB")

    def _hosts(self, storage: StorageAddresses, name: str) -> Hosts:
        settings = app_settings(Options(), storage.connection_string, self._account, self._emulator)
        return Hosts(self._children, settings, _LOGS / name, self._emulator, self._account.name)

    def _recorded(self, stack: Stack, until: datetime) -> Answers:
        return recorded(partial(asked, stack.api), stack.account, until)

    def _wait_for_reads(self, stack: Stack) -> None:
        self._children.wait_for(
            lambda: sum(job["taskCounts"] is not None for job in stack.jobs().values()) == len(self._jobs),
            complaint="The jobs weren't read in time.",
            patience_seconds=_PATIENCE,
        )

    def _wait_for_truth(self, second: Stack) -> None:
        """Waits until polls of the restored store have made its counts true."""
        begun = time.monotonic()
        while (problems := compare(second)) and time.monotonic() - begun < _PATIENCE / 10:
            time.sleep(2)
        result = f"all counts the truth after {time.monotonic() - begun:.0f} s"
        self._judged.lines.append(("polls of the restored store", f"{len(problems)} wrong" if problems else result))
        self._judged.wrong += problems


def _options() -> argparse.Namespace:
    parser = proof_parser("backup", __doc__)
    add = parser.add_argument
    add("--tasks", type=int, default=100_000, help=f"of all jobs together {DEFAULT}")
    add("--jobs", type=int, default=20, help=f"that they are of {DEFAULT}")
    add("--days", type=int, default=90, help=f"of history {DEFAULT}")
    add("--events", type=int, default=100_000, help=f"of the account {DEFAULT}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
