"""Made-up jobs with a planted waste, and sound ones, each from a seed; other ones than the rules' own tests.

A wasteful job wastes what its kind says and nothing else. Sound jobs come close to thresholds, where a good rule is
silent.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.findings import efficiency_findings
from shared.domain.efficiency.job_context import (
    BatchRuns,
    JobContext,
    Kills,
    NodeFigures,
    NodeKindUse,
    StartUpTime,
    TaskLimit,
    TimeLimit,
)
from shared.domain.efficiency.offers import GIB, node_offer
from shared.domain.pools.vm_sizes import vcpus_of
from tests.domain.efficiency.measured_jobs import HOUR, evidence, run
from tests.profiles import share_of

SEEDS = share_of(range(10), 3)
_GENERAL = ("standard_d8s_v5", "standard_d16ds_v5", "standard_d8ads_v5", "standard_d4s_v3", "standard_f8s_v2")
_LARGE = ("standard_e8s_v5", "standard_e16ds_v5", "standard_e4s_v5")
_GPU = ("standard_nc8as_t4_v3", "standard_nc48ads_a100_v4", "standard_nc40ads_h100_v5")
type Span = tuple[float, float]
_BUSY: Span = (0.7, 0.97)
_FILLED: Span = (0.55, 0.85)


class Dice:
    """Numbers that follow from a seed alone."""

    def __init__(self, seed: str) -> None:
        self._seed, self._number = seed, 0

    def uniform(self, low: float, high: float) -> float:
        self._number += 1
        digest = blake2b(f"{self._seed} {self._number}".encode(), digest_size=4).digest()
        return low + (high - low) * int.from_bytes(digest) / (1 << 32)

    def choice[T](self, some: Sequence[T]) -> T:
        return some[int(self.uniform(0, len(some)))]


@dataclass(frozen=True, slots=True)
class Shape:
    """What runs use: cores, memory and GPUs as spans of shares of what a slot offers; MiB of disks a second; hours."""

    cores: Span = _BUSY
    memory: Span = _FILLED
    gpus: Span | None = None
    disk: Span = (0, 30)
    hours: Span = (0.2, 2.0)


type Plant = Callable[[Dice], EfficiencyEvidence]


def made(
    dice: Dice, size: str, slots: int, shape: Shape | None = None, *, context: JobContext | None = None
) -> EfficiencyEvidence:
    """Returns a job of 30 to 300 runs."""
    node, shape = node_offer(size, vcpus_of(size)), shape or Shape()
    assert node.room
    runs = [
        run(
            number,
            cores=dice.uniform(*shape.cores) * node.room.cores / slots,
            memory=dice.uniform(*shape.memory) * node.room.memory / GIB / slots,
            gpus=dice.uniform(*shape.gpus) * node.gpus / slots if shape.gpus else None,
            gpu_memory=1.0 if shape.gpus else None,
            disk=dice.uniform(*shape.disk),
            hours=dice.uniform(*shape.hours),
        )
        for number in range(int(dice.uniform(30, 300)))
    ]
    return evidence(runs, size=size, slots=slots, tasks=len(runs), context=context)


def _share_of_cores(size: str, low: float, high: float) -> Span:
    """Returns busy cores of a whole node as shares."""
    cores = vcpus_of(size) or 1
    return low / cores, high / cores


def sound(dice: Dice) -> EfficiencyEvidence:
    return made(dice, dice.choice((*_GENERAL, *_LARGE)), dice.choice((1, 2, 4)))


def sound_with_gpus(dice: Dice) -> EfficiencyEvidence:
    return made(dice, dice.choice(_GPU), 1, Shape((0.7, 0.95), (0.5, 0.85), gpus=(0.4, 0.95)))


def sound_with_gpus_alone(dice: Dice) -> EfficiencyEvidence:
    """GPUs are busy, cores and memory of the host hardly: no other size has such GPUs and fewer cores."""
    size = dice.choice(("standard_nc24ads_a100_v4", "standard_nc4as_t4_v3", "standard_nc40ads_h100_v5"))
    return made(dice, size, 1, Shape((0.03, 0.2), (0.05, 0.3), gpus=(0.4, 0.95)))


def sound_for_its_memory(dice: Dice) -> EfficiencyEvidence:
    return made(dice, "standard_e2s_v5", 1, Shape((0.3, 0.5), (0.6, 0.85)))


def sound_with_many_slots(dice: Dice) -> EfficiencyEvidence:
    """Twice as many slots as cores, for tasks that wait half of their time."""
    size = dice.choice(_GENERAL)
    return made(dice, size, 2 * (vcpus_of(size) or 1), Shape((0.65, 0.92), (0.5, 0.8)))


def sound_between_sizes(dice: Dice) -> EfficiencyEvidence:
    """The next smaller size would do, but saves a fifth at most."""
    size = dice.choice(("standard_e20s_v5", "standard_e20ads_v5", "standard_e104is_v5"))
    return made(dice, size, 1, Shape((0.62, 0.7), (0.45, 0.6)))


def sound_with_limit(dice: Dice) -> EfficiencyEvidence:
    """A time limit of some times what the job took, or of a short job an hour."""
    took = timedelta(hours=dice.uniform(0.05, 30))
    limit = max(took * dice.uniform(1.5, 9), timedelta(hours=1))
    return made(dice, dice.choice(_GENERAL), 2, context=JobContext(time_limit=TimeLimit(limit, took)))


def sound_on_new_nodes(dice: Dice) -> EfficiencyEvidence:
    """Nodes start for the job, and run it for longer than that; its tasks are short."""
    found = made(dice, dice.choice(_GENERAL), 4, Shape(hours=(0.01, 0.05)))
    return _with_start_ups(found, dice.uniform(0.1, 0.8))


def sound_on_spot_nodes(dice: Dice) -> EfficiencyEvidence:
    """Some work is lost, or the job gives no evidence about the other kind of nodes."""
    held = int(dice.uniform(2, 500) * HOUR)
    lost = NodeKindUse(held, int(held * dice.uniform(0.02, 0.25)), Decimal(10), Decimal(50))
    alone = NodeKindUse(held, 0, Decimal(50), Decimal(10))
    context = dice.choice((JobContext(spot=lost), JobContext(dedicated=alone), JobContext(dedicated=alone)))
    return made(dice, dice.choice(_GENERAL), 2, context=context)


def sound_on_healthy_nodes(dice: Dice) -> EfficiencyEvidence:
    """Much traffic beside busy cores, and a little stolen time."""
    nodes = NodeFigures(8, dice.uniform(0, 0.03), dice.uniform(0, 0.03), dice.uniform(0, 300) * (1 << 20))
    return made(dice, dice.choice(_GENERAL), 2, context=JobContext(nodes=nodes))


def sound_of_unknown_size(dice: Dice) -> EfficiencyEvidence:
    """Nothing is known of what its slots offer."""
    found = made(dice, "standard_d8s_v5", 1, Shape((0.05, 0.1), (0.05, 0.1)))
    unknown = node_offer("standard_x8_v9", 8)
    return replace(found, offer=replace(found.offer, node=unknown), group=found.group)


def sound_with_reported_memory(dice: Dice) -> EfficiencyEvidence:
    """Nodes of an unknown size with reported memory, whose cores are idle: whether it has GPUs isn't known."""
    found = made(dice, "standard_d8s_v5", dice.choice((1, 2)), Shape((0.05, 0.3), (0.05, 0.8)))
    node = node_offer("standard_nc8as_t9_v9", 8).with_memory(32.0 * GIB)
    return replace(found, offer=replace(found.offer, node=node))


