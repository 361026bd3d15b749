"""Conversion between the fields of tasks and the columns of a leaf.

This module alone defines which column stores which field, and how; `leaves` builds a leaf of them.
"""

from collections.abc import Sequence
from typing import Any

from shared.domain.packing.columns import Column, IntegerColumn
from shared.domain.packing.dictionary_column import DictionaryColumn
from shared.domain.packing.id_column import Ids
from shared.domain.tasks.tasks import Task

_NUMBERS, _PAIRS = (int, type(None)), (tuple,)
COLUMNS: dict[str, Any] = {  # in the order of Task's fields; starts and ends: see `_offsets`
    "ids": None, "states": "B", "results": "B", "transitions": "q", "creations": "q", "starts": "q", "ends": "q",
    "exits": _NUMBERS, "failures": _PAIRS, "retries": _NUMBERS, "requeues": _NUMBERS, "slots": _NUMBERS,
    "nodes": _PAIRS,
}  # fmt: skip
AT_STATES, AT_RESULTS, AT_TRANSITIONS, AT_STARTS, AT_ENDS = 1, 2, 3, 5, 6


def fields_of(tasks: Sequence[Task]) -> list[Sequence[Any]]:
    """Returns the columns of tasks, with starts and ends as offsets."""
    fields: list[Sequence[Any]] = list(zip(*tasks, strict=True)) or [()] * len(COLUMNS)
    transitions = fields[AT_TRANSITIONS]
    for place in (AT_STARTS, AT_ENDS):
        fields[place] = _offsets(fields[place], transitions)
    return fields


def _offsets(moments: Sequence[int], transitions: Sequence[int]) -> list[int]:
    """Returns how many milliseconds each moment was before its transition; ends mostly equal it.

    0 stands for unknown, so non-negative offsets are one more.
    """
    pairs = zip(moments, transitions, strict=True)
    return [transition - moment + (moment <= transition) if moment else 0 for moment, transition in pairs]


def moment(offset: int, transition: int) -> int:
    """Returns the time of an offset, 0 where unknown."""
    if not offset:
        return 0
    return transition - offset + 1 if offset > 0 else transition - offset


def task_of(*fields: Any) -> Task:
    """Returns the task of a row of all columns."""
    transition, start, end = fields[AT_TRANSITIONS], fields[AT_STARTS], fields[AT_ENDS]
    moments = moment(start, transition), moment(end, transition)
    return Task._make((*fields[:AT_STARTS], *moments, *fields[AT_ENDS + 1 :]))


def made(kind: Any, values: Sequence[Any]) -> Column:
    """Returns a column of a kind in COLUMNS."""
    if kind is None:
        return Ids(values)
    return IntegerColumn(kind, values) if isinstance(kind, str) else DictionaryColumn(kind, values)


def unpacked(kind: Any, packed: bytes, count: int) -> Column:
    """Returns a stored column of any kind except ids. Raises the errors of its class's `unpack`."""
    return (
        IntegerColumn.unpack(kind, packed, count)
        if isinstance(kind, str)
        else DictionaryColumn.unpack(kind, packed, count)
    )
