"""Proves that failing accounts don't affect others: 50 accounts, including 8 that fail, each in a different way.

Starts its own storage, Batch emulator and functions host on free ports. The failing accounts are reached through fronts
that first pass requests on. Then the fronts begin to fail, and the API is polled for every job of every healthy
account. Counts must never be older than two intervals, plus the second to which `Date` is rounded.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from aiohttp import ClientSession, ClientTimeout

from local.dev.running.stack import Options, fresh_key, host_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.dev.system.console import say
from local.prove.fleet.failing_fronts import FAILURE_MODES, Front
from local.prove.fleet.fleet_jobs import Fleet
from local.prove.fleet.freshness import Freshness, first_reads, jobs_of, sample
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.reporting.figures import headline
from local.prove.stack.services import start_emulator_of, start_storage

MEASURED_PATHS = ("functions", "shared")
_SPEED = 4.0
_GRANULARITY = 1.0  # of the header Date, in seconds
_SETTLE_SECONDS = 120.0
_ADDED_PER_SECOND = 5.0
_SHOWN_CHARACTERS = 200  # of what health says instead of a reason
_REPORT_SECONDS = 15.0
_LOGS = HERE.logs / "prove-accounts"


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a run; durations in seconds."""

    accounts: int
    jobs: int
    tasks: int
    interval: int
    tick: int
    seconds: float
    sample_every: float

    @property
    def bound(self) -> float:
        return 2 * self.interval + _GRANULARITY

    def names(self) -> tuple[list[str], list[str]]:
        """Returns the names of healthy and of failing accounts."""
        healthy = [f"good{number:02}" for number in range(self.accounts - len(FAILURE_MODES))]
        return healthy, [f"bad{number}" for number in range(len(FAILURE_MODES))]


@dataclass(frozen=True, slots=True)
class ShownReason:
    """The app's reason for a failing account; `problem` is None if it names the cause."""

    way: str
    reason: str
    problem: str | None


async def prove(plan: Plan, children: Children) -> Outcome:
    async with ClientSession(timeout=ClientTimeout(total=60)) as session, contextlib.AsyncExitStack() as stack:
        healthy, failing = plan.names()
        keys = {name: fresh_key() for name in (*healthy, *failing)}
        storage = await asyncio.to_thread(start_storage, children, _LOGS)
        emulator = await asyncio.to_thread(start_emulator_of, children, _LOGS, keys, Options(speed=_SPEED))
        fronts = {name: Front(emulator, session) for name in failing}
        for front in fronts.values():
            await front.start()
            stack.push_async_callback(front.stop)
        fleet = Fleet(emulator, keys, jobs=plan.jobs)
        stack.push_async_callback(fleet.close)
        say(f"filling {len(keys)} accounts with {plan.jobs} jobs of {plan.tasks} tasks each")
        await fleet.fill(plan.tasks)
        endpoints = dict.fromkeys(healthy, emulator) | {
            name: f"http://127.0.0.1:{front.port}" for name, front in fronts.items()
        }
        api = await _start_host(children, plan, storage.connection_string, endpoints, keys)
        patience = _SETTLE_SECONDS + plan.tick
        took = await first_reads(session, api, [*healthy, *failing], jobs=plan.jobs, patience=patience)
        say(f"every job was read for the first time after {took:.0f} s; now {len(failing)} accounts begin to fail")
        going = asyncio.create_task(fleet.keep_going(_ADDED_PER_SECOND))
        for front, way in zip(fronts.values(), FAILURE_MODES.values(), strict=True):
            await front.fail(way)
        freshness = await _watch(session, api, healthy, plan)
        going.cancel()
        await asyncio.wait([going])
        said = await _said(session, api, dict(zip(failing, FAILURE_MODES, strict=True)))
        return _outcome(plan, freshness, said, fleet.added)


async def _start_host(
    children: Children, plan: Plan, storage: str, endpoints: dict[str, str], keys: dict[str, str]
) -> str:
    settings = {
        "AzureWebJobsStorage": storage,
        "FUNCTIONS_WORKER_RUNTIME": "python",
        "BATCH_ACCOUNTS": " ".join(f"{name}={endpoint}" for name, endpoint in endpoints.items()),
        "BATCH_ACCOUNT_KEYS": " ".join(f"{name}={key}" for name, key in keys.items()),
        "POLL_SECONDS": str(plan.interval),
        "TICK_SCHEDULE": f"*/{plan.tick} * * * * *" if plan.tick < 60 else "0 * * * * *",  # noqa: PLR2004
        "TICK_BUDGET_SECONDS": "45",
        "POLL_OVERLAP_SECONDS": "5",
    }
    program = host_program(HERE, Options(port=0), settings)
    program = replace(program, command=(*program.command, "--quiet"), log=_LOGS / "host.log")
    site = (await asyncio.to_thread(children.start, program))["address"].rstrip("/")
    return f"{site}/api"


async def _watch(session: ClientSession, api: str, healthy: Sequence[str], plan: Plan) -> Freshness:
    freshness = Freshness()
    sampling = asyncio.create_task(sample(session, api, healthy, freshness.take, every=plan.sample_every))
    time = asyncio.get_running_loop().time
    began = time()
    while (left := began + plan.seconds - time()) > 0:
        await asyncio.wait([sampling], timeout=min(_REPORT_SECONDS, left))
        if sampling.done():
            break
        levels = ", ".join(f"{count} {level}" for level, count in freshness.levels.most_common())
        say(f"{time() - began:4.0f} s: at most {freshness.worst:.1f} s old in {len(freshness.ages):,} looks ({levels})")
    sampling.cancel()
    await asyncio.wait([sampling])
    if not sampling.cancelled() and (error := sampling.exception()):
        raise error
    return freshness


