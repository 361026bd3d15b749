"""Seeded cases: a workload, the settings that it runs under, and the other ones that are asked about.

Where tasks use CPUs, they share the vCPUs of their node evenly, and the command line of each sleeps for as long as that
takes: of work of `busy` vCPUs as many seconds as without others, times how many more are wanted than there are.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

SIZES = {"standard_d2s_v5": 2, "standard_d4s_v5": 4, "standard_d8s_v5": 8}
"""VM sizes with their vCPUs."""
type Shape = Literal["even", "long tail", "two kinds"]
_SHAPES: tuple[Shape, ...] = ("even", "long tail", "two kinds")
_MEASURED, _SPOT, _NEW, _WIDE, _SHORT = 0.25, 0.3, 0.4, 0.4, 0.75  # shares of cases, and of tasks


@dataclass(frozen=True, slots=True)
class Setting:
    """Nodes of a pool; `is_new` ones are allocated when the job is created, others are ready before."""

    nodes: int
    slots: int
    vm_size: str
    spot: bool = False
    is_new: bool = False

    @property
    def query(self) -> str:
        spot = str(self.spot).lower()
        return f"nodes={self.nodes}&slots={self.slots}&vmSize={self.vm_size}&spot={spot}"

    def __str__(self) -> str:
        kind = "spot" if self.spot else "dedicated"
        return f"{self.nodes} {kind} nodes of {self.vm_size.removeprefix('standard_')}, {self.slots} slots"


@dataclass(frozen=True, slots=True)
class CaseTask:
    """A task of a stage, which `minute` of the job adds; `exit_code` is that of each run."""

    id: str
    seconds: float
    slots: int
    minute: int = 0
    exit_code: int = 0
    needs: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """Tasks that run under `before`, and would under `after`.

    `busy` vCPUs of each are None where unmeasured, `threads` where these are.
    """

    number: int
    shape: Shape
    tasks: Sequence[CaseTask]
    retries: int
    before: Setting
    after: Setting
    busy: float | None = None
    threads: int | None = None

    @property
    def is_decided(self) -> bool:
        """Whether no chance decides how it ends, and what is seen shows how long runs take.

        Whether one of a few spot nodes is preempted when the work runs again is chance. Whether runs that kept all of
        their vCPUs busy can use more isn't seen.
        """
        had, gets = (SIZES[setting.vm_size] / setting.slots for setting in (self.before, self.after))
        return not self.after.spot and ((self.busy or 0) < had or gets <= had)

    @property
    def uses_dependencies(self) -> bool:
        return any(task.needs for task in self.tasks)

    def stretch(self, setting: Setting) -> float:
        """Returns how many times as long runs take where they share a node's vCPUs."""
        return max((self.busy or 0) * setting.slots / SIZES[setting.vm_size], 1.0)

    @property
    def kind(self) -> str:
        """What the case asks for."""
        before, after = self.before, self.after
        found = [
            name
            for name, differs in (
                ("nodes", before.nodes != after.nodes),
                ("slots", before.slots != after.slots),
                ("size", before.vm_size != after.vm_size),
                ("priority", before.spot != after.spot),
            )
            if differs
        ]
        return ", ".join(found)


def drawn_cases(seed: int, number: int) -> list[Case]:
    return [_drawn(at, random.Random(f"{seed}/whatif/{at}")) for at in range(number)]


def _drawn(number: int, chance: random.Random) -> Case:
    is_measured = chance.random() < _MEASURED
    before = Setting(
        nodes=chance.randint(2, 6),
        slots=chance.choice((1, 1, 2) if is_measured else (1, 1, 2, 4)),
        vm_size=chance.choice(tuple(SIZES)),
        spot=not is_measured and chance.random() < _SPOT,
        is_new=chance.random() < _NEW,
    )
    after = before
    while after == before:
        after = _changed(before, chance, is_measured=is_measured)
    widest = 1 if is_measured else min(before.slots, after.slots)
    shape = chance.choice(_SHAPES)
    tasks = _tasks(chance, shape, before, 2 if widest > 1 and chance.random() < _WIDE else 1)
    busy = chance.choice((0.9, 1.0, 1.4)) if is_measured else None
    retries = chance.choice((0, 0, 1, 2))
    threads = chance.choice((None, ceil(busy), ceil(busy) + 1)) if busy else None
    return Case(number, shape, tasks, retries, before, after, busy, threads)


def _changed(before: Setting, chance: random.Random, *, is_measured: bool) -> Setting:
    """Returns a setting with one or two changes."""
    nodes, slots, size, spot = before.nodes, before.slots, before.vm_size, before.spot
    for change in chance.sample(("nodes", "slots", "size", "spot"), chance.choice((1, 1, 2))):
        if change == "nodes":
            nodes = chance.randint(2, 12)
        elif change == "slots":
            slots = chance.choice((2, 4, 8) if is_measured else (1, 2, 4))
        elif change == "size":
            size = chance.choice(tuple(SIZES))
        elif before.spot:
            spot = False
    return Setting(nodes, slots, size, spot, before.is_new)


def _tasks(chance: random.Random, shape: Shape, before: Setting, widest: int) -> list[CaseTask]:
    """Returns tasks that keep the slots of the first setting busy for some twenty minutes."""
    mean = chance.uniform(60, 240)
    number = max(round(before.nodes * before.slots * 1200 / mean), 20)
    batches = chance.choice((1, 1, 1, 3))
    share = chance.choice((0, 0, 0.1))  # that fails
    stages = chance.choice((1, 1, 1, 2, 3))
    found, last = list[CaseTask](), list[str]()
    for stage in range(stages):
        own = list[str]()
        for at in range(number // stages):
            name = f"{'abc'[stage]}-{at:04}"
            own.append(name)
            found.append(
                CaseTask(
                    id=name,
                    seconds=round(_seconds(chance, shape, mean), 1),
                    slots=chance.randint(1, widest),
                    minute=0 if stages > 1 else 4 * (at * batches // number),
                    exit_code=int(chance.random() < share and stages == 1),
                    needs=tuple(last),
                )
            )
        last = own
    return found


def _seconds(chance: random.Random, shape: Shape, mean: float) -> float:
    if shape == "even":
        return chance.uniform(0.7, 1.3) * mean
    if shape == "two kinds":
        return mean * (0.5 if chance.random() < _SHORT else 2.5)
    return min(chance.lognormvariate(0, 0.7) * mean * 0.8, 5 * mean)
