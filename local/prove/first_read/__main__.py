"""Proves that first reads of a large job survive kills: counts are true, and stored parts aren't read again.

Starts its own storage on disk, Batch emulator and functions host. The job's tasks run, and more are added all the time.
The host is killed by `kill -9` at random moments of a first read and restarted. After some kills the read may end; the
emulator is paused, the job polled, and every count compared. Then it starts again, with empty tables and another order
of ids. A front before the emulator sees every request for tasks. After each kill the stored remainder of the read must
be part of the previous remainder, and all later requests must be part of it. The moments depend on the amount received,
so that they cover the whole read at any speed.

A queue hides the message of a killed function for a while (ten minutes in Azure). To save this time, the proof sends
the message again if no requests arrive.
"""

import argparse
import asyncio
import base64
import contextlib
import json
import random
import secrets
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout
from azure.core.exceptions import AzureError
from azure.storage.queue.aio import QueueClient

from local.azurite import StorageAddresses
from local.dev.running.stack import EmulatedAccount, Options, app_settings, host_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.dev.system.console import Failure, say
from local.prove.first_read.findings import Findings, received_again
from local.prove.first_read.stored_reads import StoredReads, StoredState
from local.prove.first_read.watched_lists import RequestWatch, WatchingFront
from local.prove.load.crowd import JOB, Crowd
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.reporting.figures import headline
from local.prove.stack.api import Stack
from local.prove.stack.host_logs import defects
from local.prove.stack.services import start_emulator, start_storage
from local.prove.stack.truth import compare

MEASURED_PATHS = ("functions", "shared")
_LOGS = HERE.logs / "first-read"
_ADDED_PER_SECOND = 20.0
_KILLS_A_READ = (3, 7)
_IDLE = 3.0  # seconds without a request before another message is sent
_LULL = 0.3  # seconds without a request before the proof checks whether the read is over
_PATIENCE = 600.0  # seconds
_MAX_PAUSE = 1.0  # seconds from the chosen amount received to the kill, so that it also hits storing
_ORDERS: tuple[dict[str, Any], ...] = (
    {"idCollation": "ordinal", "emptyPageEvery": 0},
    {"idCollation": "linguistic", "emptyPageEvery": 7},
    {"idCollation": "ordinal", "emptyPageEvery": 5},
    {"idCollation": "reversed", "emptyPageEvery": 0},  # not divided: pages come one after another
)


@dataclass(slots=True)
class Rig:
    children: Children
    storage: StorageAddresses
    account: EmulatedAccount
    emulator: str
    front: WatchingFront
    address: str
    crowd: Crowd
    chance: random.Random
    findings: Findings
    lives: int = 0


class FirstRead:
    """One first read, from empty tables to compared counts."""

    def __init__(self, rig: Rig, kills: int) -> None:
        self._rig, self._kills = rig, kills
        self._prefix = f"f{secrets.token_hex(6)}"
        self._stored = StoredReads(rig.storage.connection_string, self._prefix)
        self._watch = RequestWatch()
        self._api = ""

    async def run(self) -> None:
        rig = self._rig
        rig.front.watch = self._watch
        kills, began = 0, time.monotonic()
        before = StoredState(False, None)
        try:
            await self._start(before)
            while not (stored := await self._reading(before, kill=kills < self._kills)).is_over:
                kills += 1
                rig.findings.kills += 1
                rig.findings.planned += stored.is_part
                if lost := stored.lost(before):
                    rig.findings.wrong.append(f"kill {rig.findings.kills}: {lost}")
                listed = "nothing stored yet"
                if stored.left:
                    kind, ranges = "changes" if stored.left.since else "tasks", stored.left.ranges
                    listed = f"{stored.tasks:,} {kind} stored, {ranges} ranges left"
                say(f"  kill {rig.findings.kills:2}: {listed}; {self._watch.served:,} tasks served")
                await self._start(stored)
                before = stored
            await self._judge(kills, time.monotonic() - began)
        finally:
            with contextlib.suppress(Failure):
                await asyncio.to_thread(rig.children.kill, "host")
            await self._stored.close()

    async def _reading(self, before: StoredState, *, kill: bool) -> StoredState:
        """Waits for the end of the read, or kills the host during it; returns the stored remainder."""
        deadline = time.monotonic() + _PATIENCE
        asked, since, lull, kill_at = 0, time.monotonic(), _LULL, float("inf")
        kill_after = self._watch.served + self._chosen(before) if kill else float("inf")
        while time.monotonic() < min(deadline, kill_at):
            await asyncio.sleep(0.05)
            if self._watch.asked and self._watch.served >= kill_after:
                kill_after = float("inf")
                kill_at = time.monotonic() + self._rig.chance.uniform(0.0, _MAX_PAUSE)
            if self._watch.asked > asked:
                asked, since, lull = self._watch.asked, time.monotonic(), _LULL
            elif time.monotonic() - since > lull:
                if (stored := await self._stored.look()).is_over:
                    return stored
                lull += _LULL
                if lull > _IDLE:
                    since, lull = time.monotonic(), _LULL
                    await self._send_message()
        if time.monotonic() >= deadline:
            raise Failure(f"The first read didn't end within {_PATIENCE:.0f} s; see {_LOGS}.")
        if (stored := await self._stored.look()).is_over:
            return stored
        await asyncio.to_thread(self._rig.children.kill, "host")
        await asyncio.sleep(0.3)  # its last requests to storage may still take effect
        if (stored := await self._stored.look()).is_over:
            await self._start(stored)
        return stored

    def _chosen(self, before: StoredState) -> float:
        """Returns how many more tasks are received before the next kill: a random part of the remaining ones."""
        if before.left and before.left.since:
            return 0.0
        return self._rig.chance.uniform(0.0, self._rig.crowd.added - before.tasks)

    async def _start(self, stored: StoredState) -> None:
        rig = self._rig
        self._watch.begin_life(stored.left)
        rig.lives += 1
        settings = app_settings(Options(), rig.storage.connection_string, rig.account, rig.address)
        settings |= {"TABLE_PREFIX": self._prefix, "AzureFunctionsWebHost__hostid": self._prefix}
        program = host_program(HERE, Options(port=0), settings)
        started = await asyncio.to_thread(rig.children.start, replace(program, log=_LOGS / f"host.{rig.lives:03}.log"))
        self._api = f"{started['address'].rstrip('/')}/api"

    async def _send_message(self) -> None:
        """Sends the dead host's message again, as the queue would later."""
        message = {"account": self._rig.account.name, "job": JOB, "until": await self._stored.claim()}
        text = base64.b64encode(json.dumps(message).encode()).decode()
        name = f"{self._prefix}-batchscope-jobs"
        with contextlib.suppress(AzureError):
            async with QueueClient.from_connection_string(self._rig.storage.connection_string, name) as queue:
                await queue.send_message(text)

    async def _judge(self, kills: int, seconds: float) -> None:
        rig, findings = self._rig, self._rig.findings
        stack = Stack(self._api, rig.emulator, rig.account.name)
        await asyncio.to_thread(stack.pause, paused=True)
        try:
            problems = await asyncio.to_thread(compare, stack)
            while problems and "Another process" in problems[0]:
                await asyncio.sleep(1)
                problems = await asyncio.to_thread(compare, stack)
            total = (await asyncio.to_thread(stack.truth))[JOB]["total"]
        finally:
            await asyncio.to_thread(stack.pause, paused=False)
        findings.reads += 1
        findings.compared += total
        again = self._watch.served - total
        findings.again.append(again)
        if again > received_again(kills):
            problems.append(f"{self._watch.served:,} tasks were served for {total:,} with {kills} kills")
        problems += self._watch.wrong
        findings.wrong += problems
        say(
            f"first read {findings.reads}: {total:,} tasks in {seconds:.0f} s with {kills} kills;"
            f" {again:,} were received again; {len(problems)} problems {problems[:3] or ''}"
        )


