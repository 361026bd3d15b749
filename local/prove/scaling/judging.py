"""Compares the app's replay of each pool's own formula with the targets that the emulator recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SHARE_BAR = 0.95
"""The share of all evaluations whose targets the replay must give; samples near a start of a task may differ."""
LEAST = 15
"""The least evaluations to compare in each pool."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the app says of a pool: on its own formula, and how far its replay is from the hours of nodes seen."""

    pool: str
    evaluations: int
    equal: int
    mean_difference: float
    misfit: float
    faults: Sequence[str] = ()


def judged(pool: str, answer: Any) -> Verdict:
    """Returns the verdict on an answer about a pool's own formula. Raises KeyError where it lacks figures."""
    own, faults = answer["ownFormula"], []
    if own["evaluations"] < LEAST:
        faults.append(f"{pool}: only {own['evaluations']} evaluations were compared")
    if own["failed"]:
        faults.append(f"{pool}: {own['failed']} evaluations failed: {own['error']}")
    misfit = answer["asItWas"]["nodeSeconds"]["expected"] / answer["seen"]["nodeSeconds"] - 1
    return Verdict(pool, own["evaluations"], own["equal"], own["meanDifference"], misfit, faults)


def faults_of(verdicts: Sequence[Verdict], unknown: Any) -> list[str]:
    """Returns a sentence for each bar that doesn't hold; `unknown` answers a formula on samples that aren't stored."""
    found = [fault for verdict in verdicts for fault in verdict.faults]
    evaluations, equal = (sum(getattr(one, name) for one in verdicts) for name in ("evaluations", "equal"))
    if equal < SHARE_BAR * evaluations:
        found.append(f"only {equal} of {evaluations} recorded targets were reproduced")
    if unknown["asked"] is not None or "$CPUPercent" not in (unknown["reason"] or ""):
        found.append("the answer on samples that aren't stored doesn't say so")
    return found
