"""Columns of a leaf: parallel, quick to fold into and small to store.

Numbers are stored as byte planes (all low bytes first), most of which hold one byte all along; words once each, with
their numbers per row. A column keeps its stored form until something in it changes, so that
only what moved is packed again. Nothing here knows what a task is.
"""

import json
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any, Protocol, Self

_BYTE, _MOST = 256, 1 << 63
type Order = Callable[[Sequence[Any]], Iterable[Any]]  # picks rows in a new order
_RAW, _DEFLATED = b"r", b"z"
_BARE = -15  # zlib's name for a stream without header and checksum


class Column(Protocol):
    """Rows by place, from 0. `new` rows are those of `places`, which ascend."""

    def update(self, places: Sequence[int], new: Sequence[Any]) -> bool:
        """Sets rows; False, and nothing to pack anew, if all of them are so already."""

    def extend(self, new: Sequence[Any]) -> None: ...

    def reorder(self, order: Order) -> None: ...

    def part(self, start: int, stop: int) -> Self: ...

    def pack(self) -> bytes: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Any: ...

    def __getitem__(self, at: int) -> Any: ...


class Numbers:
    """Whole numbers of one width: `B` (unsigned bytes), `i` or `q` (signed, 32 or 64 bits)."""

    __slots__ = ("_packed", "values")

    def __init__(self, code: str, values: Iterable[int] | bytes = (), packed: bytes | None = None) -> None:
        self.values = array(code, values)
        self._packed = packed

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Any:
        return iter(self.values)

    def __getitem__(self, at: int) -> int:
        return self.values[at]

    def update(self, places: Sequence[int], new: Sequence[int]) -> bool:
        fresh = array(self.values.typecode, new)
        if not replaced(self.values, places, fresh):
            return False
        self._packed = None
        return True

    def extend(self, new: Sequence[int]) -> None:
        self.values.extend(new)
        self._packed = None

    def reorder(self, order: Order) -> None:
        values = self.values
        if values.count(values[0]) < len(values):
            self.values = array(values.typecode, order(values))
            self._packed = None

    def part(self, start: int, stop: int) -> "Numbers":
        return Numbers(self.values.typecode, self.values[start:stop])

    def pack(self) -> bytes:
        """A bit for each plane that varies, the byte of each that doesn't, and the planes that do."""
        if self._packed is None:
            raw, width = self.values.tobytes(), self.values.itemsize
            planes = [raw[place::width] for place in range(width)]
            varies = [plane.count(plane[:1]) != len(plane) for plane in planes]
            bits = sum(varying << place for place, varying in enumerate(varies))
            steady = b"".join(plane[:1] for plane, varying in zip(planes, varies, strict=True) if not varying)
            self._packed = bytes((bits,)) + steady + deflated(b"".join(compress(planes, varies)))
        return self._packed

    @classmethod
    def unpack(cls, code: str, packed: bytes, count: int) -> "Numbers":
        """Raises ValueError, LookupError or zlib.error where `packed` isn't `count` numbers of that width."""
        width = array(code).itemsize
        varies = [bool(packed[0] >> place & 1) for place in range(width)]
        steady = packed[1 : 1 + varies.count(False)]
        planes = inflated(packed[1 + len(steady) :])
        if count == 0:
            steady += bytes(varies.count(False))
        if packed[0] >> width or len(planes) != count * sum(varies):
            raise ValueError(f"{len(planes)} bytes are no {count} numbers")
        raw, rest, at = bytearray(count * width), iter(steady), 0
        for place, varying in enumerate(varies):
            if varying:
                raw[place::width] = planes[at : at + count]
                at += count
            else:
                raw[place::width] = bytes((next(rest),)) * count
        return cls(code, bytes(raw), packed)


