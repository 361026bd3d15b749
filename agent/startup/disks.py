"""Startup records of the disks, as `lsblk` lists them, and of NVMe drives, from /sys/block."""

from __future__ import annotations

from collections.abc import Iterable

from agent.machine.machine import Machine
from agent.records.record import Record
from agent.startup.once import fact, once

MAX_DISKS = 64
"""Disks that are listed; the app keeps as many."""
_SECTOR = 512  # bytes; sysfs counts in these for disks with any size of sectors
_OTHERS = ("loop", "ram", "zram", "sr", "fd", "dm-", "nbd")  # no disks of the node, or parts of others


def disk_records(machine: Machine) -> Iterable[Record]:
    """Yields `exec.lsblk` for each disk and RAID, and `nvme_metadata` for each NVMe drive; sizes are in bytes."""
    names = [name for name in machine.names("/sys/block") if not name.startswith(_OTHERS)]
    for name in names[:MAX_DISKS]:
        size = (machine.whole(f"/sys/block/{name}/size") or 0) * _SECTOR
        if size > 0:
            yield _disk(machine, name, size)
            if name.startswith("nvme"):
                yield _drive(machine, name, size)


def _disk(machine: Machine, name: str, size: int) -> Record:
    """Returns a disk's record; `rotational` is lsblk's ROTA, which virtual disks claim as well."""
    folder = f"/sys/block/{name}"
    fields = {
        "name": fact(name),
        "size": size,
        "model": _model(machine, name),
        "type": fact(machine.optional_text(f"{folder}/md/level")) or "disk",
        "rotational": machine.whole(f"{folder}/queue/rotational"),
        "scheduler": _scheduler(machine.optional_text(f"{folder}/queue/scheduler")),
    }
    return once("exec.lsblk", fields)


def _drive(machine: Machine, name: str, size: int) -> Record:
    folder = f"/sys/block/{name}"
    fields = {
        "name": fact(f"/dev/{name}"),
        "physical_size": size,
        "model": _model(machine, name),
        "firmware": fact(machine.optional_text(f"{folder}/device/firmware_rev")),
        "sector_size": machine.whole(f"{folder}/queue/logical_block_size"),
    }
    return once("nvme_metadata", fields)


def _model(machine: Machine, name: str) -> str | None:
    return fact(machine.optional_text(f"/sys/block/{name}/device/model"))


def _scheduler(text: str) -> str | None:
    """Returns the scheduler in use, which stands in brackets among the others."""
    return fact(text.partition("[")[2].partition("]")[0])
