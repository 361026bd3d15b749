"""The report of a run, and the section of docs/proofs.md that keeps the last one."""

import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from local.prove.exactness.cycles import ROUNDS, Findings
from local.prove.exactness.judging import histogram

INTRODUCTION = """# Proofs

Long runs that are too slow for `test`: what they do, and what the last one of each found. `python3 dev.py prove NAME`
runs one.
"""
_WHAT = f"""## exact

`python3 dev.py prove exact` runs real hosts on one storage against the emulator, while a seeded driver changes jobs and
tasks and everything around goes wrong: hosts killed by `kill -9` or frozen amid a poll, throttling, broken connections,
truncated bodies, short and empty pages, unordered lists, odd orders of ids, a lagging Get Task Counts, late reports,
deleted tasks. Several times a cycle the clock is paused, and every count that is `exact` as of the pause is compared
with the truth. After each cycle nothing goes wrong any more, and every job must be exact, and right, within {ROUNDS}
rounds.

Get Task Counts doesn't lag in the cycles that delete tasks or report late: while it lags, its agreement speaks of what
was, and nobody outside the service could know better.
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: the command's own words, when it was, how long it took, and what its parts counted."""

    options: str
    began: datetime
    seconds: float
    hosts: int
    findings: Findings
    kills: Mapping[str, int]
    polls: Mapping[str, int]
    done: Mapping[str, int]
    broke: Sequence[str]


def rows(run: Run) -> list[tuple[str, str]]:
    """Figures by name."""
    found = run.findings
    return [
        ("duration", f"{run.seconds / 60:.1f} min"),
        ("hosts", str(run.hosts)),
        ("cycles", f"{found.cycles}, {found.late_cycles} of them with late reports"),
        ("hosts killed", f"{run.kills.get('all', 0)}, {run.kills.get('amid', 0)} of them amid a poll on demand"),
        ("hosts frozen for a while", str(run.kills.get("frozen", 0))),
        ("faults that struck", _counted(found.struck)),
        ("changes", _counted(run.done)),
        ("polls on demand, by how they ended", _counted(run.polls)),
        ("pauses amid chaos", str(found.checks)),
        ("exact counts compared", str(found.compared)),
        ("**wrong exact counts**", f"**{len(found.wrong)}**"),
        (f"**jobs not exact after {ROUNDS} rounds**", f"**{len(found.failures)}**"),
        ("rounds to exact: jobs", histogram(found.rounds)),
        ("rounds begun meanwhile, ticks included", histogram(found.begun)),
        ("defects in the hosts' logs", str(len(run.broke))),
    ]


def text(run: Run) -> str:
    """For the terminal."""
    figures = [(name.replace("*", ""), value.replace("*", "")) for name, value in rows(run)]
    width = max(len(name) for name, _ in figures)
    return "\n".join(f"  {name:{width}}  {value}" for name, value in figures)


def section(run: Run, root: Path) -> str:
    """For docs/proofs.md."""
    lines = "\n".join(f"| {name} | {value} |" for name, value in rows(run))
    when = f"{run.began:%Y-%m-%d}, version {_version(root)}, commit {_commit(root)}, `{run.options}`"
    return f"{_WHAT}\nThe last run: {when}.\n\n| figure | value |\n|---|---|\n{lines}\n"


def with_section(document: str, new: str) -> str:
    """The document with its section `exact` replaced, or added."""
    document = document or INTRODUCTION
    found = re.search(r"(?ms)^## exact\n.*?(?=^## |\Z)", document)
    if found is None:
        return f"{document.rstrip()}\n\n{new}"
    rest = document[found.end() :]
    return document[: found.start()] + new + (f"\n{rest}" if rest else "")


def write(run: Run, root: Path) -> None:
    path = root / "docs/proofs.md"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(with_section(before, section(run, root)), encoding="utf-8")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {number}" for name, number in sorted(Counter(counts).items()) if number) or "none"


def _version(root: Path) -> str:
    return str(tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"])


def _commit(root: Path) -> str:
    """Of the checkout, as `git` tells it; changes that aren't committed are told of."""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"
