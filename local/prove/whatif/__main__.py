"""Proves what-if answers: the same workloads run again on the emulator, under the settings that were asked about.

It starts its own stack beside any running one: Azurite, the Batch emulator in stepped time, and the app. End and cost
must be right within 10 %, in 90 % of the cases and in all that what is seen decides, and inside the stated spread in
90 %. The exit code is 1 if a bar doesn't hold.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError

from azure.storage.blob.aio import ContainerClient

from local.dev.system.checkout import HERE
from local.dev.system.console import Failure, say, step
from local.prove.cost.rig import NAMES, Rig, running_rig
from local.prove.cost.truth import prices_of
from local.prove.cost.usage import usage
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.whatif.cases import Case, drawn_cases
from local.prove.whatif.judging import Verdict, faults_of, judged, true_cost
from local.prove.whatif.report import Run, section, text
from local.prove.whatif.running import Runs, Truth, name_of, write_use
from local.workload.target import open_client

MEASURED_PATHS = ("shared/domain/efficiency/replay", "shared/services/efficiency")
_PREEMPTION = 2 * 3600.0  # seconds that a spot node lives, in the mean
_CONTAINER = "telemetry"
_TICKS = 20  # at most, until all runs are read
_TRIES, _PAUSE = 20, 3.0  # seconds, where the app answers 503


def main() -> int:
    options = _options()
    return run_proof("whatif", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    began, clock = datetime.now(UTC), time.monotonic()
    cases = drawn_cases(options.seed, options.cases)
    start = began.replace(hour=0, minute=0, second=0, microsecond=0)
    with running_rig(
        start, seed=options.seed, preemption=_PREEMPTION, names=NAMES[:1], logs=HERE.logs / "prove-whatif"
    ) as rig:
        say(f"{len(cases)} workloads, seed {options.seed}")
        verdicts = asyncio.run(_compared(rig, cases))
    faults = faults_of(verdicts)
    run = Run(began=began, seconds=time.monotonic() - clock, seed=options.seed, verdicts=verdicts, faults=faults)
    return Outcome(text(run), section(run), not faults, faults)


async def _compared(rig: Rig, cases: Sequence[Case]) -> list[Verdict]:
    async with open_client(rig.emulator, rig.account.name, rig.account.key) as client:
        runs = Runs(rig, client, cases)
        before = await runs.run("a")
        await _measure(rig, cases, before)
        with step("Asking the app"):
            answers = {case.number: await asyncio.to_thread(_asked, rig, case) for case in cases}
        after = await runs.run("b")
    prices, found = prices_of(rig), list[Verdict]()
    for case in cases:
        truth, pool = after[case.number], name_of("b", case)
        cost = true_cost(usage(rig, truth.begin, truth.end)["nodes"], pool, prices)
        found.append(judged(case, answers[case.number], truth.seconds, cost))
    return found


async def _measure(rig: Rig, cases: Sequence[Case], truths: Mapping[int, Truth]) -> None:
    """Writes what runs used, and waits until the app has read it."""
    measured = [case for case in cases if case.busy is not None]
    async with ContainerClient.from_connection_string(rig.storage, _CONTAINER) as container:
        if not await container.exists():
            await container.create_container()
        for case in measured:
            await write_use(container, rig.account.name, case, truths[case.number])
    for _ in range(_TICKS):
        await asyncio.to_thread(rig.advance, 60)
        await asyncio.to_thread(rig.watchers[0].fire, "tick")
        answers = [await asyncio.to_thread(_asked, rig, case) for case in measured]
        if all(answer["measuredRuns"] == len(case.tasks) for answer, case in zip(answers, measured, strict=True)):
            return
    raise Failure("The app didn't read all records of runs.")


def _asked(rig: Rig, case: Case) -> Any:
    path = f"accounts/{rig.account.name}/jobs/{name_of('a', case)}/whatif?{case.after.query}"
    answer = _got(rig, path)
    if not answer.get("asked") or not answer["asked"]["cost"]:
        raise Failure(f"Case {case.number}: {answer.get('reason') or answer}")
    return answer


def _got(rig: Rig, path: str) -> Any:
    """Returns an answer; a busy machine may take longer than the app waits for its storage. Raises HTTPError."""
    for _ in range(_TRIES):
        try:
            return rig.watchers[0].get(path)
        except HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
            time.sleep(_PAUSE)
    return rig.watchers[0].get(path)


def _options() -> argparse.Namespace:
    parser = proof_parser("whatif", __doc__)
    parser.add_argument("--seed", type=int, default=1, help=f"of the cases {DEFAULT}")
    parser.add_argument("--cases", type=int, default=100, help=f"how many {DEFAULT}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
