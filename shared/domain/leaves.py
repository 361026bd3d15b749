"""A leaf: some thousand tasks sorted by key, as parallel columns that are quick to count and small to store.

The stored form begins with a format byte, so that a later format can be read beside this one. Nothing here reads or
writes storage; `fold` and `split` are the only ways in which a leaf changes.
"""

import json
import struct
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from operator import lt

from shared.domain import columns
from shared.domain.columns import Numbers
from shared.domain.keys import keys_of
from shared.domain.tasks import RESULTS, STATES, Task, TaskCounts, counts_of

FORMAT = 1
MAX_ROWS = 4096
_NO_EXIT = 1 << 40  # exit codes are 32 bits wide, so no task can have this one
_HEADER = struct.Struct("<BI")
_ANY_STATE, _ANY_RESULT = bytes(range(len(STATES))), bytes(range(len(RESULTS)))
_DAMAGE = (zlib.error, struct.error, ValueError, TypeError, LookupError, OverflowError, StopIteration, RecursionError)

type Pair = tuple[str, str]


class UnreadableLeafError(ValueError):
    """A stored leaf that this program cannot read: its format is newer, or it is damaged."""


class PairColumn:
    """A column of repeated pairs of strings: each distinct pair once, and its number per row."""

    __slots__ = ("_number_of", "numbers", "pairs")

    def __init__(self, pairs: Iterable[Pair] = (), numbers: Iterable[int] = ()) -> None:
        self.pairs = list(pairs)
        self.numbers: Numbers = array("q", numbers)
        self._number_of = {pair: number for number, pair in enumerate(self.pairs)}

    def __getitem__(self, at: int) -> Pair:
        return self.pairs[self.numbers[at]]

    def __setitem__(self, at: int, pair: Pair) -> None:
        number = self._number_of.get(pair)
        if number is None:
            number = self._number_of[pair] = len(self.pairs)
            self.pairs.append(pair)
        self.numbers[at] = number

    def pack(self) -> bytes:
        """Only the pairs still in use, so that a leaf doesn't grow with its past."""
        used = sorted(set(self.numbers))
        renumbered = {number: place for place, number in enumerate(used)}
        numbers = array("q", [renumbered[number] for number in self.numbers])
        words = json.dumps([self.pairs[number] for number in used], separators=(",", ":"))
        return columns.join((words.encode(), columns.pack_numbers(numbers)))

    @classmethod
    def unpack(cls, packed: bytes) -> "PairColumn":
        words, numbers = columns.parts(packed)
        return cls(((first, second) for first, second in json.loads(words)), columns.unpack_numbers(numbers))

    def is_whole(self) -> bool:
        """True where every row has a pair, and pairs are of strings."""
        in_range = all(0 <= number < len(self.pairs) for number in set(self.numbers))
        return in_range and all(isinstance(word, str) for pair in self.pairs for word in pair)


