"""The report of a run, for the terminal and docs/proofs.md."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from local.dev.checking.figures import code_version
from local.prove.exact.cycles import ROUNDS, Findings
from local.prove.exact.judging import histogram
from local.prove.reporting.figures import counts_text, figures_table, figures_text

_WHAT = f"""
Real hosts on one storage watch the emulator while a seeded driver changes jobs, tasks, pools, nodes and schedules,
under faults of every kind: hosts killed by `kill -9` or frozen amid a poll, throttling, broken connections,
truncated bodies, short and empty pages, unordered lists, odd orders of ids, lagging counts, late reports, deleted
tasks. Several times a cycle the clock is paused, and all that is `exact` as of the pause is compared with the truth:
counts of jobs, pools in numbers, their nodes one by one, schedules. After each cycle there are no more faults, and
all of them must be exact, and right, within {ROUNDS} rounds at the account's interval of 2 s.

Counters of tasks never fall. At each rest those of one pool equal the emulator's: its job's tasks are
run, retried, preempted, reactivated and deleted, and the job deleted and created again, but what leaves no trace for a
poll waits for a rest. Those of the account, where tasks come and go between two polls, never exceed it.

Get Task Counts doesn't lag in the cycles that delete tasks or report late: while it lags, its agreement
describes the past, which no client of the service can detect.
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its command line, start and duration, and the counts of its parts."""

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
    """Returns the figures by name."""
    found = run.findings
    return [
        ("duration", f"{run.seconds / 60:.1f} min"),
        ("hosts", str(run.hosts)),
        ("cycles", f"{found.cycles}, {found.late_cycles} of them with late reports"),
        ("hosts killed", f"{run.kills.get('all', 0)}, {run.kills.get('amid', 0)} of them amid a poll on demand"),
        ("hosts frozen for a while", str(run.kills.get("frozen", 0))),
        ("faults that struck", counts_text(found.struck)),
        ("changes", counts_text(run.done)),
        ("polls on demand, by how they ended", counts_text(run.polls)),
        ("pauses amid chaos", str(found.checks)),
        ("exact counts of jobs compared", str(found.compared)),
        ("exact pools, their nodes and schedules compared", str(found.beside)),
        ("rests at which counters of tasks were compared", str(found.counted)),
        ("**wrong though exact**", f"**{len(found.wrong)}**"),
        (f"**not exact after {ROUNDS} rounds**", f"**{len(found.failures)}**"),
        ("rounds to exact: jobs, pools, nodes, schedules", histogram(found.rounds)),
        ("rounds begun meanwhile, ticks included", histogram(found.begun)),
        ("defects in the hosts' logs", str(len(run.broke))),
    ]


def text(run: Run) -> str:
    """Returns the report for the terminal."""
    return figures_text(rows(run))


def section(run: Run, root: Path) -> str:
    """Returns the report for docs/proofs.md."""
    when = f"{run.began:%Y-%m-%d}, {code_version(root)}, `{run.options}`"
    return f"{_WHAT}\nThe last run: {when}.\n\n{figures_table(rows(run))}\n"
