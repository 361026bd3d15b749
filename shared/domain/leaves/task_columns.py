"""The columns of a leaf's tasks, and the conversion between them and the fields of tasks.

This module alone defines which column stores which field, and how; `leaves` keeps them sorted and stores them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any, Self

from shared.domain.leaves.leaf_counters import Step
from shared.domain.packing.columns import Column, DictionaryColumn, IntegerColumn, Order
from shared.domain.packing.id_column import Ids
from shared.domain.tasks.task_counters import LIFE_FIELDS
from shared.domain.tasks.tasks import RESULTS, STATES, Task, TaskCounts, counts_of

_NUMBERS, _PAIRS = (int, type(None)), (tuple,)
_KINDS: dict[str, Any] = {  # in the order of Task's fields; starts and ends: see `_offsets`
    "ids": None, "states": "B", "results": "B", "transitions": "q", "creations": "q", "starts": "q", "ends": "q",
    "exits": _NUMBERS, "failures": _PAIRS, "retries": _NUMBERS, "requeues": _NUMBERS, "slots": _NUMBERS,
    "nodes": _PAIRS,
}  # fmt: skip
_STATES, _RESULTS, _TRANSITIONS, _STARTS, _ENDS = 1, 2, 3, 5, 6
_LIFE = tuple(map(Task._fields.index, LIFE_FIELDS))
_ANY_STATE, _ANY_RESULT = bytes(range(len(STATES))), bytes(range(len(RESULTS)))


class TaskColumns:
    """One column for each field of `Task`, all with a row for each task."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Iterable[Column]) -> None:
        self._columns = list(columns)

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> Self:
        return cls(map(_made, _KINDS.values(), _fields_of(tasks)))

    @classmethod
    def unpack(cls, packed: Iterable[bytes], count: int) -> tuple[Self, list[str]]:
        """Returns the columns of `pack`, and the ids' table keys. Raises an error of DAMAGE."""
        (of_ids, *others), (_, *kinds) = packed, _KINDS.values()
        ids, keys = Ids.unpack(of_ids, count)
        columns = cls([ids, *(_unpacked(kind, part, count) for kind, part in zip(kinds, others, strict=True))])
        states, results = columns._states_and_results()
        if states.translate(None, _ANY_STATE) or results.translate(None, _ANY_RESULT):
            raise ValueError("a state or a result is none that there is")
        return columns, keys

    def pack(self) -> list[bytes]:
        """Returns the stored form of each column."""
        return [column.pack() for column in self._columns]

    def __iter__(self) -> Iterator[Task]:
        return starmap(_task_of, zip(*self._columns, strict=True))

    def rows(self, places: Iterable[int]) -> list[Task]:
        """Returns the tasks at some indexes."""
        chosen = list(places)
        return list(map(_task_of, *(column.rows(chosen) for column in self._columns)))

    def steps(self, changes: Mapping[int, Task]) -> list[Step]:
        """Returns the steps of tasks, given by index as they become; those whose state doesn't change make none."""
        states, transitions = (self._columns[column].rows(changes) for column in (_STATES, _TRANSITIONS))
        moved = [
            place
            for (place, task), state, transition in zip(changes.items(), states, transitions, strict=True)
            if transition != task.transition or state != task.state
        ]
        lives = zip(*(self._columns[column].rows(moved) for column in _LIFE), strict=True)
        starts = self._columns[_STARTS].values
        return [(life, starts[place] != 0, changes[place]) for place, life in zip(moved, lives, strict=True)]

    def field(self, name: str) -> list[Any]:
        """Returns one property of all tasks, named as in `Task`."""
        place = Task._fields.index(name)
        if place in (_STARTS, _ENDS):
            return list(map(_moment, self._columns[place], self._columns[_TRANSITIONS]))
        return list(self._columns[place])

    @property
    def by_name(self) -> dict[str, Any]:
        """The columns by name, read-only; `starts` and `ends` are offsets from the transitions."""
        return dict(zip(_KINDS, self._columns, strict=True))

    def counts(self) -> TaskCounts:
        return counts_of(*self._states_and_results())

    def update(self, places: Sequence[int], tasks: Sequence[Task]) -> bool:
        """Sets the tasks at ascending indexes. Returns whether any column changed."""
        changed = [column.update(places, new) for column, new in zip(self._columns, _fields_of(tasks), strict=True)]
        return any(changed)

    def insert(self, at: int, tasks: Sequence[Task]) -> None:
        """Inserts adjacent rows before index `at`, or after all."""
        for column, new in zip(self._columns, _fields_of(tasks), strict=True):
            column.insert(at, new)

    def reorder(self, order: Order) -> None:
        for column in self._columns:
            column.reorder(order)

    def part(self, start: int, stop: int) -> Self:
        return type(self)(column.part(start, stop) for column in self._columns)

    def _states_and_results(self) -> tuple[bytes, bytes]:
        states, results = self._columns[_STATES], self._columns[_RESULTS]
        return states.values.tobytes(), results.values.tobytes()


def _fields_of(tasks: Sequence[Task]) -> list[Sequence[Any]]:
    """Returns the columns of tasks, with starts and ends as offsets."""
    fields: list[Sequence[Any]] = list(zip(*tasks, strict=True)) or [()] * len(_KINDS)
    transitions = fields[_TRANSITIONS]
    for place in (_STARTS, _ENDS):
        fields[place] = _offsets(fields[place], transitions)
    return fields


def _offsets(moments: Sequence[int], transitions: Sequence[int]) -> list[int]:
    """Returns how many milliseconds each moment was before its transition; ends mostly equal it.

    0 stands for unknown, so non-negative offsets are one more.
    """
    pairs = zip(moments, transitions, strict=True)
    return [transition - moment + (moment <= transition) if moment else 0 for moment, transition in pairs]


def _moment(offset: int, transition: int) -> int:
    """Returns the time of an offset, 0 where unknown."""
    if not offset:
        return 0
    return transition - offset + 1 if offset > 0 else transition - offset


def _task_of(*fields: Any) -> Task:
    """Returns the task of a row of all columns."""
    transition, start, end = fields[_TRANSITIONS], fields[_STARTS], fields[_ENDS]
    moments = _moment(start, transition), _moment(end, transition)
    return Task._make((*fields[:_STARTS], *moments, *fields[_ENDS + 1 :]))


def _made(kind: Any, values: Sequence[Any]) -> Column:
    """Returns a column of a kind in _KINDS."""
    if kind is None:
        return Ids(values)
    return IntegerColumn(kind, values) if isinstance(kind, str) else DictionaryColumn(kind, values)


def _unpacked(kind: Any, packed: bytes, count: int) -> Column:
    """Returns a stored column of any kind except ids. Raises the errors of its class's `unpack`."""
    return (
        IntegerColumn.unpack(kind, packed, count)
        if isinstance(kind, str)
        else DictionaryColumn.unpack(kind, packed, count)
    )
