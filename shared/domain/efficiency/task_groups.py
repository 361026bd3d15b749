"""Groups of a job's measured runs by prefix of the task's id and VM size, with the distribution of each figure.

Where a job has many prefixes they are dropped, and groups are VM sizes alone.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from shared.domain.efficiency.distributions import Distribution, Measured
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt

MAX_PREFIXES = 12
"""The most prefixes of task ids that make groups."""
type Figure = Literal["duration", "cores", "memory", "diskRate", "threads", "gpus", "gpuMemory"]
"""Milliseconds; mean busy cores in thousandths; peak bytes; mean bytes a second; most threads; mean GPUs in
thousandths; peak bytes of GPU memory."""
FIGURES: tuple[Figure, ...] = get_args(Figure.__value__)
_UP_TO_DIGIT = re.compile(r"\D*")
_SECOND = 1000
_MAX_RATE = 1 << 53
"""The sum of a thousand such rates, those of a blob, still has 64 bits."""


class GroupKey(NamedTuple):
    """A group's prefix of task ids, None for any, and its VM size in lower case, empty where it isn't known."""

    prefix: str | None
    vm_size: str


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """The number of runs of a group, and its distributions; each is of the runs whose figure is known."""

    runs: int
    figures: Mapping[Figure, Distribution] = field(default_factory=dict)

    @classmethod
    def of(cls, attempts: Iterable[MeasuredAttempt]) -> "TaskGroup":
        """Returns the group of some runs."""
        found, runs = defaultdict[Figure, list[Measured]](list), 0
        for attempt in attempts:
            runs += 1
            for figure, value in _figures(attempt).items():
                if value is not None:
                    found[figure].append(Measured(value, attempt.task, attempt.duration))
        return cls(runs, {figure: Distribution.of(values) for figure, values in found.items()})

    @classmethod
    def summed(cls, many: "Iterable[TaskGroup]") -> "TaskGroup":
        some = list(many)
        found = defaultdict[Figure, list[Distribution]](list)
        for group in some:
            for figure, values in group.figures.items():
                found[figure].append(values)
        return cls(
            sum(group.runs for group in some), {figure: Distribution.summed(each) for figure, each in found.items()}
        )


type TaskGroups = Mapping[GroupKey, TaskGroup]


def groups_of(attempts: Iterable[MeasuredAttempt]) -> dict[GroupKey, TaskGroup]:
    """Returns the groups of some runs of a job."""
    by_key = defaultdict[GroupKey, list[MeasuredAttempt]](list)
    for attempt in attempts:
        by_key[GroupKey(prefix_of(attempt.task), attempt.vm_size)].append(attempt)
    if _are_many(by_key):
        by_key = _without_prefixes(by_key)
    return {key: TaskGroup.of(some) for key, some in by_key.items()}


def summed_groups(many: Iterable[TaskGroups]) -> dict[GroupKey, TaskGroup]:
    """Returns the groups of all runs of several sets of groups."""
    by_key = defaultdict[GroupKey, list[TaskGroup]](list)
    for groups in many:
        for key, group in groups.items():
            by_key[key].append(group)
    if _are_many(by_key):
        by_key = _without_prefixes(by_key)
    return {key: TaskGroup.summed(some) for key, some in by_key.items()}


def by_vm_size(groups: TaskGroups) -> dict[str, TaskGroup]:
    """Returns the groups of each VM size as one, by size."""
    return {key.vm_size: TaskGroup.summed(some) for key, some in _without_prefixes(_lists(groups)).items()}


def prefix_of(task: str) -> str:
    """Returns a task's id up to its first digit: `frame-0001` has `frame-`."""
    found = _UP_TO_DIGIT.match(task)
    return found[0] if found else ""


def plain_groups(groups: TaskGroups) -> list[Any]:
    """Returns lists, numbers and texts, for storage; equal groups have equal ones."""
    ordered = sorted(groups.items(), key=lambda one: (one[0].vm_size, one[0].prefix or "", one[0].prefix is None))
    return [[*key, group.runs, _plain_figures(group)] for key, group in ordered]


def groups_of_plain(stored: list[Any]) -> dict[GroupKey, TaskGroup]:
    """Returns the inverse of `plain_groups`, without unknown figures. Raises ValueError, TypeError, LookupError."""
    found = {}
    for prefix, size, runs, figures in stored:
        known = {figure: Distribution.of_plain(figures[figure]) for figure in FIGURES if figure in figures}
        found[GroupKey(prefix, size)] = TaskGroup(runs, known)
    return found


def _plain_figures(group: TaskGroup) -> dict[str, list[Any]]:
    return {figure: group.figures[figure].plain() for figure in FIGURES if figure in group.figures}


def _figures(attempt: MeasuredAttempt) -> dict[Figure, int | None]:
    """Returns a run's figures; rates are those of runs with a duration."""
    return {
        "duration": attempt.duration,
        "cores": _rate(attempt.cpu_time, attempt.duration),
        "memory": attempt.memory_peak,
        "diskRate": _rate(attempt.disk_bytes, attempt.duration),
        "threads": attempt.threads,
        "gpus": attempt.gpus,
        "gpuMemory": attempt.gpu_memory_peak,
    }


def _rate(total: int | None, duration: int) -> int | None:
    """Returns an amount a second; None without a duration, and where a record claims more than can be added up."""
    rate = None if total is None or not duration else round(total * _SECOND / duration)
    return None if rate is None or rate > _MAX_RATE else rate


def _are_many(keys: Iterable[GroupKey]) -> bool:
    prefixes = {key.prefix for key in keys}
    return len(prefixes) > MAX_PREFIXES or (None in prefixes and len(prefixes) > 1)


def _lists(groups: TaskGroups) -> dict[GroupKey, list[TaskGroup]]:
    return {key: [group] for key, group in groups.items()}


def _without_prefixes[T](by_key: Mapping[GroupKey, list[T]]) -> defaultdict[GroupKey, list[T]]:
    found = defaultdict[GroupKey, list[T]](list)
    for key, some in by_key.items():
        found[GroupKey(None, key.vm_size)] += some
    return found
