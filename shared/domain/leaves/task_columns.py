"""What becomes of the fields of tasks in the columns of a leaf, and back.

Which column keeps what, and how, is said here and nowhere else; what makes a leaf of them is in `leaves`.
"""

from collections.abc import Sequence
from typing import Any

from shared.domain.packing.columns import Column, Numbers
from shared.domain.packing.id_column import Ids
from shared.domain.packing.word_column import Words
from shared.domain.tasks.tasks import Task

_NUMBERS, _PAIRS = (int, type(None)), (tuple,)
COLUMNS: dict[str, Any] = {  # in the order of Task's fields; what becomes of starts and ends: see `_offsets`
    "ids": None, "states": "B", "results": "B", "transitions": "q", "creations": "q", "starts": "q", "ends": "q",
    "exits": _NUMBERS, "failures": _PAIRS, "retries": _NUMBERS, "requeues": _NUMBERS, "slots": _NUMBERS,
    "nodes": _PAIRS,
}  # fmt: skip
AT_STATES, AT_RESULTS, AT_TRANSITIONS, AT_STARTS, AT_ENDS = 1, 2, 3, 5, 6


def fields_of(tasks: Sequence[Task]) -> list[Sequence[Any]]:
    """The columns of tasks; starts and ends as offsets."""
    fields: list[Sequence[Any]] = list(zip(*tasks, strict=True)) or [()] * len(COLUMNS)
    transitions = fields[AT_TRANSITIONS]
    for place in (AT_STARTS, AT_ENDS):
        fields[place] = _offsets(fields[place], transitions)
    return fields


def _offsets(moments: Sequence[int], transitions: Sequence[int]) -> list[int]:
    """How long before its transition each moment was; ends mostly are the transition.

    0 stands for unknown, so what isn't negative is one more.
    """
    pairs = zip(moments, transitions, strict=True)
    return [transition - moment + (moment <= transition) if moment else 0 for moment, transition in pairs]


def moment(offset: int, transition: int) -> int:
    """The inverse of an offset; 0 where it is unknown."""
    if not offset:
        return 0
    return transition - offset + 1 if offset > 0 else transition - offset


def task_of(*fields: Any) -> Task:
    """A task of its row in all columns."""
    transition, start, end = fields[AT_TRANSITIONS], fields[AT_STARTS], fields[AT_ENDS]
    moments = moment(start, transition), moment(end, transition)
    return Task._make((*fields[:AT_STARTS], *moments, *fields[AT_ENDS + 1 :]))


def made(kind: Any, values: Sequence[Any]) -> Column:
    """A column of one of the kinds in COLUMNS."""
    if kind is None:
        return Ids(values)
    return Numbers(kind, values) if isinstance(kind, str) else Words(kind, values)


def unpacked(kind: Any, packed: bytes, count: int) -> Column:
    """A column of a kind, but for ids. Raises what its `unpack` does."""
    return Numbers.unpack(kind, packed, count) if isinstance(kind, str) else Words.unpack(kind, packed, count)