class Leaf:
    """Up to a few thousand tasks, sorted by key, every id once."""

    __slots__ = (
        "creations", "ends", "exits", "failures", "ids", "keys", "nodes",
        "requeues", "results", "retries", "slots", "starts", "states", "transitions",
    )  # fmt: skip

    def __init__(self, tasks: Iterable[Task] = ()) -> None:
        """Tasks must be sorted by key."""
        rows = list(tasks)
        empty = [0] * len(rows)
        self.ids = [task.id for task in rows]
        self.keys = keys_of(self.ids)
        self.states, self.results = bytearray(empty), bytearray(empty)
        self.creations, self.transitions = array("q", empty), array("q", empty)
        self.starts, self.ends, self.exits = array("q", empty), array("q", empty), array("q", empty)
        self.retries, self.requeues, self.slots = array("q", empty), array("q", empty), array("q", empty)
        self.failures, self.nodes = PairColumn(numbers=empty), PairColumn(numbers=empty)
        for at, task in enumerate(rows):
            self._set(at, task)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Task]:
        return map(self.row, range(len(self.ids)))

    def row(self, at: int) -> Task:
        exit_code = self.exits[at]
        return Task(
            self.ids[at],
            self.states[at],
            self.results[at],
            self.transitions[at],
            self.creations[at],
            self.starts[at],
            self.ends[at],
            None if exit_code == _NO_EXIT else exit_code,
            self.failures[at],
            self.retries[at],
            self.requeues[at],
            self.slots[at],
            self.nodes[at],
        )

    def counts(self) -> TaskCounts:
        return counts_of(self.states, self.results)

    def fold(self, tasks: Iterable[Task]) -> bool:
        """Takes in what a later-begun read saw; what it saw wins whatever its stamps say. True if anything moved.

        Of a task seen twice in one read the one received later wins: its page was served later.
        """
        seen = list(tasks)
        latest = dict(zip(keys_of([task.id for task in seen]), seen, strict=True))
        added: dict[str, Task] = {}
        changed = False
        for key, task in latest.items():
            at = bisect_left(self.keys, key)
            if at == len(self.keys) or self.keys[at] != key:
                added[key] = task
            elif self.row(at) != task:
                self._set(at, task)
                changed = True
        if added:
            self._insert(added)
        return changed or bool(added)

    def split(self, limit: int = MAX_ROWS) -> "list[Leaf]":
        """This leaf alone, or, past the limit, leaves of three quarters of it, so that each can grow."""
        if len(self) <= limit:
            return [self]
        step, rows = max(1, limit * 3 // 4), list(self)
        return [Leaf(rows[start : start + step]) for start in range(0, len(rows), step)]

    def pack(self) -> bytes:
        """The stored form: columns as differences in byte planes, one zlib stream behind a format byte."""
        body = columns.join(
            (
                "\n".join(self.ids).encode(),
                bytes(self.states),
                bytes(self.results),
                columns.pack_steps(self.creations),
                columns.pack_steps(self.transitions),
                columns.pack_differences(self.ends, self.transitions),
                columns.pack_differences(self.starts, self.transitions),
                *map(columns.pack_numbers, (self.exits, self.retries, self.requeues, self.slots)),
                self.failures.pack(),
                self.nodes.pack(),
            )
        )
        return _HEADER.pack(FORMAT, len(self)) + zlib.compress(body, 1)

    @classmethod
    def unpack(cls, stored: bytes) -> "Leaf":
        """Raises UnreadableLeafError."""
        try:
            kind, count = _HEADER.unpack_from(stored)
            leaf = cls._of_columns(columns.parts(_inflated(stored[_HEADER.size :])), count) if kind == FORMAT else None
        except _DAMAGE as error:
            raise UnreadableLeafError(f"a leaf is damaged: {error!r}") from error
        if leaf is None:
            raise UnreadableLeafError(f"a leaf has format {kind}; this version reads format {FORMAT}")
        _refuse_damage(leaf, count)
        return leaf

    @classmethod
    def _of_columns(cls, packed: Iterator[bytes], count: int) -> "Leaf":
        leaf = cls()
        lines = next(packed).decode()
        leaf.ids = lines.split("\n") if count else []
        leaf.keys = keys_of(leaf.ids)
        leaf.states, leaf.results = bytearray(next(packed)), bytearray(next(packed))
        leaf.creations = columns.unpack_steps(next(packed))
        leaf.transitions = columns.unpack_steps(next(packed))
        leaf.ends = columns.unpack_differences(next(packed), leaf.transitions)
        leaf.starts = columns.unpack_differences(next(packed), leaf.transitions)
        leaf.exits, leaf.retries, leaf.requeues, leaf.slots = [columns.unpack_numbers(next(packed)) for _ in range(4)]
        leaf.failures, leaf.nodes = map(PairColumn.unpack, packed)
        return leaf

    def _set(self, at: int, task: Task) -> None:
        self.ids[at] = task.id
        self.states[at], self.results[at] = task.state, task.result
        self.transitions[at], self.creations[at] = task.transition, task.creation
        self.starts[at], self.ends[at] = task.start, task.end
        self.exits[at] = _NO_EXIT if task.exit_code is None else task.exit_code
        self.retries[at], self.requeues[at], self.slots[at] = task.retries, task.requeues, task.slots
        self.failures[at], self.nodes[at] = task.failure, task.node

    def _insert(self, added: dict[str, Task]) -> None:
        by_key = dict(zip(self.keys, self, strict=True)) | added
        merged = Leaf(by_key[key] for key in sorted(by_key))
        for name in Leaf.__slots__:
            setattr(self, name, getattr(merged, name))


def _inflated(stream: bytes) -> bytes:
    """The whole stream and nothing else. Raises zlib.error."""
    inflating = zlib.decompressobj()
    body = inflating.decompress(stream)
    if not inflating.eof or inflating.unused_data:
        raise zlib.error("the stream is cut short, or something stands behind it")
    return body


def _refuse_damage(leaf: Leaf, count: int) -> None:
    """Columns that don't belong together would pass for other tasks: raises UnreadableLeafError."""
    pairs = (leaf.failures, leaf.nodes)
    numbers = (getattr(leaf, name) for name in Leaf.__slots__ if name not in ("failures", "nodes"))
    lengths = {*map(len, numbers), *(len(column.numbers) for column in pairs)}
    if lengths != {count}:
        raise UnreadableLeafError(f"a leaf is damaged: it should hold {count} tasks, its columns {sorted(lengths)}")
    if leaf.states.translate(None, _ANY_STATE) or leaf.results.translate(None, _ANY_RESULT):
        raise UnreadableLeafError("a leaf is damaged: a state or a result is none that there is")
    if not all(map(lt, leaf.keys, leaf.keys[1:])):
        raise UnreadableLeafError("a leaf is damaged: its tasks are out of order")
    if not all(column.is_whole() for column in pairs):
        raise UnreadableLeafError("a leaf is damaged: a failure or a node is missing")
