"""Swap space of the node, from /proc/meminfo and /proc/vmstat: Telegraf's `swap`, in bytes; `in`, `out` since boot."""

from __future__ import annotations

import os
from collections.abc import Iterable

from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import named_wholes, percent_of
from agent.machine.machine import Machine
from agent.records.record import Record, Value

_KIB = 1024
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TRAFFIC = {"pswpin": "in", "pswpout": "out"}


class SwapCollector:
    """Measures the use of swap space; space that is added later shows in `mem` only."""

    name = "swap"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        if not self._space():
            raise UnsupportedError("The node has no swap space.")

    def collect(self, now: int) -> Iterable[Record]:
        return [Record("swap", {**self._space(), **self._traffic()})]

    def _space(self) -> dict[str, Value]:
        """Returns the use of space; nothing where there is none."""
        found = named_wholes(self._machine.optional_text("/proc/meminfo"), ("SwapTotal", "SwapFree"))
        total, free = found.get("SwapTotal", 0) * _KIB, found.get("SwapFree")
        if not total or free is None:
            return {}
        used = max(total - free * _KIB, 0)
        return {"total": total, "free": free * _KIB, "used": used, "used_percent": percent_of(used, total)}

    def _traffic(self) -> dict[str, Value]:
        pages = named_wholes(self._machine.optional_text("/proc/vmstat"), _TRAFFIC)
        return {_TRAFFIC[name]: number * _PAGE for name, number in pages.items()}