def sound_on_a_second_size(dice: Dice) -> EfficiencyEvidence:
    """Runs on a size with fewer of the job's runs, whose waste its kills or its nodes' figures explain otherwise."""
    gpus = dice.choice((True, False))
    if gpus:
        found = made(dice, dice.choice(_GPU), 1, Shape((0.3, 0.9), (0.3, 0.8)))
        context = JobContext(nodes=NodeFigures(4, stolen=0.2))
    else:
        found = made(dice, dice.choice(_GENERAL), 1, Shape((0.05, 0.3), (0.05, 0.3)))
        context = JobContext(kills=Kills(int(dice.uniform(1, 9))), nodes=NodeFigures(4, stolen=0.2))
    return replace(found, context=context, is_main_size=False)


def single_threaded(dice: Dice) -> EfficiencyEvidence:
    size = dice.choice(_GENERAL)
    return made(dice, size, dice.choice((1, 2)), Shape(_share_of_cores(size, 0.5, 1.0), (0.02, 0.3)))


def much_memory(dice: Dice) -> EfficiencyEvidence:
    return made(dice, dice.choice(_LARGE), dice.choice((1, 2)), Shape(_BUSY, (0.05, 0.3)))


def little_memory(dice: Dice) -> EfficiencyEvidence:
    return made(dice, dice.choice(_GENERAL), dice.choice((1, 4)), Shape(_BUSY, (0.93, 0.99)))


