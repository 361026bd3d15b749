"""Pools with formulas of several kinds, and the tasks that their jobs get over time."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

MINUTES = 120
"""How long the pools are watched, in stepped time."""
INTERVAL = 5  # minutes between evaluations
_WAVES = 5  # of tasks, at seeded minutes

FORMULAS = {
    "pending": """
        startingNumberOfVMs = 1;
        maxNumberofVMs = 6;
        percent = $PendingTasks.GetSamplePercent(180 * TimeInterval_Second);
        pending = percent < 70 ? startingNumberOfVMs : avg($PendingTasks.GetSample(180 * TimeInterval_Second));
        $TargetDedicatedNodes = min(maxNumberofVMs, pending);
        $NodeDeallocationOption = taskcompletion;
    """,
    "trend": """
        samples = $PendingTasks.GetSample(TimeInterval_Minute * 2, TimeInterval_Minute * 14);
        high = len(samples) > 4 ? percentile(samples, 80) : 2;
        $TargetDedicatedNodes = max(1, min(8, round(high + std(1, 1))));
        $NodeDeallocationOption = taskcompletion;
    """,
    "time": """
        now = time();
        isBusy = now.minute < 20 || now.minute >= 45;
        $TargetDedicatedNodes = isBusy ? 3 : 1;
        $TargetLowPriorityNodes = now.hour - 2 * floor(now.hour / 2);
    """,
    "waiting": """
        waiting = max($ActiveTasks.GetSample(TimeInterval_Minute * 3));
        $TargetDedicatedNodes = min(5, ceil(waiting / 2) + 1);
        $NodeDeallocationOption = taskcompletion;
    """,
    "running": """
        running = $RunningTasks.GetSample(1);
        wanted = $PendingTasks.GetSample(1);
        $TargetDedicatedNodes = min(6, max(running, wanted) / $TaskSlotsPerNode + 0.5);
        $NodeDeallocationOption = taskcompletion;
    """,
    "grown": """
        nodes = max($CurrentDedicatedNodes.GetSample(TimeInterval_Minute * 4));
        isBusy = avg($PendingTasks.GetSample(TimeInterval_Minute * 4)) > nodes;
        $TargetDedicatedNodes = isBusy ? min(7, nodes + 2) : max(1, nodes - 1);
        $NodeDeallocationOption = taskcompletion;
    """,
}
"""By their names; those of the first examples follow Batch's documentation."""
UNKNOWN = "$TargetDedicatedNodes = avg($CPUPercent.GetSample(TimeInterval_Minute * 10)) > 0.7 ? 4 : 1;"
"""A formula on samples that nobody but Batch has."""


@dataclass(frozen=True, slots=True)
class Wave:
    """Tasks that a pool's job gets in a minute; each runs for some seconds."""

    minute: int
    tasks: int
    seconds: int


@dataclass(frozen=True, slots=True)
class ScaledPool:
    """A pool with a formula, and waves of tasks for its job; both have the same name."""

    name: str
    formula: str
    slots: int
    waves: Sequence[Wave]


def drawn_pools(seed: int) -> list[ScaledPool]:
    """Returns a pool for each formula."""
    found = list[ScaledPool]()
    for name, formula in FORMULAS.items():
        chance = random.Random(f"{seed}/scaling/{name}")
        minutes = sorted(chance.sample(range(4, MINUTES - 30), _WAVES))
        waves = [Wave(minute, chance.randint(3, 9), chance.randint(200, 700)) for minute in minutes]
        found.append(ScaledPool(name, formula, chance.choice((1, 1, 2)), waves))
    return found
