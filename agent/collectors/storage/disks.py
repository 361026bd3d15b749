"""Traffic of disks, from /proc/diskstats: Telegraf's `diskio`, counted since boot, times in milliseconds.

Whole devices and mounted partitions are measured if they were ever used; loop, RAM and optical devices are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import wholes_of
from agent.collectors.storage.mounts import mounts_of
from agent.machine.machine import Machine
from agent.records.record import Record, Value

MAX_DISKS = 64
_OTHERS = re.compile(r"(?:loop|ram|zram|sr|fd)\d|.*/")
_SECTOR = 512
_COUNTS = ("reads", "merged_reads", "read_sectors", "read_time", "writes", "merged_writes", "write_sectors",
           "write_time", "iops_in_progress", "io_time", "weighted_io_time")  # fmt: skip


class Disk(NamedTuple):
    """A device's counts since boot, by name; `device` is `major:minor`."""

    device: str
    name: str
    counts: Mapping[str, int]


class DisksCollector:
    """Measures operations, bytes and times of the disks."""

    name = "disks"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        if not self._disks():
            raise UnsupportedError("/proc/diskstats has no disk that was in use.")

    def collect(self, now: int) -> Iterable[Record]:
        return [Record("diskio", traffic_fields(disk.counts), {"name": disk.name}) for disk in self._disks()]

    def _disks(self) -> list[Disk]:
        mounted = self._mounted()
        found = disks_of(self._machine.text("/proc/diskstats"))
        return [disk for disk in found if disk.device in mounted or not self._is_partition(disk.name)][:MAX_DISKS]

    def _mounted(self) -> set[str]:
        try:
            return {mount.device for mount in mounts_of(self._machine)}
        except OSError:
            return set()

    def _is_partition(self, name: str) -> bool:
        return self._machine.exists(f"/sys/class/block/{name}/partition")


def disks_of(text: str) -> list[Disk]:
    """Returns the devices that were ever used."""
    found = []
    for line in text.splitlines():
        words = line.split()
        numbers = wholes_of(words[3 : 3 + len(_COUNTS)])
        if len(numbers) == len(_COUNTS) and any(numbers) and not _OTHERS.match(words[2]):
            found.append(Disk(":".join(words[:2]), words[2], dict(zip(_COUNTS, numbers))))
    return found


def traffic_fields(counts: Mapping[str, int]) -> dict[str, Value]:
    """Returns Telegraf's fields: bytes in place of sectors."""
    fields: dict[str, Value] = {name: count for name, count in counts.items() if not name.endswith("sectors")}
    sectors = {"read_bytes": counts["read_sectors"], "write_bytes": counts["write_sectors"]}
    return {**fields, **{name: count * _SECTOR for name, count in sectors.items()}}
