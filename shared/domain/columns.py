"""Packing of columns of numbers: differences that mostly vanish, in byte planes, so that a fast zlib finds them.

Every packed column is self-contained: a type code, then the planes. Nothing here knows what a task is.
"""

import struct
from array import array
from collections.abc import Iterable, Iterator
from itertools import accumulate
from operator import sub

type Numbers = array[int]
_CODES = {ord(code): code for code in "bhiq"}
_LENGTH = struct.Struct("<I")


def join(columns: Iterable[bytes]) -> bytes:
    """Columns one after another, each behind its length."""
    return b"".join(part for column in columns for part in (_LENGTH.pack(len(column)), column))


def parts(body: bytes) -> Iterator[bytes]:
    """What `join` joined. Raises struct.error on a body cut short."""
    at = 0
    while at < len(body):
        (size,) = _LENGTH.unpack_from(body, at)
        at += _LENGTH.size
        if at + size > len(body):
            raise struct.error(f"a column of {size} bytes is cut short")
        yield body[at : at + size]
        at += size


def pack_numbers(numbers: Numbers) -> bytes:
    """The narrowest of `b h i q` that holds all, its bytes sorted into planes (all low bytes first)."""
    code = _narrowest(numbers)
    raw = array(code, numbers).tobytes()
    width = array(code).itemsize
    return code.encode() + b"".join(raw[plane::width] for plane in range(width))


def unpack_numbers(packed: bytes) -> Numbers:
    """Signed 64-bit numbers, whatever width they were packed in. Raises LookupError or ValueError on anything else."""
    narrow: Numbers = array(_CODES[packed[0]])
    width, (count, rest) = narrow.itemsize, divmod(len(packed) - 1, narrow.itemsize)
    if rest:
        raise ValueError(f"{rest} bytes are no number")
    raw = bytearray(count * width)
    for plane in range(width):
        raw[plane::width] = packed[1 + plane * count : 1 + (plane + 1) * count]
    narrow.frombytes(bytes(raw))
    return array("q", narrow)


def pack_steps(numbers: Numbers) -> bytes:
    """Each number as the difference to the one before: tasks added together were created together."""
    return pack_numbers(array("q", map(sub, numbers, [0, *numbers[:-1]])))


def unpack_steps(packed: bytes) -> Numbers:
    return array("q", accumulate(unpack_numbers(packed)))


def pack_differences(numbers: Numbers, base: Numbers) -> bytes:
    """Each number as the difference to its neighbour in `base`.

    A zero (unknown) would make a huge difference, so 0 stands for unknown and differences from 0 up are shifted by one.
    """
    return pack_numbers(array("q", [_shift(n - b) if n else 0 for n, b in zip(numbers, base, strict=True)]))


def unpack_differences(packed: bytes, base: Numbers) -> Numbers:
    return array("q", [_unshift(d) + b if d else 0 for d, b in zip(unpack_numbers(packed), base, strict=True)])


def _shift(difference: int) -> int:
    return difference + 1 if difference >= 0 else difference


def _unshift(difference: int) -> int:
    return difference - 1 if difference > 0 else difference


def _narrowest(numbers: Numbers) -> str:
    low, high = (min(numbers), max(numbers)) if numbers else (0, 0)
    for code, bits in (("b", 7), ("h", 15), ("i", 31)):
        if -(1 << bits) <= low and high < 1 << bits:
            return code
    return "q"
