"""Holds a piece of work to an amount of CPU and memory: generous ones, that what is quadratic or unbounded exceeds."""

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MIB = 1 << 20


@contextmanager
def quick(seconds: float, what: object) -> Iterator[None]:
    begin = time.process_time()
    yield
    took = time.process_time() - begin
    assert took < seconds, f"{took:.1f} s of CPU: {what!r}"


def megabytes(work: Callable[[], object]) -> tuple[float, float]:
    """The most that was allocated at a time, and what still is while the result lives."""
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
