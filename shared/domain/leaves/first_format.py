"""Reads leaves of format 1, which is no longer written: one zlib stream of columns.

The columns, each after its length, are ids as lines, states, results, creations and transitions as differences from row
to row, ends and starts as differences to the transitions, exits, retries, requeues, slots, failures and nodes as
dictionary indexes. Numbers are a type code and a byte-stream split.
"""

import json
import struct
import zlib
from array import array
from itertools import accumulate
from operator import lt
from typing import Any

from shared.domain.core.keys import keys_of
from shared.domain.packing.columns import parts_of
from shared.domain.tasks.tasks import RESULTS, STATES, Task

_NO_EXIT = 1 << 40  # exit codes are 32 bits wide, so no task had this one
_HEADER = struct.Struct("<BI")
_CODES = {ord(code): code for code in "bhiq"}


def read_first_format(stored: bytes) -> list[Task]:
    """Returns a leaf's tasks in the order of keys. Raises ValueError, TypeError, LookupError, struct or zlib.error."""
    _, count = _HEADER.unpack_from(stored)
    lines, states, results, *packed = parts_of(_inflated(stored[_HEADER.size :]))
    ids = lines.decode().split("\n") if count else []
    creations, transitions = [list(accumulate(_numbers(column))) for column in packed[:2]]
    ends, starts = [_moments(_numbers(column), transitions) for column in packed[2:4]]
    exits, retries, requeues, slots = map(_numbers, packed[4:8])
    failures, nodes = map(_pairs, packed[8:])
    tasks = [
        Task(name, state, result, transition, creation, start, end, None if code == _NO_EXIT else code, *rest)
        for name, state, result, transition, creation, start, end, code, *rest in zip(
            ids, states, results, transitions, creations, starts, ends, exits,
            failures, retries, requeues, slots, nodes, strict=True,
        )
    ]  # fmt: skip
    _refuse_damage(tasks, count)
    return tasks


def _refuse_damage(tasks: list[Task], count: int) -> None:
    """Raises an error for columns that don't belong together, which would otherwise pass for other tasks."""
    if len(tasks) != count:
        raise ValueError(f"{len(tasks)} tasks instead of {count}")
    if any(task.state >= len(STATES) or task.result >= len(RESULTS) for task in tasks):
        raise ValueError("a state or a result is none that there is")
    keys = keys_of([task.id for task in tasks])
    if not all(map(lt, keys, keys[1:])):
        raise ValueError("tasks are out of order")
    array("q", [moment for task in tasks for moment in task[3:7]])  # raises OverflowError beyond 64 bits


def _inflated(stream: bytes) -> bytes:
    inflating = zlib.decompressobj()
    body = inflating.decompress(stream)
    if not inflating.eof or inflating.unused_data:
        raise zlib.error("the stream is cut short, or something stands behind it")
    return body


def _numbers(packed: bytes) -> list[int]:
    numbers = array(_CODES[packed[0]])
    width, (count, rest) = numbers.itemsize, divmod(len(packed) - 1, numbers.itemsize)
    if rest:
        raise ValueError(f"{rest} bytes are no number")
    raw = bytearray(count * width)
    for plane in range(width):
        raw[plane::width] = packed[1 + plane * count : 1 + (plane + 1) * count]
    numbers.frombytes(bytes(raw))
    return numbers.tolist()


def _moments(differences: list[int], transitions: list[int]) -> list[int]:
    """Returns times from differences; 0 stands for unknown, so differences from 0 up are shifted by one."""
    pairs = zip(differences, transitions, strict=True)
    return [transition + difference - (difference > 0) if difference else 0 for difference, transition in pairs]


def _pairs(packed: bytes) -> list[tuple[str, str]]:
    words, numbers = parts_of(packed)
    pairs: list[Any] = [tuple(pair) for pair in json.loads(words)]
    if not all([str, str] == [*map(type, pair)] for pair in pairs):
        raise TypeError("a pair isn't one of strings")
    found = _numbers(numbers)
    if found and min(found) < 0:
        raise LookupError("a pair before the first")
    return [pairs[number] for number in found]
