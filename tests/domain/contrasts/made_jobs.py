"""Made-up jobs: tasks on slots of nodes, with ids, waits, run times and use, and outcomes that a test decides.

Everything follows from the seed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from random import Random

from shared.domain.contrasts.attributes import NodeTraits, RunFigures
from shared.domain.contrasts.comparison import compare_tasks
from shared.domain.contrasts.contrast import TaskComparison
from shared.domain.core.keys import key_of
from shared.domain.tasks.tasks import COMPLETED, FAILURE, SUCCESS, Task

MINUTE, HOUR = 60_000, 3_600_000
GIB = 1 << 30
DAWN = 1_790_000_000_000 // HOUR * HOUR + 17 * MINUTE
SIZES = ("standard_d4s_v5", "standard_d8s_v5", "standard_e8s_v5")
IMAGES = ("ubuntu 22.04.202609", "ubuntu 22.04.202610")
AGENTS = ("1.12.3", "1.12.4")


class Draws(Random):
    """Numbers that follow from a seed alone."""


@dataclass(slots=True)
class MadeNode:
    pool: str
    id: str
    traits: NodeTraits

    @property
    def place(self) -> tuple[str, str]:
        return self.pool, self.id


@dataclass(slots=True)
class MadeTask:
    """A task before its outcome is decided; times in milliseconds."""

    number: int
    id: str
    parts: tuple[object, ...]
    creation: int
    start: int
    span: int
    node: MadeNode
    memory: int
    gpu: int
    gpu_memory: int
    retries: int = 0
    requeues: int = 0
    slots: int = 1
    measured: bool = True

    @property
    def wait(self) -> int:
        return self.start - self.creation


@dataclass(slots=True)
class Fleet:
    nodes: list[MadeNode]

    @classmethod
    def of(cls, dice: Draws, count: int, *, pools: int = 1, sizes: int = 3) -> "Fleet":
        nodes = []
        for number in range(count):
            pool = f"pool-{number % pools + 1}"
            traits = NodeTraits(
                vm_size=SIZES[dice.randrange(sizes)],
                dedicated=dice.random() < 0.6,
                image=dice.choice(IMAGES),
                agent=dice.choice(AGENTS),
            )
            nodes.append(MadeNode(pool, f"tvmps_{dice.getrandbits(64):016x}", traits))
        return cls(nodes)


type Naming = Callable[[Draws, int, int], tuple[str, tuple[object, ...]]]


def numbered(_dice: Draws, number: int, _count: int) -> tuple[str, tuple[object, ...]]:
    return f"task-{number:06d}", (number,)


def shots(_dice: Draws, number: int, count: int) -> tuple[str, tuple[object, ...]]:
    """A show's ids: scene, pass and frame; frames run within each scene and pass."""
    frames = max(count // 12, 1)
    scene, rest = number // (3 * frames) + 1, number % (3 * frames)
    which = ("beauty", "depth", "mask")[rest // frames]
    return f"sc{scene:02d}_{which}_f{rest % frames:04d}", (scene, which, rest % frames)


def samples(dice: Draws, number: int, _count: int) -> tuple[str, tuple[object, ...]]:
    """Ids of measurements: a region, one of many lanes, and a number."""
    region, lane = dice.choice(("eu", "us", "ap", "sa")), dice.randrange(40)
    return f"{region}-lane{lane:02d}-{number:05d}", (region, lane, number)


def random_ids(dice: Draws, number: int, _count: int) -> tuple[str, tuple[object, ...]]:
    text = f"{dice.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}", ()


@dataclass(slots=True)
class Workload:
    """How a job's tasks are made; `spread` is the time over which they are created, 0 for all at once."""

    count: int
    nodes: int = 20
    slots: int = 2
    pools: int = 1
    sizes: int = 3
    naming: Naming = samples
    spread: int = 8 * HOUR
    run: float = 4 * MINUTE
    autocorrelated: bool = False


def made_tasks(dice: Draws, work: Workload) -> tuple[list[MadeTask], Fleet]:
    """Returns the tasks of a workload as slots of nodes take them in order."""
    fleet = Fleet.of(dice, work.nodes, pools=work.pools, sizes=work.sizes)
    free = [(DAWN + dice.randrange(MINUTE), number) for number in range(work.nodes * work.slots)]
    heapify(free)
    found, drift = list[MadeTask](), 0.0
    for number in range(work.count):
        name, parts = work.naming(dice, number, work.count)
        drift = 0.97 * drift + dice.gauss(0, 0.15) if work.autocorrelated else 0.0
        span = round(work.run * dice.lognormvariate(drift, 0.5))
        creation = DAWN + (work.spread * number // work.count if work.spread else number // 100 * 300)
        at, slot = free[0]
        start = max(at, creation) + round(dice.expovariate(1 / 20_000))
        heapreplace(free, (start + span, slot))
        node = fleet.nodes[slot % work.nodes]
        memory = round(GIB * dice.lognormvariate(0.5 + drift, 0.6))
        found.append(
            MadeTask(
                number=number,
                id=name,
                parts=parts,
                creation=creation,
                start=start,
                span=span,
                node=node,
                memory=memory,
                gpu=round(1000 * dice.betavariate(4, 2)),
                gpu_memory=round(4 * GIB * dice.lognormvariate(0, 0.5)),
            )
        )
    return found, fleet


@dataclass(slots=True)
class MadeJob:
    """A finished job; any attribute of `expected` is right as the first; it is empty for none."""

    tasks: list[Task]
    nodes: dict[tuple[str, str], NodeTraits]
    figures: dict[str, RunFigures]
    expected: tuple[str, ...] = ()
    kind: str = ""

    def compared(self) -> TaskComparison:
        return compare_tasks(self.tasks, self.nodes, self.figures)


def finished(
    made: Sequence[MadeTask], fleet: Fleet, failed: Sequence[bool], expected: tuple[str, ...] = (), kind: str = ""
) -> MadeJob:
    tasks, figures = [], {}
    for one, has_failed in zip(made, failed, strict=True):
        end = one.start + one.span
        tasks.append(
            Task(
                id=one.id,
                state=COMPLETED,
                result=FAILURE if has_failed else SUCCESS,
                transition=end,
                creation=one.creation,
                start=one.start,
                end=end,
                exit_code=1 if has_failed else 0,
                failure=("UserError", "FailureExitCode") if has_failed else ("", ""),
                retries=one.retries,
                requeues=one.requeues,
                slots=one.slots,
                node=one.node.place,
            )
        )
        if one.measured:
            figures[key_of(one.id)] = RunFigures(one.memory, one.gpu, one.gpu_memory, one.node.traits.vm_size)
    tasks.sort(key=lambda task: key_of(task.id))
    return MadeJob(tasks, {node.place: node.traits for node in fleet.nodes}, figures, expected, kind)


def outcomes(
    dice: Draws, made: Sequence[MadeTask], base: float, causes: Sequence[tuple[Callable[[MadeTask], bool], float]] = ()
) -> list[bool]:
    """Returns which tasks fail: at the base rate, or at that of a cause that concerns them."""
    return [dice.random() < max([base, *(rate for concerns, rate in causes if concerns(task))]) for task in made]
