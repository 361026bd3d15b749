"""Runs the tasks, and gathers the use that each attempt reports."""

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.dev.system.console import Failure
from local.prove.agent_figures.plans import PLANS, TINY_PLANS, Plan, batch_variables
from local.prove.agent_figures.users import User

_GRACE = 60.0  # seconds after which a program that should have ended has failed


@dataclass(frozen=True, slots=True)
class Truth:
    """The use of an attempt: CPU in seconds, sizes in bytes, times in seconds since 1970."""

    cpu: float
    start: float
    end: float
    peak: int
    read: int
    written: int
    threads: int

    @property
    def seconds(self) -> float:
        return self.end - self.start


def run_all(folder: Path, program: Path, plain: User) -> dict[str, list[Truth]]:
    """Runs all tasks at their times; returns the truth of each attempt by the task's name."""
    plans = [plan for plan in (*PLANS, *TINY_PLANS) if plain.is_other or not plan.is_elevated]
    with ThreadPoolExecutor(len(plans)) as pool:
        found = pool.map(lambda plan: _run(plan, folder, program, plain), plans)
        return {plan.name: truths for plan, truths in zip(plans, found, strict=True)}


def sum_of(lines: str) -> Truth:
    """Returns the truth about an attempt from its processes' lines."""
    counts = [json.loads(line) for line in lines.splitlines()]
    return Truth(
        cpu=sum(one["cpu"] for one in counts),
        start=min(one["start"] for one in counts),
        end=max(one["end"] for one in counts),
        peak=max(one["peak"] for one in counts),
        read=sum(one["read"] for one in counts),
        written=sum(one["written"] for one in counts),
        threads=max(one["threads"] for one in counts),
    )


def _run(plan: Plan, folder: Path, program: Path, plain: User) -> list[Truth]:
    time.sleep(plan.begin)
    folders = [folder / f"{plan.name}-{number}" for number in range(len(plan.seconds))]
    for own, seconds in zip(folders, plan.seconds, strict=True):
        own.mkdir()
        who = {} if plan.is_elevated else plain.popen_options()
        if who:
            plain.give(own)
        command = (plain.python, str(program), plan.kind, str(seconds), str(own))
        environment = batch_variables(plan, str(own))
        _run_to_the_end(command, environment, who, seconds + _GRACE)
    return [sum_of((own / "truth").read_text(encoding="utf-8")) for own in folders]


def _run_to_the_end(
    command: Sequence[str], environment: Mapping[str, str], who: Mapping[str, Any], most: float
) -> None:
    """Runs a program until the last of its processes has ended: then nobody holds the pipe that all inherit.

    Raises Failure after that many seconds.
    """
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as end:
        with subprocess.Popen(command, env=environment, start_new_session=True, pass_fds=(theirs,), **who) as task:
            os.close(theirs)
            task.wait(most)
        if not select.select([end], [], [], most)[0]:
            raise Failure(f"Processes of {command[2]} didn't end within {most:g} s.")
