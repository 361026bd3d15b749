"""Columns of a leaf: parallel, quick to update and small to store.

Numbers are stored as a byte-stream split (all low bytes first), because most byte planes repeat one byte. Values with
few distinct ones are dictionary-encoded: each once, and an index per row. A column keeps its stored form until it
changes, so only changed columns are packed again. This module knows nothing of tasks.
"""

import json
import struct
import zlib
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import lru_cache
from itertools import chain, compress
from typing import Any, Self, override

from shared.domain.packing.compression import NOTHING, deflated, inflated

type Order = Callable[[Sequence[Any]], Iterable[Any]]  # picks rows in a new order
_BYTE, _MAX = 256, 1 << 63
_SIZE = struct.Struct("<I")
_FEW = 200  # bytes up to which unpacked words are cached
# Errors that unpacking raises for damaged bytes.
DAMAGE = (zlib.error, struct.error, ValueError, TypeError, LookupError, OverflowError, RecursionError)


class Column(ABC):
    """Rows by index, from 0. `values` has an entry for each: a list, or an array of what is stored."""

    __slots__ = ("_packed", "values")

    def __init__(self, values: Any, packed: bytes | None = None) -> None:
        self.values = values
        self._packed = packed

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Any:
        return iter(self.values)

    def __getitem__(self, at: int) -> Any:
        return self.values[at]

    def rows(self, places: Iterable[int]) -> Iterable[Any]:
        """Returns the rows at some indexes."""
        return map(self.values.__getitem__, places)

    def update(self, places: Sequence[int], new: Sequence[Any]) -> bool:
        """Sets rows at ascending indexes. Returns False, and keeps the stored form, if all have these values already.

        Adjacent rows are set in one step.
        """
        values, fresh = self.values, self._encoded(new)
        if places and places[-1] - places[0] + 1 == len(places):
            run = slice(places[0], places[-1] + 1)
            if values[run] == fresh:
                return False
            values[run] = fresh
        else:
            changed = [(at, value) for at, value in zip(places, fresh, strict=True) if values[at] != value]
            if not changed:
                return False
            for at, value in changed:
                values[at] = value
        self._packed = None
        return True

    def insert(self, at: int, new: Sequence[Any]) -> None:
        """Inserts adjacent rows before index `at`, or after all."""
        self.values[at:at] = self._encoded(new)
        self._packed = None

    def reorder(self, order: Order) -> None:
        values = self.values
        if values.count(values[0]) < len(values):
            self.values = _of_type(values, order(values))
            self._packed = None

    def pack(self) -> bytes:
        """Returns the stored form."""
        if self._packed is None:
            self._packed = self._pack()
        return self._packed

    def part(self, start: int, stop: int) -> Self:
        """Returns a column of adjacent rows."""
        part = copy(self)
        part.values, part._packed = self.values[start:stop], None  # noqa: SLF001
        return part

    @abstractmethod
    def _pack(self) -> bytes: ...

    def _encoded(self, new: Sequence[Any]) -> Any:
        """Returns rows in the type of `values`."""
        return _of_type(self.values, new)


class IntegerColumn(Column):
    """Integers of one width: `B` (unsigned bytes), `i` or `q` (signed, 32 or 64 bits)."""

    __slots__ = ()

    def __init__(self, code: str, values: Iterable[int] | bytes = (), packed: bytes | None = None) -> None:
        super().__init__(array(code, values), packed)

    @classmethod
    def unpack(cls, code: str, packed: bytes, count: int) -> Self:
        """Returns the column of a stored form. Raises the errors of `_unpacked_integers`."""
        return cls(code, _unpacked_integers(code, packed, count), packed)

    @override
    def _pack(self) -> bytes:
        return _packed_integers(self.values)


