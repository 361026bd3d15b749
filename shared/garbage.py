"""How often this process looks for garbage in cycles.

The packed cache is a few large objects, but folding makes hundreds of thousands of small ones that live for a moment
and are in no cycle. The interpreter's own thresholds, made for small heaps, walk them all again and again: a sixth of
the CPU of a delta all over a million tasks (`bench delta`).

The collector counts objects, not bytes. The Azure SDKs leave 250 to 750 bytes an object in cycles, whatever is asked
of them; so the first threshold is some 35 MB of garbage at most. What survives is looked at soon again: with 20 and 100
for the others, as they were once, hundreds of megabytes waited for hours.

After each full collection the C library returns free memory to the system. It would keep free blocks between live ones:
15 to 20 MB a host after an hour and a half of `prove soak`. The interpreter makes no full collection before the new
objects that survived are a quarter of the old ones, which is never in a host that serves requests. So one is made every
two minutes, after the next collection of new objects; it takes some 50 ms, and to return memory may take as long again.
"""

import asyncio
import gc
import sys
from contextlib import suppress
from typing import Any

_THRESHOLDS = (50_000, 4, 4)
_OLDEST = 2  # generation
_FULL_SECONDS = 120.0


def collect_rarely() -> None:
    """For the whole process, so only at its start. Costs some 30 MB at the peak of a delta of a million tasks."""
    gc.set_threshold(*_THRESHOLDS)
    gc.callbacks[:] = [
        one for one in gc.callbacks if one != _return_free_memory and not isinstance(one, _FullNowAndThen)
    ]
    if sys.platform == "linux":
        gc.callbacks.append(_return_free_memory)
    with suppress(RuntimeError):  # without a running loop, as in benchmarks
        gc.callbacks.append(_FullNowAndThen(asyncio.get_running_loop()))


class _FullNowAndThen:
    """Has the event loop make a full collection, where the last one is two minutes ago.

    None can begin before the one ends that calls this, be it in another thread: a full collection that comes to nothing
    by that is asked for again by the next one of new objects.
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


def _return_free_memory(phase: str, info: dict[str, Any]) -> None:
    """Returns free memory of glibc to the system after the oldest generation was collected."""
    if phase != "stop" or info["generation"] != _OLDEST:
        return
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
