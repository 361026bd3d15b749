"""Compares what an app shows of the day with the emulator's ledger."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from local.prove.cost.outages import Unseen
from local.prove.cost.shown import UNATTRIBUTED, UNWATCHED, Shown
from local.prove.cost.truth import Line, Truth, hours_of

NODE_BAR, UNKNOWN_BAR, JOB_BAR = 0.005, 0.01, 0.01
MATERIAL = 0.01
"""A class with less than this share of its pool's seconds is judged by its share of these, not by its own."""


class Compared(NamedTuple):
    """Two figures of one thing; `whole` is the figure of what it is a part of, `unsure` what nothing can show of it."""

    name: str
    shown: float
    true: float
    whole: float = 0.0
    unsure: float = 0.0

    @property
    def difference(self) -> float:
        return abs(self.shown - self.true)

    @property
    def share(self) -> float:
        """The difference as a share of the truth."""
        return self.difference / self.true if self.true else float(self.difference > 0)

    @property
    def judged_share(self) -> float:
        """The share that is judged: that of the whole for an immaterial part, without what nothing can show."""
        known = max(self.difference - self.unsure, 0.0)
        return self.share and known / (self.true if self.true >= MATERIAL * self.whole else self.whole)


@dataclass(frozen=True, slots=True)
class Verdict:
    """An app's day against the truth. `lines` are those of hours without an outage; jobs are judged with the log only.

    `unwatched` are seconds outside outages.
    """

    name: str
    has_log: bool
    lines: Sequence[Compared]
    jobs: Sequence[Compared]
    outages: Sequence[Unseen]
    unwatched: float
    unattributed: float
    billed: float
    faults: list[str] = field(default_factory=list)

    @property
    def unknown(self) -> float:
        """The share of billed time that is unwatched outside outages, or unattributed."""
        return (self.unwatched + self.unattributed) / self.billed if self.billed else 1.0


def judged(name: str, shown: Shown, truth: Truth, outages: Sequence[Unseen], *, has_log: bool) -> Verdict:
    """Returns the comparison of a day, with what breaks a bar as `faults`."""
    dark = {hour for one in outages for hour in hours_of(one.since, one.until)}
    lit = [hour for hour in truth.nodes if hour not in dark]
    pools = sorted({line.pool for hour in truth.nodes.values() for line in hour})
    verdict = Verdict(
        name,
        has_log,
        _lines(_sums(shown.nodes, lit), _sums(truth.nodes, lit), _unsure(truth, has_log=has_log)),
        [
            Compared(job, float(shown.jobs.get(job, 0)), float(money), unsure=float(truth.unlogged.get(job, 0)))
            for job, money in sorted(truth.jobs.items())
        ],
        outages,
        sum(shown.unwatched(pool, truth.nodes) for pool in pools) - sum(min(one.shown, one.most) for one in outages),
        shown.in_class(UNATTRIBUTED),
        shown.billed,
    )
    verdict.faults.extend(_faults(verdict, shown, truth))
    return verdict


def worst(compared: Sequence[Compared], by: Callable[[Compared], float] = lambda one: one.judged_share) -> Compared:
    return max(compared, key=by, default=Compared("none", 0.0, 0.0))


def _sums(nodes: Mapping[datetime, Counter[Line]], hours: Sequence[datetime]) -> Counter[Line]:
    found = Counter[Line]()
    for hour in hours:
        found.update(nodes.get(hour, {}))
    return found


def _unsure(truth: Truth, *, has_log: bool) -> Counter[Line]:
    """Returns the seconds of each line that nothing can show."""
    found = Counter(truth.skewed)
    if not has_log:
        found.update(truth.undated)
    return found


def _lines(shown: Counter[Line], true: Counter[Line], unsure: Mapping[Line, float]) -> list[Compared]:
    """Returns the lines of all classes but unwatched time, which no truth has; `unsure` is what nothing can show."""
    whole = Counter[tuple[str, str]]()
    for line, seconds in true.items():
        whole[line[:2]] += seconds
    lines = sorted(line for line in shown.keys() | true.keys() if line.billing_class != UNWATCHED)
    return [
        Compared(", ".join(line), shown[line], true[line], whole[line[:2]], unsure.get(line, 0.0)) for line in lines
    ]


def _faults(found: Verdict, shown: Shown, truth: Truth) -> list[str]:
    faults = [
        f"{found.name}: {one.name}: {one.shown:,.1f} s, in truth {one.true:,.1f} s"
        f" ({one.share:.2%} of its own, {one.difference / one.whole:.2%} of the pool's)"
        for one in found.lines
        if one.judged_share > NODE_BAR
    ]
    faults += [
        f"{found.name}: outage at {one.since:%H:%M}, {one.pool}: {one.shown:,.1f} s unwatched,"
        f" in truth {one.least:,.1f} to {one.most:,.1f} s"
        for one in found.outages
        if not one.is_right
    ]
    if extra := sorted(shown.jobs.keys() - truth.jobs.keys()):
        faults.append(f"{found.name}: jobs that never ran have costs: {', '.join(extra)}")
    if not found.has_log:
        return faults
    if found.unknown > UNKNOWN_BAR:
        faults.append(
            f"{found.name}: {found.unwatched:,.0f} s unwatched beside outages and {found.unattributed:,.0f} s"
            f" unattributed are {found.unknown:.2%} of billed time"
        )
    return faults + [
        f"{found.name}: {one.name} cost {one.shown:.4f}, in truth {one.true:.4f} ({one.share:.2%})"
        for one in found.jobs
        if one.judged_share > JOB_BAR
    ]
