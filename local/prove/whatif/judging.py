"""Compares what the app expected of each case with the truth: end, cost, and whether the spread has them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from local.prove.whatif.cases import Case

ERROR_BAR = 0.10
"""The most by which an expected end or cost may differ from the truth, in all cases that what is seen decides."""
SHARE_BAR = 0.90
"""The share of all cases in which the error must be within its bar, and of those in which the spread has the truth."""
type Prices = Mapping[tuple[str, bool], Decimal]
_UNBILLED = frozenset(("preempted", "deallocated"))


class Compared(NamedTuple):
    """An expected figure with its spread, and the truth."""

    expected: float
    low: float
    high: float
    true: float

    @property
    def error(self) -> float:
        return self.expected / self.true - 1

    @property
    def is_inside(self) -> bool:
        return self.low <= self.true <= self.high

    @property
    def is_close(self) -> bool:
        return abs(self.error) <= ERROR_BAR


@dataclass(frozen=True, slots=True)
class Verdict:
    """A case, and what the app expected; the `misfit` is that of its replay of the job as it was."""

    case: Case
    seconds: Compared
    cost: Compared
    misfit: float
    faults: Sequence[str] = ()


def judged(case: Case, answer: Any, seconds: float, cost: Decimal) -> Verdict:
    """Returns the verdict on an answer of the app, given the truth. Raises KeyError where it lacks figures."""
    asked = answer["asked"]
    faults = []
    if answer["tasks"] != len(case.tasks):
        faults.append(f"case {case.number}: {answer['tasks']} tasks instead of {len(case.tasks)} were replayed")
    if case.busy and answer["measuredRuns"] < len(case.tasks):
        faults.append(f"case {case.number}: only {answer['measuredRuns']} runs were measured")
    misfit = answer["asItWas"]["seconds"]["expected"] / answer["seconds"] - 1
    compared = _compared(asked["seconds"], seconds), _compared(asked["cost"], float(cost))
    return Verdict(case, *compared, misfit, faults)


def faults_of(verdicts: Sequence[Verdict]) -> list[str]:
    """Returns a sentence for each bar that doesn't hold."""
    found = [fault for verdict in verdicts for fault in verdict.faults]
    for name, all_of in figures_of(verdicts).items():
        far = [case for case, one in all_of if not one.is_close]
        if len(all_of) - len(far) < SHARE_BAR * len(all_of) or any(case.is_decided for case in far):
            numbers = ", ".join(str(case.number) for case in far)
            found.append(f"{name}: more than {ERROR_BAR:.0%} off in cases {numbers}")
        if inside_share(one for _, one in all_of) < SHARE_BAR:
            outside = ", ".join(str(case.number) for case, one in all_of if not one.is_inside)
            found.append(f"{name}: outside of the spread in cases {outside}")
    return found


def figures_of(verdicts: Sequence[Verdict]) -> Mapping[str, Sequence[tuple[Case, Compared]]]:
    """Returns both figures of all cases by name."""
    return {
        "end": [(verdict.case, verdict.seconds) for verdict in verdicts],
        "cost": [(verdict.case, verdict.cost) for verdict in verdicts],
    }


def inside_share(figures: Iterable[Compared]) -> float:
    inside = [one.is_inside for one in figures]
    return sum(inside) / len(inside)


def true_cost(rows: Iterable[Any], pool: str, prices: Prices) -> Decimal:
    """Returns what the nodes of a pool cost in a window, given the rows of the emulator's ledger."""
    return sum(
        (
            prices[row["vmSize"].lower(), not row["dedicated"]] * Decimal(str(row["seconds"])) / 3600
            for row in rows
            if row["pool"] == pool and row["state"] not in _UNBILLED
        ),
        Decimal(0),
    )


def _compared(spread: Any, true: float) -> Compared:
    return Compared(spread["expected"], spread["low"], spread["high"], true)
