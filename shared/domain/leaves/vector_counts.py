"""Histograms and counts by minute of many lanes (64-bit numbers in one big integer), from byte planes.

A byte plane holds one byte of all lanes: the lowest, the second, and so on. Making a Python integer of each lane would
cost more than all other work. Instead, lookup tables translate a plane's bytes, and bytes are counted. Unsuitable
numbers (durations below 0 or over 49 days, ends many weeks apart) are counted one by one. `flags` select lanes: the
lowest bit of each is 0 or 1.
"""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import compress

from shared.domain.packing.bigint_simd import BigIntVector, chosen_by
from shared.domain.tasks.histograms import Histogram, bucket_of
from shared.domain.tasks.job_statistics import MINUTE, MINUTES

_WIDTH, _BYTES, _ALL = 64, 8, 255
_PLANES, _SHORT = 4, 32  # of durations under 2**32 ms, whose buckets fit a byte
_MIN, _NIBBLE = 8, 4  # a number's highest byte, from 8 on, determines its bucket
_BUCKETS = [
    bytes(bucket_of(byte << 8 * plane) if byte >= _MIN or not plane else 0 for byte in range(256))
    for plane in range(_PLANES)
]
_BUCKETS_BETWEEN = [  # for lesser bytes: from planes of the same numbers shifted right by four bits
    bytes(bucket_of(byte << 8 * plane + _NIBBLE) if byte >= _MIN else 0 for byte in range(256))
    for plane in range(_PLANES - 1)
]
_IS_SMALL = bytes(_ALL if byte < _MIN else 0 for byte in range(256))
_IS_ANY = bytes(_ALL if byte else 0 for byte in range(256))
_SPAN = 35  # bits of milliseconds that multiplication turns into exact minutes: over a year
_EVEN, _POINT = 5, 40  # a minute is 1,875 times 2**5 ms; x // 1875 is x * _FACTOR >> 40 for x under 2**30
_FACTOR = -(-(1 << _POINT) // (MINUTE >> _EVEN))


def histogram_of(lanes: BigIntVector, flags: int) -> Histogram:
    """Returns the histogram of the selected lanes, which are milliseconds."""
    if not flags:
        return Histogram()
    if lanes.plain & ((flags << _WIDTH) - (flags << _SHORT)):
        return Histogram.of(_picked(lanes, flags))
    values = lanes.plain & ((flags << _SHORT) - flags)
    numbers = _counted(_buckets(values, lanes.count))
    numbers[0] = numbers.get(0, 0) - lanes.count + flags.bit_count()
    return Histogram(_sum(values, lanes.count), tuple(sorted(one for one in numbers.items() if one[1])))


def minutes_of(moments: BigIntVector, flags: int, *, about: int) -> tuple[tuple[int, int], ...]:
    """Returns (minute, number of selected lanes in it) of the newest MINUTES minutes with any.

    `about` is a moment within a few days of most lanes.
    """
    if not flags:
        return ()
    base = (about - (1 << _SPAN - 1)) // MINUTE
    since = moments.less(base * MINUTE).plain
    if since & ((flags << _WIDTH) - (flags << _SPAN)):
        return _minutes_one_by_one(_picked(moments, flags))
    few = since & ((flags << _SPAN) - flags)
    minutes = ((few >> _EVEN) & ((flags << _SPAN - _EVEN) - flags)) * _FACTOR >> _POINT
    low, middle, high = _planes(minutes, moments.count)[:3]
    chosen = _mask(chosen_by(flags, moments.count).translate(_IS_ANY))
    there = high[_first(chosen)]
    if chosen & ~_mask(high.translate(_is(there))):
        return _minutes_one_by_one(_picked(moments, flags))
    return _newest(low, middle, chosen, base + (there << 16))


def _newest(low: bytes, middle: bytes, chosen: int, base: int) -> tuple[tuple[int, int], ...]:
    """Returns the newest minutes since `base` with their numbers, from the two bytes of each chosen row."""
    found: list[tuple[int, int]] = []
    for block in sorted(set(middle), reverse=True):
        rows = chosen & _mask(middle.translate(_is(block)))
        if rows and len(found) < MINUTES:
            numbers = _counted((_mask(low) & rows).to_bytes(len(low), "little"))
            numbers[0] = numbers.get(0, 0) - len(low) + rows.bit_count() // 8
            found += ((base + (block << 8) + minute, numbers[minute]) for minute in sorted(numbers, reverse=True))
    return tuple(sorted(one for one in found if one[1])[-MINUTES:])


def _buckets(values: int, count: int) -> bytes:
    """Returns the bucket of each lane, from its highest byte that isn't 0."""
    planes, between = _planes(values, count), _planes(values >> _NIBBLE, count)
    buckets, done = 0, 0
    for at in reversed(range(_PLANES)):
        plane = planes[at]
        if plane.count(0) < count:
            buckets_here, here = _mask(plane.translate(_BUCKETS[at])), _mask(plane.translate(_IS_ANY))
            if at:
                small = _mask(plane.translate(_IS_SMALL))
                buckets_here |= _mask(between[at - 1].translate(_BUCKETS_BETWEEN[at - 1])) & small
            buckets |= buckets_here & (here ^ (here & done))
            done |= here
    return buckets.to_bytes(count, "little")


def _counted(plane: bytes) -> dict[int, int]:
    """Returns the frequency of each byte, several times as fast as a `Counter` where few bytes differ."""
    numbers: dict[int, int] = {}
    while plane:
        rest = plane.translate(None, plane[:1])
        numbers[plane[0]] = len(plane) - len(rest)
        plane = rest
    return numbers


def _planes(values: int, count: int) -> list[bytes]:
    raw = values.to_bytes(_BYTES * count, "little")
    return [raw[place::_BYTES] for place in range(_PLANES)]


def _sum(values: int, count: int) -> int:
    """Returns the sum of lanes below 2**32, by adding the upper half to the lower until one is left."""
    while count > 1:
        count = (count + 1) // 2
        upper = values >> _WIDTH * count
        values = upper + (values ^ (upper << _WIDTH * count))
    return values


def _minutes_one_by_one(moments: Iterable[int]) -> tuple[tuple[int, int], ...]:
    ordered = sorted(moments)
    numbers: list[tuple[int, int]] = []
    end = len(ordered)
    while end and len(numbers) < MINUTES:
        minute = ordered[end - 1] // MINUTE
        start = bisect_left(ordered, minute * MINUTE, 0, end)
        numbers.append((minute, end - start))
        end = start
    return tuple(reversed(numbers))


def _picked(lanes: BigIntVector, flags: int) -> Iterable[int]:
    return compress(lanes.values(), chosen_by(flags, lanes.count))


def _mask(plane: bytes) -> int:
    return int.from_bytes(plane, "little")


def _first(mask: int) -> int:
    """Returns the index of the first byte that isn't 0."""
    return ((mask & -mask).bit_length() - 1) // 8


def _is(wanted: int) -> bytes:
    return bytes(wanted) + b"\xff" + bytes(_ALL - wanted)