async def prove(options: argparse.Namespace, children: Children) -> Findings:
    async with ClientSession(timeout=ClientTimeout(total=60)) as session, contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        storage = await asyncio.to_thread(start_storage, children, _LOGS, location=folder)
        stack.push_async_callback(asyncio.to_thread, children.stop)  # before its folder is deleted
        account = EmulatedAccount()
        emulator = await asyncio.to_thread(start_emulator, children, _LOGS, account, Options(seed=options.seed))
        front = WatchingFront(emulator, session, RequestWatch())
        address = await front.start()
        stack.push_async_callback(front.stop)
        crowd = Crowd(emulator, account.name, account.key, seed=options.seed)
        stack.push_async_callback(crowd.close)
        began = time.monotonic()
        await crowd.create(options.tasks)
        say(f"{crowd.added:,} tasks were added in {time.monotonic() - began:.0f} s")
        adding = asyncio.create_task(crowd.keep_adding(_ADDED_PER_SECOND, among=options.tasks))
        chance, findings = random.Random(options.seed), Findings()
        rig = Rig(children, storage, account, emulator, front, address, crowd, chance, findings)
        controls = Stack("", emulator, account.name)
        try:
            while findings.kills < options.kills and time.monotonic() - began < options.minutes * 60:
                order = _ORDERS[findings.reads % len(_ORDERS)]
                await asyncio.to_thread(controls.control, "POST", "settings", order)
                kills = min(chance.randint(*_KILLS_A_READ), options.kills - findings.kills)
                await FirstRead(rig, kills).run()
        finally:
            adding.cancel()
            await asyncio.wait([adding])
        findings.wrong += defects(_LOGS)
        return findings


def _report(options: argparse.Namespace, found: Findings, began: datetime, seconds: float) -> str:
    lines = [
        f"{headline('first-read', began)}:",
        f"a job of {options.tasks:,} tasks, with 240 running at a time, while",
        f"{_ADDED_PER_SECOND:g} are added a second. The host is killed by `kill -9` at random moments of first reads",
        "and started again at once.",
        "Orders of ids change from read to read: ordinal, linguistic, reversed; some have empty pages.",
        "",
        *found.lines(options.kills, seconds),
    ]
    return "\n".join(lines)


def main() -> int:
    parser = proof_parser("first-read", __doc__)
    add = parser.add_argument
    add("--kills", type=int, default=30, help=f"amid first reads {DEFAULT}")
    add("--tasks", type=int, default=200_000, help=f"of the job at first {DEFAULT}")
    add("--seed", type=int, default=1, help=f"of when it is killed, and of the tasks {DEFAULT}")
    add("--minutes", type=float, default=30.0, help=f"begin no first read after so long {DEFAULT}")
    options = parser.parse_args()
    return run_proof("first-read", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    began, clock = datetime.now(UTC), time.monotonic()
    for log in _LOGS.glob("host.*.log"):
        log.unlink()
    with Children() as children:
        found = asyncio.run(prove(options, children))
    text = _report(options, found, began, time.monotonic() - clock)
    return Outcome(text, text, not found.problems(options.kills))


if __name__ == "__main__":
    sys.exit(main())
