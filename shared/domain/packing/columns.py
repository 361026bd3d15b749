"""Columns of a leaf: parallel, quick to update and small to store.

Numbers are stored as a byte-stream split (all low bytes first), because most byte planes repeat one byte. A column
keeps its stored form until it changes, so only changed columns are packed again. This module knows nothing of tasks.
"""

import struct
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any, Protocol, Self

type Order = Callable[[Sequence[Any]], Iterable[Any]]  # picks rows in a new order
_RAW, _DEFLATED = b"r", b"z"
_NOTHING = _RAW  # the deflated form of no bytes
_BARE = -15  # zlib's window bits for a stream without header and checksum
# Errors that unpacking raises for damaged bytes.
DAMAGE = (zlib.error, struct.error, ValueError, TypeError, LookupError, OverflowError, RecursionError)


class Column(Protocol):
    """Rows by index, from 0. `new` rows replace those at `places`, which ascend."""

    def update(self, places: Sequence[int], new: Sequence[Any]) -> bool:
        """Sets rows. Returns False, and keeps the stored form, if all have these values already."""

    def insert(self, at: int, new: Sequence[Any]) -> None:
        """Inserts adjacent rows before index `at`, or after all."""

    def reorder(self, order: Order) -> None: ...

    def part(self, start: int, stop: int) -> Self: ...

    def pack(self) -> bytes: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Any: ...

    def __getitem__(self, at: int) -> Any: ...


class IntegerColumn:
    """Integers of one width: `B` (unsigned bytes), `i` or `q` (signed, 32 or 64 bits)."""

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

    def insert(self, at: int, new: Sequence[int]) -> None:
        self.values[at:at] = array(self.values.typecode, new)
        self._packed = None

    def reorder(self, order: Order) -> None:
        values = self.values
        if values.count(values[0]) < len(values):
            self.values = array(values.typecode, order(values))
            self._packed = None

    def part(self, start: int, stop: int) -> "IntegerColumn":
        return IntegerColumn(self.values.typecode, self.values[start:stop])

    @property
    def is_packed(self) -> bool:
        """True where nothing changed since packing or unpacking."""
        return self._packed is not None

    @property
    def is_steady(self) -> bool:
        """True where the stored form holds a single repeated number, and nothing changed since."""
        return self._packed is not None and not self._packed[0]

    def pack(self) -> bytes:
        """Returns a bit per byte plane that varies, the byte of each constant plane, and the varying planes."""
        if self._packed is None:
            raw, width = self.values.tobytes(), self.values.itemsize
            planes = [raw[place::width] for place in range(width)]
            varies = [plane.count(plane[:1]) != len(plane) for plane in planes]
            bits = sum(varying << place for place, varying in enumerate(varies))
            steady = b"".join(plane[:1] for plane, varying in zip(planes, varies, strict=True) if not varying)
            self._packed = bytes((bits,)) + steady + deflated(b"".join(compress(planes, varies)))
        return self._packed

    @classmethod
    def unpack(cls, code: str, packed: bytes, count: int) -> "IntegerColumn":
        """Returns the column of a stored form.

        Raises ValueError, LookupError or zlib.error where `packed` isn't `count` numbers of that width.
        """
        width = array(code).itemsize
        if not packed[0] and len(packed) == 1 + width + len(_NOTHING):
            return cls(code, packed[1 : 1 + width] * count, packed)
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
        return cls(code, bytes(raw), packed)


def replaced(values: Any, places: Sequence[int], fresh: Any) -> bool:
    """Sets values at ascending places, adjacent ones in one step. Returns False if all have these values already."""
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
    """Returns bytes after a letter for their form: deflated, or raw where that is no longer."""
    packed = zlib.compress(raw, 1, _BARE)
    return _DEFLATED + packed if len(packed) < len(raw) else _RAW + raw


def inflated(packed: bytes) -> bytes:
    """Returns the bytes given to `deflated`. Raises zlib.error or ValueError."""
    if packed[:1] == _RAW:
        return packed[1:]
    if packed[:1] != _DEFLATED:
        raise ValueError(f"{packed[:1]!r} is no way to pack bytes")
    inflating = zlib.decompressobj(_BARE)
    raw = inflating.decompress(packed[1:])
    if not inflating.eof or inflating.unused_data:
        raise ValueError("a stream is cut short, or something stands behind it")
    return raw