class DictionaryColumn(Column):
    """A dictionary-encoded column of strings, integers, None, or pairs of strings.

    `words` are the distinct values, of which some may be unused, and `values` the index of each row's word.
    """

    __slots__ = ("_kinds", "_number_of", "_packed_words", "words")
    words: list[Any]
    _packed_words: bytes

    def __init__(self, kinds: tuple[type, ...], values: Iterable[Any] = ()) -> None:
        """Values are of `kinds`: a tuple has two strings, an integer at most 64 bits. Raises TypeError."""
        super().__init__(array("i"))
        self._kinds = kinds
        self._set_words([], b"")
        self.insert(0, list(values))

    @override
    def __iter__(self) -> Any:
        return map(self.words.__getitem__, self.values)

    @override
    def __getitem__(self, at: int) -> Any:
        return self.words[self.values[at]]

    @override
    def rows(self, places: Iterable[int]) -> Iterable[Any]:
        return map(self.words.__getitem__, super().rows(places))

    @override
    def part(self, start: int, stop: int) -> Self:
        part = super().part(start, stop)
        part._set_words(self.words, b"")  # noqa: SLF001
        return part

    @classmethod
    def unpack(cls, kinds: tuple[type, ...], packed: bytes, count: int) -> Self:
        """Returns the column of a stored form.

        Raises ValueError, LookupError, TypeError or zlib.error where `packed` isn't `count` words of those kinds.
        """
        end = 4 + int.from_bytes(packed[:4], "little")
        if len(packed) < end:
            raise ValueError("words are cut short")
        packed_words, packed_numbers = packed[4:end], packed[end:]
        words = _words_of(kinds, packed_words)
        numbers = array("i", _unpacked_integers("i", packed_numbers, count))
        if not _all_under(numbers if packed_numbers[0] else numbers[:1], len(words)):
            raise ValueError("a word is missing")
        column = cls(kinds)
        column.values, column._packed = numbers, packed
        column._set_words(words, packed_words)
        return column

    @override
    def _pack(self) -> bytes:
        """Returns the stored form. It drops unused words, so that a leaf doesn't grow with its past."""
        used = _used(self.values, len(self.words))
        if len(used) < len(self.words):
            place_of = {number: place for place, number in enumerate(used)}
            self.values = array("i", map(place_of.__getitem__, self.values))
            self._set_words([self.words[number] for number in used], b"")
        if not self._packed_words:
            self._packed_words = deflated(json.dumps(self.words, separators=(",", ":")).encode())
        return len(self._packed_words).to_bytes(4, "little") + self._packed_words + _packed_integers(self.values)

    def _set_words(self, words: Sequence[Any], packed: bytes) -> None:
        self.words = list(words)
        self._number_of = {word: number for number, word in enumerate(words)}
        self._packed_words = packed

    @override
    def _encoded(self, new: Sequence[Any]) -> "array[int]":
        """Returns the index of each value, adding new words. Raises TypeError for a value of another kind."""
        number_of = self._number_of
        for value in dict.fromkeys(new):
            if value in number_of:
                continue
            if not _is_of(value, self._kinds):
                raise TypeError(f"{value!r} is of none of {self._kinds}")
            number_of[value] = len(self.words)
            self.words.append(value)
            self._packed_words = b""
        return array("i", [number_of[value] for value in new])


def joined_parts(parts: Iterable[bytes]) -> bytes:
    """Returns parts, each after its length."""
    return b"".join([piece for part in parts for piece in (_SIZE.pack(len(part)), part)])


def parts_of(body: bytes | memoryview) -> Iterator[bytes]:
    """Yields the parts given to `joined_parts`. Raises struct.error or ValueError for a body cut short."""
    at = 0
    while at < len(body):
        (size,) = _SIZE.unpack_from(body, at)
        at += _SIZE.size
        if at + size > len(body):
            raise ValueError(f"a column of {size} bytes is cut short")
        yield bytes(body[at : at + size])
        at += size


