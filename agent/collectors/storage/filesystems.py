"""Space and inodes of file systems on the node's disks: Telegraf's `disk`, and `batchscope_filesystem`.

`batchscope_filesystem` has `fill_bytes_per_second` (below 0 while it empties) and, if the file system is full within a
week at that rate, `seconds_until_full`. Network file systems are left out, as looking at one can stop the agent.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import percent_of
from agent.collectors.storage.fill_rate import FillRate
from agent.collectors.storage.mounts import Mount, local_file_systems, mounts_of
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.records.record import Record, Value

MAX_FILE_SYSTEMS = 64


class FileSystemsCollector:
    """Measures how full the file systems are, and when they will be."""

    name = "filesystems"

    def __init__(self, machine: Machine, clock: Clock, interval: float = 60.0) -> None:
        self.interval = interval
        self._machine = machine
        self._clock = clock
        self._rates: dict[str, FillRate] = {}
        if not self._mounts():
            raise UnsupportedError("No file system on a disk of the node is mounted where the agent can see it.")

    def collect(self, now: int) -> Iterable[Record]:
        rates, self._rates = self._rates, {}
        for mount in self._mounts():
            status = self._status(mount)
            if status:
                self._rates[mount.path] = rates.get(mount.path, FillRate())
                yield Record("disk", space_fields(status), _tags(mount))
                yield from self._forecast(mount, status)

    def _mounts(self) -> list[Mount]:
        return local_file_systems(mounts_of(self._machine))[:MAX_FILE_SYSTEMS]

    def _status(self, mount: Mount) -> os.statvfs_result | None:
        """Returns a file system's size and use; None where it can't be looked at or has no size."""
        try:
            status = self._machine.statvfs(self._machine.path(mount.path))
        except OSError:
            return None
        return status if status.f_blocks > 0 else None

    def _forecast(self, mount: Mount, status: os.statvfs_result) -> Iterable[Record]:
        rate = self._rates[mount.path]
        rate.add(self._clock.monotonic(), (status.f_blocks - status.f_bfree) * status.f_frsize)
        speed, left = rate.bytes_per_second(), rate.seconds_until_full(status.f_bavail * status.f_frsize)
        if speed is not None:
            fields: dict[str, Value] = {"fill_bytes_per_second": round(speed, 1)}
            fields.update({} if left is None else {"seconds_until_full": round(left, 1)})
            yield Record("batchscope_filesystem", fields, _tags(mount))


def space_fields(status: os.statvfs_result) -> dict[str, Value]:
    """Returns Telegraf's fields: `free` is usable by programs without privileges, and percentages are theirs."""
    free, used = status.f_bavail * status.f_frsize, (status.f_blocks - status.f_bfree) * status.f_frsize
    space = {
        "total": status.f_blocks * status.f_frsize,
        "free": free,
        "used": used,
        "used_percent": percent_of(used, used + free),
    }
    return {**space, **_inode_fields(status.f_files, status.f_ffree)}


def _inode_fields(total: int, free: int) -> dict[str, Value]:
    """Returns nothing for file systems that have no fixed number of inodes."""
    if total <= 0:
        return {}
    used = max(total - free, 0)
    return {
        "inodes_total": total,
        "inodes_free": free,
        "inodes_used": used,
        "inodes_used_percent": percent_of(used, total),
    }


def _tags(mount: Mount) -> dict[str, str]:
    device = mount.source[len("/dev/") :] if mount.source.startswith("/dev/") else mount.source
    return {"path": mount.path, "device": device, "fstype": mount.type, "mode": "ro" if mount.is_read_only else "rw"}
