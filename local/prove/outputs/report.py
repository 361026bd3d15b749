"""The results of a run, for the terminal and docs/proofs.md."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from local.prove.outputs.judging import (
    CALLS_OF_A_TASK,
    PATIENCE,
    PHASES,
    ROUNDS,
    Evidence,
    Outburst,
    by_minute,
    cores,
    first_examples,
    intervals,
    oldest,
    outburst,
    problems,
    round_moments,
    rounds_to_exact,
    summary,
)
from local.prove.outputs.observing import Age
from local.prove.reporting.figures import counts_text, figures_table, figures_text, headline

_WHAT = """
One host with the settings of production, but for a smaller budget a day, watches an account of the emulator in which
jobs go on as usual while all tasks of one job fail within a minute: for 30 causes (exit codes, each with the last words
of a program), half of the tasks for one of them and three for each of the rarest. Every third task wrote 300 KiB to
both streams, so that its whole tails are read. A task's node holds 256 of them.

Bars: no job's counts are ever older than three intervals and a minute; those of the failing job are right and exact
within three rounds after the last failure, and at the end those of all jobs, while nothing moves; requests for files
and their bytes, counted by the emulator, stay within the settings; each group has a kept output within five minutes;
a task that wasn't kept says why.
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    began: datetime
    minutes: float
    jobs: int
    load: float
    found: Evidence


def rows(run: Run) -> list[tuple[str, str]]:
    """Returns the figures by name."""
    burst = outburst(run.found.seen.emulator)
    return [*_of_pace(run, burst), *_of_reading(run.found), *_of_kept(run.found, burst), *_of_host(run, burst)]


def _of_pace(run: Run, burst: Outburst) -> list[tuple[str, str]]:
    found, seen = run.found, run.found.seen
    rounds, tasks = round_moments(seen.emulator), found.causes.total()
    ages, gaps = oldest(seen.ages, burst), intervals(rounds, burst)
    taken = rounds_to_exact(seen.shown, tasks, burst.ended, rounds)
    return [
        ("duration", f"{run.minutes:.0f} min"),
        ("tasks that failed", f"{tasks:,} on {found.nodes} nodes, in {burst.ended - burst.began:.0f} s"),
        ("most within a minute", f"{burst.fastest:,}"),
        ("other jobs", str(run.jobs)),
        *((f"oldest counts {phase}, bar {found.limits.oldest:.0f} s", _aged(ages[phase])) for phase in PHASES),
        *((f"seconds between rounds {phase}: median", summary(gaps[phase])) for phase in PHASES),
        (f"**rounds until exact, bar {ROUNDS}**", f"**{'never' if taken is None else taken}**"),
        ("jobs that weren't exact at the end", str(len(found.unsettled))),
        ("looks without an answer", counts_text(seen.unanswered)),
    ]


def _of_reading(found: Evidence) -> list[tuple[str, str]]:
    looks, limits = found.seen.emulator, found.limits
    files, calls = by_minute(looks, "file_requests"), by_minute(looks, "calls")
    most = CALLS_OF_A_TASK * limits.tasks_a_minute
    return [
        ("requests for files", f"{looks[-1].file_requests:,}"),
        (f"most of them in a minute, {most} by the setting", str(max(files.values()))),
        ("**bytes of files read**", f"**{looks[-1].file_bytes:,} of {limits.bytes_a_day:,} a day**"),
        (f"most requests to Batch in a minute, {limits.calls_a_minute:,} by the setting", f"{max(calls.values()):,}"),
    ]


def _of_kept(found: Evidence, burst: Outburst) -> list[tuple[str, str]]:
    kept = [row for row in found.outputs.stored if row.is_kept]
    examples = first_examples(found.seen.groups, found.causes)
    waits = [max(0.0, moment - burst.ended) for moment in examples.values()]
    groups = f"{len(examples)} of {len(found.causes)}"
    answers = [look.seconds for look in found.seen.groups]
    return [
        ("**groups with a kept output**", f"**{groups}**"),
        (f"first one after the last failure: median, bar {PATIENCE:.0f} s", summary(waits)),
        ("outputs kept", f"{len(kept)}, and {len(found.outputs.stored) - len(kept)} that had nothing to keep"),
        ("outputs of other jobs", str(found.outputs.others)),
        ("nodes with a kept output", f"{len({row.node for row in kept})} of {found.nodes}"),
        ("reasons of tasks that weren't kept", counts_text(found.outputs.reasons)),
        ("longest answer of …/failures, …/output", f"{max(answers, default=0.0):.1f} s, {found.outputs.slowest:.1f} s"),
    ]


def _of_host(run: Run, burst: Outburst) -> list[tuple[str, str]]:
    busy, size = cores(run.found.seen.host, burst), [look.megabytes for look in run.found.seen.host]
    return [
        ("cores that the host kept busy", ", ".join(f"{phase} {busy[phase]:.2f}" for phase in PHASES)),
        ("memory of the host", f"{size[0]:.0f} MB at first, at most {max(size):.0f} MB, {size[-1]:.0f} MB at the end"),
        ("load of the machine, other programs included", f"{run.load:.1f}"),
        ("defects in the host's log", str(len(run.found.defects))),
    ]


def _aged(age: Age | None) -> str:
    return "none" if age is None else f"{age.as_of:.0f} s ({age.job})"


def text(run: Run) -> str:
    """Returns the report for the terminal."""
    return figures_text(rows(run))


def section(run: Run) -> str:
    """Returns the report for docs/proofs.md."""
    wrong: Sequence[str] = list(problems(run.found))
    end = "\n".join(("Not proved:", "", *(f"- {one}" for one in wrong))) if wrong else "All bars hold."
    return f"{_WHAT}\n{headline('outputs', run.began)}:\n\n{figures_table(rows(run))}\n\n{end}\n"