def killed(dice: Dice) -> EfficiencyEvidence:
    """Most runs use little memory, but some were killed: fewer tasks a node, not more."""
    context = JobContext(kills=Kills(int(dice.uniform(1, 9)), dice.choice((True, False))))
    return made(dice, dice.choice(_GENERAL), 2, Shape(_BUSY, (0.1, 0.7)), context=context)


def unused_gpus(dice: Dice) -> EfficiencyEvidence:
    gpus = dice.choice((None, (0.0, 0.04)))
    return made(dice, dice.choice(_GPU), 1, Shape((0.3, 0.9), (0.2, 0.8), gpus=gpus))


def waiting(dice: Dice) -> EfficiencyEvidence:
    size = dice.choice(_GENERAL)
    return made(dice, size, 1, Shape(_share_of_cores(size, 0.05, 0.25), (0.05, 0.8), disk=(60, 400)))


def downloading(dice: Dice) -> EfficiencyEvidence:
    size = dice.choice(_GENERAL)
    nodes = NodeFigures(4, 0.0, None, dice.uniform(60, 900) * (1 << 20))
    shape = Shape(_share_of_cores(size, 0.05, 0.25), (0.05, 0.8))
    return made(dice, size, 1, shape, context=JobContext(nodes=nodes))


def few_slots(dice: Dice) -> EfficiencyEvidence:
    """A slot offers one core; cores and memory are used by half, so neither of them is far above need."""
    size = dice.choice(("standard_d8s_v5", "standard_d16ds_v5", "standard_d8ads_v5", "standard_d16s_v3"))
    return made(dice, size, vcpus_of(size) or 1, Shape((0.4, 0.5), (0.42, 0.5)))


def many_slots(dice: Dice) -> EfficiencyEvidence:
    size = dice.choice(_GENERAL)
    slots = dice.choice((2, 3, 4)) * (vcpus_of(size) or 1)
    return made(dice, size, slots, Shape((0.94, 0.99), (0.5, 0.85)))


def greedy(dice: Dice) -> EfficiencyEvidence:
    """Each task can use most of the node, whose slots are hardly ever all taken."""
    size = dice.choice(("standard_d8s_v5", "standard_d16ds_v5", "standard_d8ads_v5"))
    return made(dice, size, 4, Shape((2.0, 3.4), (0.5, 0.85)))


def large_size(dice: Dice) -> EfficiencyEvidence:
    """One task a node, which half of the cores and of the memory suffice for; two tasks don't fit."""
    return made(dice, dice.choice(("standard_d8s_v5", "standard_d16ads_v5")), 1, Shape((0.3, 0.42), (0.42, 0.75)))