async def _said(session: ClientSession, api: str, ways: dict[str, str]) -> list[ShownReason]:
    """Returns the reasons that account, jobs and health give for each failing account."""
    async with session.get(f"{api}/health") as answer:
        problems: list[str] = (await answer.json())["problems"]
    found = []
    for name, way in ways.items():
        async with session.get(f"{api}/accounts/{name}") as answer:
            answer.raise_for_status()
            account: dict[str, Any] = await answer.json()
        place, reason = _first_reason(name, account)
        fresh = [job["id"] for job in await jobs_of(session, api, name) if job["verdict"]["level"] != "stale"]
        word = FAILURE_MODES[way].word
        problem = None
        if word not in reason:
            problem = f"its reason doesn't say '{word}'"
        elif fresh:
            problem = f"{len(fresh)} of its jobs aren't called stale"
        elif f"{place}: {reason}" not in problems:
            problem = f"health doesn't repeat its reason but says: {'; '.join(problems)[:_SHOWN_CHARACTERS]}"
        found.append(ShownReason(way, reason.replace(account["endpoint"], f"https://{name}…"), problem))
    return found


def _first_reason(name: str, account: dict[str, Any]) -> tuple[str, str]:
    """Returns the reason of the round over jobs, pools or schedules, whichever met the failure first, and its place."""
    reasons = {
        name: account["lastRound"]["reason"],
        f"{name}, pools": account["poolsReason"],
        f"{name}, job schedules": account["schedulesReason"],
    }
    return next(((place, reason) for place, reason in reasons.items() if reason), (name, ""))


def _outcome(plan: Plan, freshness: Freshness, said: list[ShownReason], added: int) -> Outcome:
    healthy, failing = plan.names()
    problems = _problems(plan, freshness, said, healthy)
    levels = ", ".join(f"{count:,} {level}" for level, count in freshness.levels.most_common())
    lines = [
        f"{headline('accounts', datetime.now(UTC))}:",
        f"{len(healthy)} healthy and {len(failing)} failing accounts of {plan.jobs} jobs of {plan.tasks} tasks each,",
        f"{added} tasks added meanwhile; polled every {plan.interval} s by a tick each {plan.tick} s, watched for",
        f"{plan.seconds / 60:g} minutes.",
        "",
        "| measure | value |",
        "|---|---|",
        f"| longest that a healthy job wasn't checked | {freshness.worst:.1f} s (allowed: {plan.bound:g} s) |",
        f"| 99th percentile, median | {freshness.percentile(0.99):.1f} s, {freshness.percentile(0.5):.1f} s |",
        f"| looks at a job | {len(freshness.ages):,}, at each every {plan.sample_every:g} s |",
        f"| rounds of healthy accounts seen | {sum(map(len, freshness.seen.values())):,} |",
        f"| verdicts on jobs of healthy accounts | {levels} |",
        f"| load of the machine, other programs included | {_load()} |",
        "",
        "| an account fails by | and is said to |",
        "|---|---|",
        *(f"| {one.way} | {one.reason} |" for one in said),
        "",
        "As it should be." if not problems else f"NOT as it should be: {'; '.join(problems)}.",
    ]
    text = "\n".join(lines)
    return Outcome(text, text, not problems)


def _load() -> str:
    """Returns the load averages: counts grow older if other programs use the processors."""
    return " ".join(f"{load:.1f}" for load in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"


def _problems(plan: Plan, freshness: Freshness, said: list[ShownReason], healthy: Sequence[str]) -> list[str]:
    stale = freshness.levels["stale"]
    late = [(name, *oldest) for name, oldest in sorted(freshness.oldest.items()) if oldest[0] > plan.bound]
    return [
        *(f"{name} was {age:.1f} s old ({which})" for name, age, which in late),
        *(f"{name} was never seen" for name in healthy if name not in freshness.seen),
        *([f"{stale} looks at healthy accounts found stale counts"] if stale else []),
        *(f"{one.way}: {one.problem}" for one in said if one.problem),
    ]


def main() -> int:
    parser = proof_parser("accounts", __doc__)
    add = parser.add_argument
    add("--minutes", type=float, default=4.0, help=f"how long to watch {DEFAULT}")
    add("--accounts", type=int, default=50, help=f"{len(FAILURE_MODES)} of them fail {DEFAULT}")
    add("--jobs", type=int, default=20, help=f"in each account {DEFAULT}")
    add("--tasks", type=int, default=30, help=f"in each job at first {DEFAULT}")
    add("--interval", type=int, default=20, help=f"POLL_SECONDS {DEFAULT}")
    add("--tick", type=int, default=5, help=f"seconds between two ticks {DEFAULT}")
    add("--sample", type=float, default=2.0, help=f"seconds between two looks at a job {DEFAULT}")
    options = parser.parse_args()
    plan = Plan(
        accounts=options.accounts,
        jobs=options.jobs,
        tasks=options.tasks,
        interval=options.interval,
        tick=options.tick,
        seconds=options.minutes * 60,
        sample_every=options.sample,
    )
    return run_proof("accounts", lambda: _prove(plan), write=options.write)


def _prove(plan: Plan) -> Outcome:
    with Children() as children:
        return asyncio.run(prove(plan, children))


if __name__ == "__main__":
    sys.exit(main())
