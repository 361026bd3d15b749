"""How often this process looks for garbage in cycles.

The packed cache is a few large objects, but folding makes hundreds of thousands of small ones that live for a moment
and are in no cycle. The interpreter's own thresholds, made for small heaps, walk them all again and again: a sixth of
the CPU of a delta all over a million tasks (`bench delta`).

The collector counts objects, not bytes. The Azure SDKs leave 250 to 750 bytes an object in cycles, whatever is asked
of them; so the first threshold is some 35 MB of garbage at most. What survives is looked at soon again: with 20 and 100
for the others, as they were once, hundreds of megabytes waited for hours.

After each full collection the C library returns free memory to the system. By itself it keeps free blocks that lie
between live ones: 15 to 20 MB a host after an hour and a half of `prove soak`.
"""

import gc
import sys
from typing import Any

_THRESHOLDS = (50_000, 4, 4)
_OLDEST = 2  # generation


def collect_rarely() -> None:
    """For the whole process, so only at its start. Costs some 30 MB at the peak of a delta of a million tasks."""
    gc.set_threshold(*_THRESHOLDS)
    if sys.platform == "linux" and _return_free_memory not in gc.callbacks:
        gc.callbacks.append(_return_free_memory)


def _return_free_memory(phase: str, info: dict[str, Any]) -> None:
    """Returns free memory of glibc to the system after the oldest generation was collected."""
    if phase != "stop" or info["generation"] != _OLDEST:
        return
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
