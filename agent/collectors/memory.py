"""Memory of the node, from /proc/meminfo: Telegraf's `mem`, in bytes; huge pages are counted in pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import named_wholes, percent_of
from agent.machine.machine import Machine
from agent.records.record import Record, Value

SIZES = {
    "MemTotal": "total", "MemFree": "free", "MemAvailable": "available", "Buffers": "buffered", "Active": "active",
    "Inactive": "inactive", "Shmem": "shared", "Slab": "slab", "SReclaimable": "sreclaimable",
    "SUnreclaim": "sunreclaim", "Dirty": "dirty", "Writeback": "write_back", "Mapped": "mapped",
    "PageTables": "page_tables", "Committed_AS": "committed_as", "CommitLimit": "commit_limit",
    "SwapTotal": "swap_total", "SwapFree": "swap_free", "Hugepagesize": "huge_page_size",
}  # fmt: skip
COUNTS = {"HugePages_Total": "huge_pages_total", "HugePages_Free": "huge_pages_free"}
_CACHED = "Cached"
_NAMES = frozenset((*SIZES, *COUNTS, _CACHED))
KIB = 1024


class MemoryCollector:
    """Measures how the node's memory is used."""

    name = "memory"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        if "MemTotal" not in self._read():
            raise UnsupportedError("/proc/meminfo doesn't say how much memory there is, so memory can't be measured.")

    def collect(self, now: int) -> Iterable[Record]:
        return [Record("mem", fields_of(self._read()))]

    def _read(self) -> Mapping[str, int]:
        return named_wholes(self._machine.text("/proc/meminfo"), _NAMES)


def fields_of(found: Mapping[str, int]) -> dict[str, Value]:
    """Returns Telegraf's fields from the kernel's, which are in KiB."""
    fields: dict[str, Value] = {field: found[name] * KIB for name, field in SIZES.items() if name in found}
    fields.update({field: found[name] for name, field in COUNTS.items() if name in found})
    return {**fields, **_used(found)}


def _used(found: Mapping[str, int]) -> dict[str, Value]:
    """Returns cached and used memory: used, free, cached and buffered memory add up to the total."""
    if not {"MemTotal", "MemFree", "Buffers", _CACHED} <= set(found):
        return {}
    total, free = found["MemTotal"], found["MemFree"]
    cached = found[_CACHED] + found.get("SReclaimable", 0)
    used = total - free - found["Buffers"] - cached
    used = used if used >= 0 else total - free  # in containers whose files are a mixture of two machines
    return {"cached": cached * KIB, "used": used * KIB, "used_percent": percent_of(used, total)}
