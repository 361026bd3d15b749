"""The attributes by which failed tasks are compared with succeeded ones, as columns over the compared tasks.

Attributes of a task's outcome (exit code, failure, time of its end) are none: they would only repeat that it failed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from shared.domain.contrasts.id_parts import part_columns
from shared.domain.contrasts.setting_eras import PoolChange, era_columns
from shared.domain.core.keys import key_of, keys_of
from shared.domain.tasks.tasks import Task

type AttributeKind = Literal["nominal", "rising", "interval"]
"""Groups are single values; values from a bound on; or values between two bounds."""
type AttributeScale = Literal["machine", "time", "use", "history", "id"]
SETTING_CHANGE = "settingChange"
HOUR, _DAY = 3_600_000, 86_400_000
_LONG = 36 * HOUR
_MIN_PER_VALUE = 4


class NodeTraits(NamedTuple):
    """What is known of a node beside its id; empty and None where it isn't known."""

    vm_size: str = ""
    dedicated: bool | None = None
    image: str = ""
    agent: str = ""


class RunFigures(NamedTuple):
    """What a task's latest run used, where it was measured: bytes, and thousandths of a GPU."""

    memory_peak: int | None = None
    gpus: int | None = None
    gpu_memory_peak: int | None = None
    vm_size: str = ""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property of all compared tasks, None where a task has none; `order` are the rows with one, by value.

    `is_serial` is true where neighbours in time or order have similar values.
    """

    name: str
    kind: AttributeKind
    scale: AttributeScale
    values: Sequence[Any]
    is_serial: bool = False
    order: Sequence[int] = field(default=())

    @classmethod
    def numeric(cls, name: str, kind: AttributeKind, scale: AttributeScale, values: Sequence[Any]) -> "Attribute":
        known = [at for at, value in enumerate(values) if value is not None]
        known.sort(key=values.__getitem__)
        is_serial = scale in ("time", "id")
        return cls(name, kind, scale, values, is_serial=is_serial, order=known)


def attributes_of(
    tasks: Sequence[Task],
    nodes: Mapping[tuple[str, str], NodeTraits],
    figures: Mapping[str, RunFigures],
    positions: Sequence[int],
    changes: Mapping[str, Sequence[PoolChange]],
) -> list[Attribute]:
    """Returns all attributes that differ among some tasks.

    `nodes` are by (pool, node), `figures` by task key, `positions` in the job by row, `changes` of settings by pool.
    """
    found = [
        *(*_of_machines(tasks, nodes, figures), *_of_times(tasks)),
        *(Attribute.numeric(SETTING_CHANGE, "interval", "time", eras) for eras in era_columns(tasks, changes)),
        *(*_of_figures(tasks, figures), *_of_ids(tasks, positions)),
    ]
    return [one for one in found if _varies(one.values)]


def start_order(tasks: Sequence[Task]) -> list[int]:
    """Returns the rows by start, those that never ran left out."""
    return sorted((at for at, task in enumerate(tasks) if task.start), key=lambda at: (tasks[at].start, at))


def positions_of(tasks: Sequence[Task]) -> list[int]:
    """Returns the position of each task among all of them, from 1: by creation, of one creation by id."""
    keys, positions = keys_of([task.id for task in tasks]), [0] * len(tasks)
    for number, at in enumerate(sorted(range(len(tasks)), key=lambda at: (tasks[at].creation, keys[at])), 1):
        positions[at] = number
    return positions


def _of_machines(
    tasks: Sequence[Task], nodes: Mapping[tuple[str, str], NodeTraits], figures: Mapping[str, RunFigures]
) -> Iterator[Attribute]:
    places = [task.node if task.node[1] else None for task in tasks]
    none = NodeTraits()
    traits = [nodes.get(place, none) if place else none for place in places]
    sizes = [
        trait.vm_size.lower() or (figures[key].vm_size if key in figures else "")
        for trait, key in zip(traits, keys_of([task.id for task in tasks]), strict=True)
    ]
    yield Attribute("node", "nominal", "machine", places)
    yield Attribute("vmSize", "nominal", "machine", [size or None for size in sizes])
    yield Attribute("pool", "nominal", "machine", [place[0] if place else None for place in places])
    yield Attribute("priority", "nominal", "machine", list(map(_priority, traits)))
    yield Attribute("image", "nominal", "machine", [trait.image or None for trait in traits])
    yield Attribute("nodeAgent", "nominal", "machine", [trait.agent or None for trait in traits])


def _of_times(tasks: Sequence[Task]) -> Iterator[Attribute]:
    starts = [task.start or None for task in tasks]
    known = [start for start in starts if start]
    hours = [start // HOUR * HOUR if start else None for start in starts]
    yield Attribute("startHour", "nominal", "time", hours, is_serial=True)
    if known and max(known) - min(known) > _LONG:
        of_day = [start % _DAY // HOUR if start else None for start in starts]
        yield Attribute("hourOfDay", "nominal", "time", of_day, is_serial=True)
    waits = [task.start - task.creation if task.creation and task.start >= task.creation else None for task in tasks]
    yield Attribute.numeric(
        "wait", "rising", "time", [None if task.ran_before else wait for task, wait in zip(tasks, waits, strict=True)]
    )
    yield Attribute.numeric("start", "interval", "time", starts)
    yield Attribute.numeric("retries", "rising", "history", [task.retries for task in tasks])
    yield Attribute.numeric("requeues", "rising", "history", [task.requeues for task in tasks])


def _of_figures(tasks: Sequence[Task], figures: Mapping[str, RunFigures]) -> Iterator[Attribute]:
    none = RunFigures()
    used = [figures.get(key_of(task.id), none) for task in tasks] if figures else [none] * len(tasks)
    yield Attribute.numeric("memoryPeak", "rising", "use", [one.memory_peak for one in used])
    yield Attribute.numeric("gpuMemoryPeak", "rising", "use", [one.gpu_memory_peak for one in used])
    yield Attribute.numeric("gpus", "rising", "use", [one.gpus for one in used])
    yield Attribute("slots", "nominal", "use", [task.slots for task in tasks])
    spans = [task.end - task.start if task.start and task.end >= task.start else None for task in tasks]
    yield Attribute.numeric("runTime", "rising", "use", spans)


def _of_ids(tasks: Sequence[Task], positions: Sequence[int]) -> Iterator[Attribute]:
    columns = part_columns([task.id for task in tasks])
    for place, column in enumerate(columns, 1):
        if len(set(column)) * _MIN_PER_VALUE <= len(tasks):
            yield Attribute(f"idPart{place}", "nominal", "id", column, is_serial=True)
    yield Attribute.numeric("position", "interval", "id", positions)
    for place, column in enumerate(columns, 1):
        numbers = [part if isinstance(part, int) else None for part in column]
        if any(number is not None for number in numbers):
            yield Attribute.numeric(f"idPart{place}", "interval", "id", numbers)


def _priority(traits: NodeTraits) -> str | None:
    return None if traits.dedicated is None else "dedicated" if traits.dedicated else "spot"


def _varies(values: Sequence[Any]) -> bool:
    first = next((value for value in values if value is not None), None)
    return any(value is not None and value != first for value in values)