def sound_with_task_limit(dice: Dice) -> EfficiencyEvidence:
    """A limit of tasks, or the job's own, that ends a task that hangs in time; or none at all."""
    found = made(dice, dice.choice(_GENERAL), 2)
    longest = timedelta(milliseconds=found.group.figures["duration"].highest.value)
    short, long = longest * dice.uniform(1.2, 9), longest * dice.uniform(20, 300) + timedelta(hours=2)
    limits = ((short, None), (short, long), (long, short), (None, short), (None, None))
    task = TaskLimit(("a", "b"), *dice.choice(limits))
    job = TimeLimit(long * 20, long / 2) if task.limit == short else None
    return replace(found, context=JobContext(time_limit=job, task_limit=task, runs=BatchRuns(are_over=True)))


def sound_with_tasks_left(dice: Dice) -> EfficiencyEvidence:
    """A limit far above the first runs that ended, and none above those that go on or weren't measured."""
    found = made(dice, dice.choice(_GENERAL), 2, Shape(hours=(0.01, 0.05)))
    hours = timedelta(hours=dice.uniform(6, 48))
    runs = dice.choice(
        (BatchRuns(are_over=False), BatchRuns(False, hours / 200, hours / 190), BatchRuns(True, hours / 3, hours / 2.7))
    )
    context = JobContext(task_limit=TaskLimit(("a",), hours), runs=runs)
    return replace(found, tasks=4 * found.group.runs, context=context)


def much_time_of_tasks(dice: Dice) -> EfficiencyEvidence:
    """Tasks that may run for many times as long as the longest did, in a job whose own limit suits it, or without."""
    found = made(dice, dice.choice(_GENERAL), 2)
    longest = timedelta(milliseconds=found.group.figures["duration"].highest.value)
    limit, took = (
        longest * dice.uniform(12, 200) + timedelta(hours=1),
        longest * dice.uniform(20, 40) + timedelta(hours=1),
    )
    job = dice.choice((None, took * 3))
    of_job = TimeLimit(job, took) if job else None
    of_tasks = TaskLimit(("a", "b"), limit, job)
    context = JobContext(time_limit=of_job, task_limit=of_tasks, runs=BatchRuns(are_over=True))
    return replace(found, context=context)


def much_time(dice: Dice) -> EfficiencyEvidence:
    took = timedelta(hours=dice.uniform(0.2, 10))
    limit = took * dice.uniform(12, 200) + timedelta(hours=1)
    return made(dice, dice.choice(_GENERAL), 2, context=JobContext(time_limit=TimeLimit(limit, took)))


def slow_start(dice: Dice) -> EfficiencyEvidence:
    found = made(dice, dice.choice(_GENERAL), 4, Shape(hours=(0.01, 0.05)))
    return _with_start_ups(found, dice.uniform(1.3, 9))


def preempted(dice: Dice) -> EfficiencyEvidence:
    held = int(dice.uniform(10, 500) * HOUR)
    spot = NodeKindUse(held, int(held * dice.uniform(0.35, 0.8)), Decimal(30), Decimal(40))
    return made(dice, dice.choice(_GENERAL), 2, context=JobContext(spot=spot))


