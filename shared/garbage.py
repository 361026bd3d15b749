"""Tuning of this process's cyclic garbage collector.

The packed cache is a few large objects, but folding creates hundreds of thousands of small, short-lived ones without
cycles. The interpreter's default thresholds, made for small heaps, traverse them repeatedly: a sixth of the CPU of a
delta over all of a million tasks (`bench delta`).

The collector counts objects, not bytes. The Azure SDKs leave 250 to 750 bytes an object in cycles, in requests of any
kind, so the first threshold is some 35 MB of garbage at most. Survivors are collected soon: with the earlier 20 and 100
for the other thresholds, hundreds of megabytes waited for hours.

After each full collection the C library returns free memory to the system. Otherwise it keeps free blocks between live
ones: 15 to 20 MB a host after an hour and a half of `prove soak`. The interpreter makes no full collection until new
surviving objects are a quarter of the old ones, which never happens in a host that serves requests. So one is made
every two minutes, after the next collection of new objects. It takes some 50 ms, and returning memory may take as long
again.

Free memory can be returned only where nothing live lies between. So threads share one heap of the C library (it would
create up to eight a core, each with its own holes), and large blocks, such as bodies and packed columns, always come
from the system and return to it at once. By default they do so only until the first large one is freed. Heaps of
threads that began before stay and are shared, too; if there are more than eight by then, the limit has no effect.
"""

import asyncio
import gc
import sys
from contextlib import suppress
from typing import Any

_THRESHOLDS = (50_000, 4, 4)
_OLDEST = 2  # generation
_FULL_SECONDS = 120.0
_MAX_HEAPS = (-8, 1)  # parameter and value of glibc's mallopt, M_ARENA_MAX
_LARGE_BLOCK = (-3, 256 * 1024)  # M_MMAP_THRESHOLD, bytes


def collect_rarely() -> None:
    """Sets thresholds, callbacks and the C library's allocation for the whole process; call it at its start.

    It costs some 30 MB at the peak of a delta of a million tasks.
    """
    gc.set_threshold(*_THRESHOLDS)
    gc.callbacks[:] = [
        one for one in gc.callbacks if one != _return_free_memory and not isinstance(one, _FullNowAndThen)
    ]
    if sys.platform == "linux":
        gc.callbacks.append(_return_free_memory)
        _keep_free_memory_together()
    with suppress(RuntimeError):  # without a running loop, as in benchmarks
        gc.callbacks.append(_FullNowAndThen(asyncio.get_running_loop()))


class _FullNowAndThen:
    """A callback that makes the event loop run a full collection two minutes after the last one.

    No collection can start before the one that calls this ends, even in another thread. If that suppresses a full
    collection, the next collection of new objects requests it again.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._last, self._is_asked_for = loop, loop.time(), False

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if phase != "stop" or self._loop.is_closed():
            return
        now = self._loop.time()
        if info["generation"] == _OLDEST:
            self._last = now
        elif now - self._last >= _FULL_SECONDS and not self._is_asked_for:
            self._is_asked_for = True
            self._loop.call_soon_threadsafe(self._collect)

    def _collect(self) -> None:
        self._is_asked_for = False
        gc.collect()


def _keep_free_memory_together() -> None:
    """Makes glibc create no more heaps, and use the system for large blocks; other C libraries lack the call."""
    import ctypes

    set_parameter = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_parameter:
        for parameter, value in (_MAX_HEAPS, _LARGE_BLOCK):
            set_parameter(parameter, value)


def _return_free_memory(phase: str, info: dict[str, Any]) -> None:
    """Returns glibc's free memory to the system after a collection of the oldest generation."""
    if phase != "stop" or info["generation"] != _OLDEST:
        return
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
