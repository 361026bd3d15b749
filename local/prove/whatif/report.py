"""The report of a run, for the terminal and docs/proofs.md."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from local.dev.checking.figures import markdown
from local.prove.reporting.figures import counts_text, figures_table, figures_text, headline
from local.prove.whatif.cases import Case
from local.prove.whatif.judging import Compared, Verdict, figures_of, inside_share

_WHAT = """
Seeded cases, all at once in stepped time: each workload runs on a pool of its own in the emulator, watched by the whole
app. Then the app is asked how it would end, and at what cost, with other nodes, slots, VM sizes or dedicated nodes in
place of spot ones. Then the same workload runs again on a pool with these settings. The truth is Batch's own list of
tasks and the emulator's ledger of nodes. Workloads have durations of three shapes, tasks of one or two slots, retries,
additions in between, and stages that depend on each other; nodes are ready before, or are allocated with the job; spot
nodes are preempted. Tasks of some cases use CPUs, as records of the node agent say: where nodes lack vCPUs for all of
their runs, these take longer in proportion.

Bars: end and cost within 10 % in 90 % of all cases, and in each that what is seen decides; the truth inside the stated
spread in 90 %. Whether one of a few spot nodes is preempted when the work runs again is chance, and whether runs that
kept all of their vCPUs busy can use more isn't seen.
"""
_HEADER = (
    "figure",
    "within 10 %",
    "of the decided ones",
    "median error",
    "95 % of errors at most",
    "worst",
    "inside the spread",
    "width of the spread, median",
    "",
)
_WORST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run."""

    began: datetime
    seconds: float
    seed: int
    verdicts: Sequence[Verdict]
    faults: Sequence[str]


def text(run: Run) -> str:
    """Returns the report for the terminal, with a line for each case."""
    lines = [figures_text(_figures(run)), ""]
    for one in run.verdicts:
        case = one.case
        marks = "".join("." if each.is_inside else "!" for each in (one.seconds, one.cost))
        lines.append(
            f"  {case.number:3} {marks} end {one.seconds.error:+7.1%} of {one.seconds.true:6.0f} s, cost"
            f" {one.cost.error:+7.1%}, as it was {one.misfit:+6.1%}  {len(case.tasks):4} tasks, {case.shape}:"
            f" {case.before} -> {case.after}"
        )
    return "\n".join(lines)


def section(run: Run) -> str:
    """Returns the report for docs/proofs.md."""
    rows = [_row(name, figures, run.faults) for name, figures in figures_of(run.verdicts).items()]
    wrong = "\n".join(f"- {fault}" for fault in run.faults)
    end = f"\nNot proved:\n\n{wrong}\n" if wrong else "\nAll bars hold.\n"
    tables = f"{figures_table(_figures(run))}\n\n{markdown(_HEADER, rows)}\n\n{_worst(run.verdicts)}"
    return f"{_WHAT}\n{headline('whatif', run.began)}:\n\n{tables}\n{end}"


def _figures(run: Run) -> list[tuple[str, str]]:
    cases = [one.case for one in run.verdicts]
    misfits = sorted(abs(one.misfit) for one in run.verdicts)
    return [
        ("seed", str(run.seed)),
        ("cases", str(len(cases))),
        ("tasks", f"{sum(len(case.tasks) for case in cases):,}, each run twice"),
        ("asked for other", counts_text(Counter(case.kind for case in cases))),
        ("with measured use of CPUs", str(sum(case.busy is not None for case in cases))),
        ("with stages", str(sum(case.uses_dependencies for case in cases))),
        ("nodes allocated with the job", str(sum(case.before.is_new for case in cases))),
        ("on spot nodes", str(sum(case.before.spot for case in cases))),
        ("replays as it was, from what was seen", f"median {median(misfits):.2%}, worst {misfits[-1]:.2%}"),
        ("duration", f"{run.seconds / 60:.1f} minutes"),
        ("**bars that don't hold**", f"**{len(run.faults)}**"),
    ]


def _row(name: str, figures: Sequence[tuple[Case, Compared]], faults: Sequence[str]) -> tuple[str, ...]:
    errors = sorted(abs(one.error) for _, one in figures)
    sure = [one for case, one in figures if case.is_decided]
    width = median((one.high - one.low) / one.expected for _, one in figures)
    return (
        name,
        f"{sum(one.is_close for _, one in figures)} of {len(figures)}",
        f"{sum(one.is_close for one in sure)} of {len(sure)}",
        f"{median(errors):.2%}",
        f"{errors[-(-len(errors) * 95 // 100) - 1]:.2%}",
        f"{errors[-1]:.2%}",
        f"{inside_share(one for _, one in figures):.0%}",
        f"{width:.1%}",
        "NOT OK" if any(fault.startswith(f"{name}:") for fault in faults) else "ok",
    )


def _worst(verdicts: Sequence[Verdict]) -> str:
    """Returns a table of the cases that are farthest off."""
    chosen = sorted(verdicts, key=lambda one: -max(abs(one.seconds.error), abs(one.cost.error)))[:_WORST]
    rows = [
        (
            str(one.case.number),
            f"{len(one.case.tasks)}, {one.case.shape}",
            str(one.case.before),
            str(one.case.after),
            f"{one.seconds.expected:,.0f} s ({one.seconds.low:,.0f} to {one.seconds.high:,.0f})",
            f"{one.seconds.true:,.0f} s",
            f"{one.cost.expected:.4f} ({one.cost.low:.4f} to {one.cost.high:.4f})",
            f"{one.cost.true:.4f}",
        )
        for one in chosen
    ]
    header = ("farthest off", "tasks", "ran on", "asked for", "end", "in truth", "cost, USD", "in truth ")
    return markdown(header, rows)
