"""Generous bounds on the CPU and memory of a piece of work, which quadratic or unbounded work exceeds."""

import gc
import re
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MIB = 1 << 20


_TEXT = 'key = "value", --password x; ' * 400
_PATTERN = re.compile(r"(?i)\b(?:pass\w*|secret)\s+(\S+)")
_USUAL = 0.006  # seconds that the reference work takes on a machine on which bounds are seconds


@contextmanager
def quick(seconds: float, subject: object) -> Iterator[None]:
    """Bounds CPU by the seconds on a machine of usual speed; a slower machine gets proportionally more."""
    begin = time.process_time()
    yield
    took = time.process_time() - begin
    if took < seconds:
        return
    slower = _reference() / _USUAL
    assert took < seconds * slower, f"{took:.1f} s of CPU, on a machine {slower:.1f} times slower: {subject!r}"


def _reference() -> float:
    """Returns the seconds of CPU that a fixed piece of work takes now, the least of three."""
    return min(_timed_reference() for _ in range(3))


def _timed_reference() -> float:
    begin = time.process_time()
    for _ in range(4):
        _PATTERN.sub("_", _TEXT)
        sorted(_TEXT)
        sum(number * number for number in range(20_000))
    return time.process_time() - begin


def megabytes(work: Callable[[], object]) -> tuple[float, float]:
    """Returns the peak allocation, and the rest while the result lives, in megabytes."""
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        left = tracemalloc.get_traced_memory()[0]
        del result
    finally:
        tracemalloc.stop()
    return peak / MIB, left / MIB
