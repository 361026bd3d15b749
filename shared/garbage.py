"""How often this process looks for garbage in cycles.

The packed cache is a few large objects, but folding makes hundreds of thousands of small ones that live for a moment
and are in no cycle. The interpreter's own thresholds, made for small heaps, walk them all again and again: a sixth of
the CPU of a delta all over a million tasks (`bench delta`).
"""

import gc

_THRESHOLDS = (100_000, 20, 100)


def collect_rarely() -> None:
    """For the whole process, so only at its start. Costs some 30 MB at the peak of a delta of a million tasks."""
    gc.set_threshold(*_THRESHOLDS)
