"""Proves that keeping outputs costs polling nothing while 100,000 tasks of a job fail within a minute.

It starts its own stack beside any running one: Azurite, the Batch emulator and one host, which polls at the interval of
production. All tasks of one job run side by side, and fail for many causes; other jobs go on as usual. The age of all
counts, rounds, requests for files and their bytes, kept outputs and the host's size are observed before, meanwhile and
after. The exit code is 1 if a bar doesn't hold.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from azure.batch.aio import BatchClient

from local.dev.system.checkout import HERE
from local.dev.system.console import Failure, step
from local.prove.exact.judging import read_job, unsettled
from local.prove.outputs.failing_job import JOB, FailingJob
from local.prove.outputs.judging import ROUNDS, Evidence, Limits, problems
from local.prove.outputs.kept_outputs import look_at_outputs
from local.prove.outputs.observing import HOST, Observer
from local.prove.outputs.report import Run, section, text
from local.prove.outputs.usual_jobs import UsualJobs
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.stack.api import Stack
from local.prove.stack.host_logs import defects
from local.prove.stack.rig import UNANSWERED, Rig, running_rig
from local.workload.target import open_client

MEASURED_PATHS = ("functions", "shared")
_TASKS_A_MINUTE, _CALLS_A_MINUTE = 60, 3000
_LOGS = HERE.logs / "outputs"
_MINUTE = 60  # seconds
_PATIENCE = 600.0  # seconds
_LOOK_EVERY = 2.0  # seconds


def main() -> int:
    options = _parser().parse_args()
    return run_proof("outputs", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    began, clock = datetime.now(UTC), time.monotonic()
    settings = {
        "POLL_SECONDS": str(options.interval),
        "TICK_SCHEDULE": "0 * * * * *" if options.interval >= _MINUTE else f"*/{options.interval} * * * * *",
        "POLL_OVERLAP_SECONDS": "30",
        "HOUSEKEEPING_SCHEDULE": "0 17 * * * *",
        "MAX_BATCH_CALLS_PER_MINUTE": str(_CALLS_A_MINUTE),
        "OUTPUT_TASKS_PER_MINUTE": str(_TASKS_A_MINUTE),
        "OUTPUT_MB_PER_DAY": str(options.megabytes),
        "AZURE_HTTP_USER_AGENT": HOST,
    }
    try:
        with running_rig(HERE, hosts=1, seed=options.seed, speed=1.0, name="outputs", settings=settings) as rig:
            found = asyncio.run(_run(rig, options))
    except UNANSWERED as error:
        raise Failure(
            f"The stack doesn't answer any more ({error}); its logs are in {HERE.logs / 'outputs'}."
        ) from error
    run = Run(began, (time.monotonic() - clock) / _MINUTE, options.jobs, os.getloadavg()[0], found)
    faults = list(problems(found))
    return Outcome(text(run), section(run), not faults, faults)


async def _run(rig: Rig, options: argparse.Namespace) -> Evidence:
    stack = rig.seats[0].stack
    if stack is None:
        raise Failure("The host has ended.")
    async with open_client(rig.emulator, rig.account.name, rig.account.key) as client:
        return await _observe(rig, stack, client, options)


async def _observe(rig: Rig, stack: Stack, client: BatchClient, options: argparse.Namespace) -> Evidence:
    job = FailingJob(client, tasks=options.tasks, seed=options.seed)
    usual = UsualJobs(client, options.jobs, seed=options.seed)
    observer = Observer(stack, rig.children.pids[HOST])
    await _prepare(stack, job, usual)
    async with asyncio.TaskGroup() as group:
        adding = group.create_task(usual.keep_adding(options.rate))
        begin = time.monotonic() + options.before * _MINUTE
        await job.fill(begin, options.seconds)
        await _until(lambda: _are_read(stack, 1 + options.jobs), "All jobs have been read for the first time")
        watching = group.create_task(observer.run())
        await _until(lambda: observer.seen.failed == options.tasks, "All tasks have failed", begin + options.seconds)
        await asyncio.sleep(options.after * _MINUTE)
        adding.cancel()
        flaws = await asyncio.to_thread(_settled, stack)
        watching.cancel()
    rig.children.check()
    return Evidence(
        limits=Limits(options.interval, _TASKS_A_MINUTE, options.megabytes * 1_000_000, _CALLS_A_MINUTE),
        causes=job.counts,
        nodes=job.nodes,
        seen=observer.seen,
        outputs=await asyncio.to_thread(look_at_outputs, rig, stack, job.causes, seed=options.seed),
        unsettled=flaws,
        defects=defects(_LOGS),
    )


async def _prepare(stack: Stack, job: FailingJob, usual: UsualJobs) -> None:
    """Creates pools and jobs, and waits for the nodes of the failing one."""
    await job.create()
    await usual.create()
    await _until(lambda: stack.true_pools()[JOB]["nodes"].get("idle") == job.nodes, f"{job.nodes} nodes are there")


async def _until(is_so: Callable[[], bool], title: str, begin: float | None = None) -> None:
    """Waits for something until _PATIENCE seconds after `begin`, or now. Raises Failure if it doesn't come true."""
    deadline = (time.monotonic() if begin is None else begin) + _PATIENCE
    with step(f"Waiting: {title[0].lower()}{title[1:]}"):
        while not await asyncio.to_thread(is_so):
            if time.monotonic() > deadline:
                raise Failure(f"It took too long until this was so: {title}. Logs are in {_LOGS}.")
            await asyncio.sleep(_LOOK_EVERY)


def _are_read(stack: Stack, jobs: int) -> bool:
    shown = stack.jobs()
    return len(shown) == jobs and all(job["verdict"]["asOf"] for job in shown.values())


def _settled(stack: Stack) -> list[str]:
    """Returns why jobs aren't right and exact after ROUNDS rounds at most, while nothing moves."""
    stack.pause(paused=True)
    try:
        flaws: dict[str, str] = {}
        for _ in range(ROUNDS):
            stack.poll_all()
            flaws = unsettled(map(read_job, stack.jobs().values()), stack.truth())
            if not flaws:
                break
        return list(flaws.values())
    finally:
        stack.pause(paused=False)


def _parser() -> argparse.ArgumentParser:
    parser = proof_parser("outputs", __doc__)
    add = parser.add_argument
    add("--tasks", type=int, default=100_000, help=f"that fail {DEFAULT}")
    add("--seconds", type=float, default=50.0, help=f"within which they fail {DEFAULT}")
    add("--jobs", type=int, default=6, help=f"that go on as usual {DEFAULT}")
    add("--rate", type=float, default=4.0, help=f"tasks added to these a second {DEFAULT}")
    add("--interval", type=int, default=60, help=f"seconds between rounds {DEFAULT}")
    add("--megabytes", type=int, default=10, help=f"OUTPUT_MB_PER_DAY, so few that they are spent {DEFAULT}")
    add("--before", type=float, default=8.0, help=f"minutes from the first task on until they fail {DEFAULT}")
    add("--after", type=float, default=9.0, help=f"minutes to observe afterwards {DEFAULT}")
    add("--seed", type=int, default=1, help=f"of the causes, and of the other jobs {DEFAULT}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
