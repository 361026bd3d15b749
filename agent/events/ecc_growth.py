"""Growth of memory errors that GPUs count (ECC)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Mapping

from agent.events.event import event
from agent.records.record import Record

KIND = "gpu_ecc"
MIN_CORRECTED = 100
"""Corrected errors within one interval below which there is no event: single ones are harmless and common."""
EccCounts = Mapping[str, Mapping[str, int]]
"""Counts since the driver's start by GPU, then by `corrected` and `uncorrected`."""


class EccGrowth:
    """Compares counts every 60 s; the first ones are the baseline, and so are those after a reset."""

    name = "ecc_growth"
    interval = 60.0

    def __init__(self, counts: Callable[[], EccCounts]) -> None:
        self._counts = counts
        self._last: EccCounts = counts()

    def collect(self, now: int) -> Iterable[Record]:
        """Yields an event for each GPU and kind that has grown; fields: `device`, `error_type`, `count`, `total`."""
        last, current = self._last, self._counts()
        self._last = {**last, **current}
        for device, kinds in current.items():
            for kind, total in kinds.items():
                grown = total - last.get(device, {}).get(kind, total)
                if grown >= (1 if kind == "uncorrected" else MIN_CORRECTED):
                    yield _event(device, kind, grown, total)


def _event(device: str, kind: str, grown: int, total: int) -> Record:
    errors = "error" if grown == 1 else "errors"
    message = f"GPU {device} counts {grown} more {kind} memory {errors}, {total} since its driver started."
    return event(KIND, message, {"device": device, "error_type": kind, "count": grown, "total": total})