class Words:
    """Values of which there are few different ones: strings, whole numbers, None, or pairs of strings."""

    __slots__ = ("_kinds", "_number_of", "_numbers", "_packed", "_words")

    def __init__(self, kinds: tuple[type, ...], values: Iterable[Any] = ()) -> None:
        """Words are of `kinds`, a tuple being of two strings, a number of 64 bits at most. Raises TypeError."""
        self._kinds = kinds
        self._words: list[Any] = []
        self._number_of: dict[Any, int] = {}
        self._packed = b""
        self._numbers = Numbers("i", self._numbered(list(values)))

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Any:
        return map(self._words.__getitem__, self._numbers)

    def __getitem__(self, at: int) -> Any:
        return self._words[self._numbers[at]]

    def coded(self) -> tuple[list[Any], "array[int]"]:
        """The words, of which some may be in no row any more, and the place of each row's word among them."""
        return self._words, self._numbers.values

    def update(self, places: Sequence[int], new: Sequence[Any]) -> bool:
        return self._numbers.update(places, self._numbered(new))

    def extend(self, new: Sequence[Any]) -> None:
        self._numbers.extend(self._numbered(new))

    def reorder(self, order: Order) -> None:
        self._numbers.reorder(order)

    def part(self, start: int, stop: int) -> "Words":
        return Words._with(self._kinds, self._words, self._numbers.part(start, stop))

    def pack(self) -> bytes:
        """Only the words still in use, so that a leaf doesn't grow with its past."""
        used = sorted(set(self._numbers.values))
        if len(used) < len(self._words):
            place_of = {number: place for place, number in enumerate(used)}
            self._numbers = Numbers("i", map(place_of.__getitem__, self._numbers.values))
            self._words = [self._words[number] for number in used]
            self._number_of = {word: number for number, word in enumerate(self._words)}
            self._packed = b""
        if not self._packed:
            self._packed = deflated(json.dumps(self._words, separators=(",", ":")).encode())
        return len(self._packed).to_bytes(4, "little") + self._packed + self._numbers.pack()

    @classmethod
    def unpack(cls, kinds: tuple[type, ...], packed: bytes, count: int) -> "Words":
        """Raises ValueError, LookupError, TypeError or zlib.error where `packed` isn't `count` words of those kinds."""
        size = int.from_bytes(packed[:4], "little")
        if len(packed) < 4 + size:
            raise ValueError("words are cut short")
        words = json.loads(inflated(packed[4 : 4 + size]))
        if tuple in kinds:
            words = [tuple(word) for word in words]
        numbers = Numbers.unpack("i", packed[4 + size :], count)
        if not all(_is_of(word, kinds) for word in words) or len(set(words)) != len(words):
            raise ValueError("words are of another kind, or there twice")
        if not _all_under(numbers.values, len(words)):
            raise ValueError("a word is missing")
        return cls._with(kinds, words, numbers, packed[4 : 4 + size])

    @classmethod
    def _with(cls, kinds: tuple[type, ...], words: list[Any], numbers: Numbers, packed: bytes = b"") -> "Words":
        made = cls(kinds)
        made._words, made._numbers, made._packed = list(words), numbers, packed
        made._number_of = {word: number for number, word in enumerate(words)}
        return made

    def _numbered(self, values: Sequence[Any]) -> list[int]:
        """Raises TypeError where a value is of another kind."""
        number_of = self._number_of
        for value in dict.fromkeys(values):
            if value in number_of:
                continue
            if not _is_of(value, self._kinds):
                raise TypeError(f"{value!r} is of none of {self._kinds}")
            number_of[value] = len(self._words)
            self._words.append(value)
            self._packed = b""
        return [number_of[value] for value in values]


def replaced(values: Any, places: Sequence[int], fresh: Any) -> bool:
    """Sets values at places that ascend, at once where these are neighbours; False if all are so already."""
    if places and places[-1] - places[0] + 1 == len(places):
        run = slice(places[0], places[-1] + 1)
        if values[run] == fresh:
            return False
        values[run] = fresh
        return True
    changed = [(at, new) for at, new in zip(places, fresh, strict=True) if values[at] != new]
    for at, new in changed:
        values[at] = new
    return bool(changed)


def deflated(raw: bytes) -> bytes:
    """Bytes in fewer bytes where that can be, behind a letter that says whether it could."""
    packed = zlib.compress(raw, 1, _BARE)
    return _DEFLATED + packed if len(packed) < len(raw) else _RAW + raw


def inflated(packed: bytes) -> bytes:
    """What was deflated. Raises zlib.error or ValueError."""
    if packed[:1] == _RAW:
        return packed[1:]
    if packed[:1] != _DEFLATED:
        raise ValueError(f"{packed[:1]!r} is no way to pack bytes")
    inflating = zlib.decompressobj(_BARE)
    raw = inflating.decompress(packed[1:])
    if not inflating.eof or inflating.unused_data:
        raise ValueError("a stream is cut short, or something stands behind it")
    return raw


def _is_of(word: Any, kinds: tuple[type, ...]) -> bool:
    match word:
        case tuple():
            return tuple in kinds and [str, str] == [*map(type, word)]
        case int():
            return type(word) in kinds and -_MOST <= word < _MOST
    return type(word) in kinds


def _all_under(numbers: "array[int]", limit: int) -> bool:
    """Whether all 32-bit numbers are from 0 to under the limit; quickly where that is under 256."""
    raw = numbers.tobytes()
    high = raw[1::4] + raw[2::4] + raw[3::4]
    if limit <= _BYTE and high.count(0) == len(high):
        return not raw[::4].translate(None, bytes(range(limit)))
    return all(0 <= number < limit for number in set(numbers))