def _of_type(values: Any, rows: Iterable[Any]) -> Any:
    """Returns rows as a list, or as an array where `values` is one."""
    return array(values.typecode, rows) if isinstance(values, array) else list(rows)


def _packed_integers(values: "array[int]") -> bytes:
    """Returns a bit per byte plane that varies, the byte of each constant plane, and the varying planes."""
    raw, width = values.tobytes(), values.itemsize
    planes = [raw[place::width] for place in range(width)]
    varies = [plane.count(plane[:1]) != len(plane) for plane in planes]
    bits = sum(varying << place for place, varying in enumerate(varies))
    steady = b"".join(plane[:1] for plane, varying in zip(planes, varies, strict=True) if not varying)
    return bytes((bits,)) + steady + deflated(b"".join(compress(planes, varies)))


def _unpacked_integers(code: str, packed: bytes, count: int) -> bytes:
    """Returns the bytes of the integers in a stored form, which begins with 0 where a single number is repeated.

    Raises ValueError, LookupError or zlib.error where `packed` isn't `count` numbers of that width.
    """
    width = array(code).itemsize
    if not packed[0] and len(packed) == 1 + width + len(NOTHING):
        return packed[1 : 1 + width] * count
    varies = [bool(packed[0] >> place & 1) for place in range(width)]
    steady = packed[1 : 1 + varies.count(False)]
    planes = inflated(packed[1 + len(steady) :])
    if count == 0:
        steady += bytes(varies.count(False))
    if packed[0] >> width or len(planes) != count * sum(varies):
        raise ValueError(f"{len(planes)} bytes are no {count} numbers")
    rest = iter(steady)
    raw = bytearray(bytes(0 if varying else next(rest) for varying in varies) * count)
    for number, place in enumerate(compress(range(width), varies)):
        raw[place::width] = planes[number * count : (number + 1) * count]
    return bytes(raw)


def _words_of(kinds: tuple[type, ...], packed: bytes) -> tuple[Any, ...]:
    """Returns the words of a stored form. Raises ValueError, TypeError or zlib.error."""
    return (_few_words if len(packed) <= _FEW else _unpacked_words)(kinds, packed)


def _unpacked_words(kinds: tuple[type, ...], packed: bytes) -> tuple[Any, ...]:
    words = json.loads(inflated(packed))
    if tuple in kinds:
        words = [tuple(word) for word in words]
    are_of_kinds = _are_pairs(words) if kinds == (tuple,) else all(_is_of(word, kinds) for word in words)
    if not are_of_kinds or len(set(words)) != len(words):
        raise ValueError("words are of another kind, or there twice")
    return tuple(words)


_few_words = lru_cache(maxsize=256)(_unpacked_words)  # most leaves have the same few exit codes, slots and failures


def _is_of(word: Any, kinds: tuple[type, ...]) -> bool:
    match word:
        case tuple():
            return tuple in kinds and [str, str] == [*map(type, word)]
        case int():
            return type(word) in kinds and -_MAX <= word < _MAX
    return type(word) in kinds


def _are_pairs(words: Sequence[Any]) -> bool:
    return set(map(len, words)) <= {2} and set(map(type, chain.from_iterable(words))) <= {str}


def _used(numbers: "array[int]", words: int) -> list[int]:
    """Returns the indexes below `words` that occur, quickly where `words` is at most 256."""
    if words > _BYTE:
        return sorted(set(numbers))
    low = numbers.tobytes()[::4]
    return [number for number in range(words) if number in low]


def _all_under(numbers: "array[int]", limit: int) -> bool:
    """Returns whether all 32-bit numbers are from 0 to below the limit, quickly where that is at most 256."""
    raw = numbers.tobytes()
    high = raw[1::4] + raw[2::4] + raw[3::4]
    if limit <= _BYTE and high.count(0) == len(high):
        return not raw[::4].translate(None, bytes(range(limit)))
    return all(0 <= number < limit for number in set(numbers))
