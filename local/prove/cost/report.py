"""The report of a run, for the terminal and docs/proofs.md."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from local.dev.checking.figures import markdown
from local.prove.cost.judging import JOB_BAR, NODE_BAR, UNKNOWN_BAR, Compared, Verdict, worst
from local.prove.reporting.figures import counts_text, figures_table, figures_text, headline

_WHAT = """
Two apps on one storage watch a day of the emulator in stepped time: one reads Batch's event log, the other doesn't. A
seeded driver changes pools, nodes, jobs and tasks, multi-instance ones too. Spot nodes are preempted, the apps are
killed by `kill -9` amid ticks and roll-ups, and twice the service answers nothing. Afterwards the API's seconds of
nodes, unwatched time and costs of jobs are compared with the emulator's own ledger. Jobs cost what their tasks held,
without shares of idle time.

Classes are compared over the hours without an outage. A class with less than 1 % of its pool's seconds, such as nodes
that reboot or leave, lasts less than the time between two polls: it is judged by its share of these seconds, and may be
far off by its own. A node dates the end of its start by its own clock, which is wrong by up to a second: that is
allowed besides for each start. Only the log says when a pool was deleted between two polls: without it half an interval
of polls is allowed besides for each node. No event says when a run ended whose task or job was deleted: its time and an
interval of polls are allowed besides. In pools whose nodes come and go in the hours of an outage, unwatched time has
bounds only.
"""
_HEADER = ("app", "figure", "shown", "in truth", "difference", "bar", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run; `kills` counts processes, `done` the driver's changes."""

    began: datetime
    seconds: float
    seed: int
    minutes: int
    kills: int
    done: Counter[str]
    verdicts: Sequence[Verdict]
    faults: Sequence[str]
    has_focus: bool = True


def text(run: Run) -> str:
    """Returns the report for the terminal, with every line of both sides."""
    parts = [figures_text(_figures(run))]
    for verdict in run.verdicts:
        rows = [*verdict.lines, *verdict.jobs]
        width = max((len(one.name) for one in rows), default=0)
        parts.append(f"\nApp {verdict.name}: shown, in truth, difference")
        parts += [
            f"  {one.name:{width}}  {one.shown:14,.3f}  {one.true:14,.3f}  {one.judged_share:8.3%}" for one in rows
        ]
    return "\n".join(parts)


def section(run: Run) -> str:
    """Returns the report for docs/proofs.md."""
    rows = [row for verdict in run.verdicts for row in _rows(verdict)]
    wrong = "\n".join(f"- {fault}" for fault in run.faults)
    end = f"\nNot proved:\n\n{wrong}\n" if wrong else "\nAll bars hold.\n"
    table = markdown(_HEADER, rows)
    return f"{_WHAT}\n{headline('cost', run.began)}:\n\n{figures_table(_figures(run))}\n\n{table}\n{end}"


def _figures(run: Run) -> list[tuple[str, str]]:
    return [
        ("seed", str(run.seed)),
        ("watched", f"{run.minutes} minutes of stepped time in {run.seconds / 60:.1f} real ones"),
        ("apps killed", str(run.kills)),
        ("changes", counts_text(run.done)),
        *((f"unknown, {one.name}", f"{one.unknown:.3%} of {one.billed:,.0f} s") for one in run.verdicts),
        ("table in FOCUS 1.2", "checked by focus-validator" if run.has_focus else "not checked"),
        ("**bars that don't hold**", f"**{len(run.faults)}**"),
    ]


def _rows(verdict: Verdict) -> list[tuple[str, ...]]:
    """Returns the worst line of each kind, all outages, and what is unknown."""
    nodes, jobs = worst(verdict.lines), worst(verdict.jobs)
    whole = Compared("all nodes", sum(one.shown for one in verdict.lines), sum(one.true for one in verdict.lines))
    money = Compared("all jobs", sum(one.shown for one in verdict.jobs), sum(one.true for one in verdict.jobs))
    job_bar = JOB_BAR if verdict.has_log else None
    rows = [
        _row(verdict, f"worst of {len(verdict.lines)} classes: {nodes.name}", nodes, NODE_BAR, "s"),
        _own_share(verdict),
        _row(verdict, whole.name, whole, NODE_BAR, "s"),
        _row(verdict, f"worst of {len(verdict.jobs)} jobs: {jobs.name}", jobs, job_bar, "USD"),
        _row(verdict, money.name, money, job_bar, "USD"),
    ]
    for one in verdict.outages:
        true = f"{one.least:,.1f} s" if one.is_exact else f"{one.least:,.1f} to {one.most:,.1f} s"
        name = f"outage {one.since:%H:%M} to {one.until:%H:%M}: unwatched in {one.pool}"
        mark = "ok" if one.is_right else "NOT OK"
        rows.append((verdict.name, name, f"{one.shown:,.1f} s", true, "", f"{one.slack:.0f} s of clocks", mark))
    bar, mark = (f"{UNKNOWN_BAR:.0%}", _mark(ok=verdict.unknown <= UNKNOWN_BAR)) if verdict.has_log else ("none", "")
    shown = f"{verdict.unwatched:,.0f} s, {verdict.unattributed:,.0f} s"
    unknown = ("unwatched beside outages, unattributed", shown, "0 s", f"{verdict.unknown:.3%}", bar, mark)
    return [*rows, (verdict.name, *unknown)]


def _row(verdict: Verdict, name: str, one: Compared, bar: float | None, unit: str) -> tuple[str, ...]:
    digits = 1 if unit == "s" else 4
    figures = (f"{one.shown:,.{digits}f} {unit}", f"{one.true:,.{digits}f} {unit}", f"{one.judged_share:.3%}")
    return (
        verdict.name,
        name,
        *figures,
        f"{bar:.1%}" if bar else "none",
        _mark(ok=one.judged_share <= bar) if bar else "",
    )


def _own_share(verdict: Verdict) -> tuple[str, ...]:
    """Returns the class that is farthest off by its own seconds, which isn't judged."""
    one = worst(verdict.lines, by=lambda each: each.share)
    name = f"farthest off by its own seconds: {one.name}"
    return (verdict.name, name, f"{one.shown:,.1f} s", f"{one.true:,.1f} s", f"{one.share:.1%}", "none", "")


def _mark(*, ok: bool) -> str:
    return "ok" if ok else "NOT OK"
