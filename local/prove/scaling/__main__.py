"""Proves replays of pools' own autoscale formulas: they give the targets that the emulator recorded.

It starts its own stack beside any running one: Azurite, the Batch emulator in stepped time, and the app. Of all
evaluations in which the app evaluates a pool's formula on what it stored, 95 % must give the recorded targets. The exit
code is 1 if a bar doesn't hold.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from azure.batch import models
from azure.batch.aio import BatchClient

from local.dev.checking.figures import markdown
from local.dev.system.checkout import HERE
from local.dev.system.console import Failure, say
from local.prove.cost.rig import NAMES, Rig, running_rig
from local.prove.reporting.command import DEFAULT, Outcome, proof_parser, run_proof
from local.prove.reporting.figures import figures_table, figures_text, headline
from local.prove.scaling.judging import Verdict, faults_of, judged
from local.prove.scaling.pools import INTERVAL, MINUTES, UNKNOWN, ScaledPool, drawn_pools
from local.workload.scenario import PoolPlan
from local.workload.target import open_client
from local.workload.wire import pool_options

MEASURED_PATHS = ("shared/domain/autoscale", "shared/domain/efficiency/scaling", "shared/services/efficiency")
_WHAT = """
Pools whose formulas read pending, active and running tasks, nodes, and the time, each with waves of tasks, run for two
hours in stepped time on the emulator. It takes samples every 30 seconds, and evaluates each formula every five minutes
with an evaluator of its own. The app polls every minute. Then the app is asked to evaluate each pool's formula on what
it stored, and to compare the targets with the recorded ones.

Bars: 95 % of the recorded targets reproduced; a formula on samples that no API shows isn't replayed, and the answer
says so.
"""
_HEADER = ("formula", "evaluations", "equal", "mean difference, nodes", "hours of nodes in the replay, from those seen")


def main() -> int:
    parser = proof_parser("scaling", __doc__)
    parser.add_argument("--seed", type=int, default=1, help=f"of the tasks {DEFAULT}")
    options = parser.parse_args()
    return run_proof("scaling", lambda: _prove(options), write=options.write)


def _prove(options: argparse.Namespace) -> Outcome:
    began, clock = datetime.now(UTC), time.monotonic()
    start = began.replace(hour=0, minute=0, second=0, microsecond=0)
    pools = drawn_pools(options.seed)
    with running_rig(start, seed=options.seed, preemption=0, names=NAMES[:1], logs=HERE.logs / "prove-scaling") as rig:
        say(f"{len(pools)} pools, seed {options.seed}")
        asyncio.run(_run(rig, pools))
        verdicts = [judged(pool.name, _asked(rig, pool.name)) for pool in pools]
        unknown = _asked(rig, pools[0].name, f"?formula={quote(UNKNOWN)}")
    faults = faults_of(verdicts, unknown)
    figures = _figures(options.seed, verdicts, time.monotonic() - clock, faults)
    return Outcome(_text(figures, verdicts), _section(began, figures, verdicts, faults), not faults, faults)


async def _run(rig: Rig, pools: Sequence[ScaledPool]) -> None:
    async with open_client(rig.emulator, rig.account.name, rig.account.key) as client:
        for pool in pools:
            plan = PoolPlan(id=pool.name, vm_size="standard_d4s_v5", slots=pool.slots, has_agent=True)
            await client.create_pool(pool_options(plan))
            where = models.BatchPoolInfo(pool_id=pool.name)
            await client.create_job(models.BatchJobCreateOptions(id=pool.name, pool_info=where))
        await _pass(rig, 2)
        for pool in pools:
            scale = models.BatchPoolEnableAutoScaleOptions(
                auto_scale_formula=pool.formula, auto_scale_evaluation_interval=timedelta(minutes=INTERVAL)
            )
            await client.enable_pool_auto_scale(pool.name, scale)
        for minute in range(MINUTES):
            for pool in pools:
                await _add(client, pool, minute)
            await _pass(rig, 1)


async def _add(client: BatchClient, pool: ScaledPool, minute: int) -> None:
    for wave in pool.waves:
        if wave.minute == minute:
            tasks = [
                models.BatchTaskCreateOptions(id=f"{minute:03}-{at}", command_line=f"sleep {wave.seconds + 11 * at}")
                for at in range(wave.tasks)
            ]
            await client.create_task_collection(pool.name, models.BatchTaskGroup(task_values=tasks))


async def _pass(rig: Rig, minutes: int) -> None:
    for _ in range(minutes):
        await asyncio.to_thread(rig.advance, 60)
        answer = await asyncio.to_thread(rig.watchers[0].fire, "tick")
        if not answer["ok"]:
            raise Failure(f"A tick failed: {answer['error']}")


def _asked(rig: Rig, pool: str, query: str = "") -> Any:
    return rig.watchers[0].get(f"accounts/{rig.account.name}/pools/{pool}/whatif{query}")


def _figures(seed: int, verdicts: Sequence[Verdict], seconds: float, faults: Sequence[str]) -> list[tuple[str, str]]:
    evaluations, equal = sum(one.evaluations for one in verdicts), sum(one.equal for one in verdicts)
    return [
        ("seed", str(seed)),
        ("recorded targets reproduced", f"{equal} of {evaluations} ({equal / max(evaluations, 1):.1%})"),
        ("duration", f"{seconds / 60:.1f} minutes"),
        ("**bars that don't hold**", f"**{len(faults)}**"),
    ]


def _rows(verdicts: Sequence[Verdict]) -> list[tuple[str, ...]]:
    return [
        (one.pool, str(one.evaluations), str(one.equal), f"{one.mean_difference:.2f}", f"{one.misfit:+.1%}")
        for one in verdicts
    ]


def _text(figures: Sequence[tuple[str, str]], verdicts: Sequence[Verdict]) -> str:
    lines = ["  ".join(f"{cell:>12}" for cell in row) for row in _rows(verdicts)]
    return "\n".join((figures_text(figures), "", *lines))


def _section(
    began: datetime, figures: Sequence[tuple[str, str]], verdicts: Sequence[Verdict], faults: Sequence[str]
) -> str:
    wrong = "\n".join(f"- {fault}" for fault in faults)
    end = f"\nNot proved:\n\n{wrong}\n" if wrong else "\nAll bars hold.\n"
    tables = f"{figures_table(figures)}\n\n{markdown(_HEADER, _rows(verdicts))}"
    return f"{_WHAT}\n{headline('scaling', began)}:\n\n{tables}\n{end}"


if __name__ == "__main__":
    sys.exit(main())