def dedicated(dice: Dice) -> EfficiencyEvidence:
    held = int(dice.uniform(10, 500) * HOUR)
    spot = NodeKindUse(held // 4, int(held * dice.uniform(0, 0.02)), Decimal(5), Decimal(20))
    own = NodeKindUse(held, 0, Decimal(80), Decimal(20))
    return made(dice, dice.choice(_GENERAL), 2, context=JobContext(spot=spot, dedicated=own))


def stolen(dice: Dice) -> EfficiencyEvidence:
    steal, throttle = dice.choice(((0.08, None), (0.3, 0.0), (0.0, 0.12), (None, 0.4)))
    nodes = NodeFigures(int(dice.uniform(1, 50)), steal, throttle, None)
    return made(dice, dice.choice(_GENERAL), 2, context=JobContext(nodes=nodes))


def _with_start_ups(found: EfficiencyEvidence, ratio: float) -> EfficiencyEvidence:
    """Returns the job with start-ups that took some times as long as its work."""
    held = max(round(found.group.figures["duration"].values.sum / found.offer.tasks), 2 * HOUR)
    return replace(found, context=JobContext(start_ups=StartUpTime(round(held * ratio), held)))


PLANTS: Mapping[Plant, str | None] = {
    sound: None,
    sound_with_gpus: None,
    sound_with_gpus_alone: None,
    sound_for_its_memory: None,
    sound_with_many_slots: None,
    sound_between_sizes: None,
    sound_with_limit: None,
    sound_with_task_limit: None,
    sound_with_tasks_left: None,
    sound_on_new_nodes: None,
    sound_on_spot_nodes: None,
    sound_on_healthy_nodes: None,
    sound_of_unknown_size: None,
    sound_with_reported_memory: None,
    sound_on_a_second_size: None,
    single_threaded: "oneBusyCore",
    much_memory: "memoryAboveNeed",
    little_memory: "memoryNearLimit",
    killed: "memoryNearLimit",
    unused_gpus: "idleGpus",
    waiting: "waitsForDisk",
    downloading: "waitsForNetwork",
    few_slots: "slotsTooFew",
    many_slots: "slotsTooMany",
    greedy: "slotsTooMany",
    large_size: "otherSize",
    much_time: "timeLimitTooLong",
    much_time_of_tasks: "taskTimeLimitTooLong",
    slow_start: "startUpExceedsWork",
    preempted: "spotLosesWork",
    dedicated: "spotSuffices",
    stolen: "stolenTime",
}
"""Kinds of jobs, with the rule that must come first; None where nothing may be said."""


class Judged(NamedTuple):
    """A job's kind, the rule that must come first, and all rules that named it in their order."""

    kind: str
    planted: str | None
    named: Sequence[str]


@cache
def judged(plant: Plant, seed: int) -> Judged:
    """Returns what was planted in a job, and what the rules named."""
    found = efficiency_findings(plant(Dice(f"{plant.__name__} {seed}")))
    return Judged(plant.__name__, PLANTS[plant], [one.rule for one in found])


class RuleScore(NamedTuple):
    """A rule over all jobs: those with its waste, those where it came first, and others that it named."""

    rule: str
    planted: int
    first: int
    wrong: int

    @property
    def recall(self) -> float:
        return self.first / self.planted if self.planted else 1.0

    @property
    def precision(self) -> float:
        named = self.first + self.wrong
        return self.first / named if named else 1.0


def scores(jobs: Sequence[Judged]) -> list[RuleScore]:
    """Returns how each rule did, by its name; a rule that named a job without its waste did so wrongly."""
    planted = Counter(one.planted for one in jobs if one.planted)
    counts = defaultdict[str, Counter[str]](Counter)
    for one in jobs:
        for place, rule in enumerate(one.named):
            counts[rule]["first" if rule == one.planted and not place else "wrong"] += 1
    return [
        RuleScore(rule, planted[rule], counts[rule]["first"], counts[rule]["wrong"])
        for rule in sorted({*planted, *counts})
    ]


def table(jobs: Sequence[Judged]) -> Iterator[str]:
    """Yields the lines of a table with precision and recall of each rule."""
    yield "| rule | jobs with it | named first | others named | precision | recall |"
    yield "|---|---:|---:|---:|---:|---:|"
    for one in scores(jobs):
        yield (f"| {one.rule} | {one.planted} | {one.first} | {one.wrong} | {one.precision:.2f} | {one.recall:.2f} |")
    silent = [one for one in jobs if one.planted is None]
    named = sum(bool(one.named) for one in silent)
    yield f"| (sound jobs) | {len(silent)} | | {named} | | |"
