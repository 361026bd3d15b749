"""What programs write before they fail, by kind of failure, with the exit code that belongs to it.

The texts are in last_words.toml. Runs of one cause (a job and a kind of failure) differ in numbers, paths and times.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from local.batch_emulator.contents.templates import fill_template
from local.batch_emulator.core.stamps import SECOND, stamp

_TEXTS = Path(__file__).with_name("last_words.toml")


@dataclass(frozen=True, slots=True)
class FailureKind:
    """A kind of failure: its exit code, and templates of the last output to stdout and to stderr."""

    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """What a run's output says about it: its directory below the node's root, and the node.

    `seed` differs from run to run, `cause_seed` from job to job.
    """

    seed: str
    cause_seed: str
    directory: str
    node: str


@cache
def failure_kinds() -> Mapping[str, FailureKind]:
    """Returns all kinds of failure by name."""
    rows = tomllib.loads(_TEXTS.read_text(encoding="utf-8"))
    return {name: FailureKind(row["exit"], row.get("stdout", ""), row.get("stderr", "")) for name, row in rows.items()}


def last_words(name: str, run: RunIdentity, moment: int) -> tuple[str, str]:
    """Returns the last output to stdout and stderr of a run that fails at a moment, in ticks."""
    kind = failure_kinds()[name]
    seconds = moment // SECOND * SECOND
    values = {
        "task": run.directory.rpartition("/")[2],
        "node": run.node,
        "time": stamp(seconds)[:-1],
        "clock": stamp(seconds)[11:-1],
        "day": stamp(seconds)[:10],
        "pid": str(Random(run.seed).randint(1200, 32000)),
        "root": f"/mnt/batch/tasks/{run.directory}",
        "windows_root": "D:\\batch\\tasks\\" + run.directory.replace("/", "\\"),
    }
    random, cause = Random(f"{run.seed}/{name}"), Random(f"{run.cause_seed}/{name}")
    stdout = fill_template(kind.stdout, values, cause=cause, run=random)
    return stdout, fill_template(kind.stderr, values, cause=cause, run=random)
