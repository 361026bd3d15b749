"""Use and limits of a control group, in the same units for both versions."""

from __future__ import annotations

import os
from typing import NamedTuple

from agent.collectors.cgroups.hierarchy import Hierarchy
from agent.collectors.kernel_text import named_wholes, whole_of, wholes_of
from agent.machine.machine import Machine

_MICRO = 1000  # nanoseconds
_UNLIMITED = 1 << 60  # bytes: version 1 has a number for no limit, which depends on the size of pages
_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class MemoryUsage(NamedTuple):
    """Memory in bytes; None if the kernel doesn't report it, a limit of None is no limit.

    `inactive` is page cache that the kernel drops first, `anonymous` the processes' own memory.
    """

    usage: int
    limit: int | None
    peak: int | None
    inactive: int
    anonymous: int | None
    oom_kills: int | None


class CpuUsage(NamedTuple):
    """CPU time in nanoseconds; `limit` is a number of cores, None for no limit.

    `throttled` is the time for which the group had to wait for its next period, of which there were `periods`.
    """

    total: int
    user: int | None
    system: int | None
    limit: float | None
    periods: int
    throttled_periods: int
    throttled: int


class IoUsage(NamedTuple):
    """Bytes and operations on all devices together."""

    read_bytes: int
    write_bytes: int
    reads: int
    writes: int


class CgroupUsage:
    """Reads the files of control groups; unreadable values are None."""

    def __init__(self, machine: Machine, hierarchy: Hierarchy) -> None:
        self._machine = machine
        self._hierarchy = hierarchy

    def memory(self, group: str) -> MemoryUsage | None:
        folder = self._hierarchy.folder("memory", group)
        if folder is None:
            return None
        return self._memory2(folder.path) if folder.is_unified else self._memory1(folder.path)

    def cpu(self, group: str) -> CpuUsage | None:
        """Returns the CPU time of a group; in version 1 it has the same path for both of its controllers."""
        folder = self._hierarchy.folder("cpuacct", group)
        limits = self._hierarchy.folder("cpu", group)
        if folder is None or limits is None:
            return None
        return self._cpu2(folder.path) if folder.is_unified else self._cpu1(folder.path, limits.path)

    def io(self, group: str) -> IoUsage | None:
        folder = self._hierarchy.folder("blkio", group)
        if folder is None:
            return None
        return self._io2(folder.path) if folder.is_unified else self._io1(folder.path)

    def _memory1(self, path: str) -> MemoryUsage | None:
        usage, limit = self._whole(f"{path}/memory.usage_in_bytes"), self._whole(f"{path}/memory.limit_in_bytes")
        if usage is None:
            return None
        details = self._numbers(f"{path}/memory.stat")
        return MemoryUsage(
            usage,
            None if limit is None or limit >= _UNLIMITED else limit,
            self._whole(f"{path}/memory.max_usage_in_bytes"),
            details.get("total_inactive_file", 0),
            details.get("total_rss"),
            self._numbers(f"{path}/memory.oom_control").get("oom_kill"),
        )

    def _memory2(self, path: str) -> MemoryUsage | None:
        usage = self._whole(f"{path}/memory.current")
        if usage is None:
            return None
        details = self._numbers(f"{path}/memory.stat")
        return MemoryUsage(
            usage,
            self._whole(f"{path}/memory.max"),
            self._whole(f"{path}/memory.peak"),
            details.get("inactive_file", 0),
            details.get("anon"),
            self._numbers(f"{path}/memory.events").get("oom_kill"),
        )

    def _cpu1(self, path: str, limits: str) -> CpuUsage | None:
        total = self._whole(f"{path}/cpuacct.usage")
        if total is None:
            return None
        modes, counts = self._numbers(f"{path}/cpuacct.stat"), self._numbers(f"{limits}/cpu.stat")
        quota, period = self._whole(f"{limits}/cpu.cfs_quota_us"), self._whole(f"{limits}/cpu.cfs_period_us")
        return CpuUsage(
            total,
            modes["user"] * _TICK if "user" in modes else None,
            modes["system"] * _TICK if "system" in modes else None,
            quota / period if quota and period and quota > 0 and period > 0 else None,
            counts.get("nr_periods", 0),
            counts.get("nr_throttled", 0),
            counts.get("throttled_time", 0),
        )

    def _cpu2(self, path: str) -> CpuUsage | None:
        found = self._numbers(f"{path}/cpu.stat")
        if "usage_usec" not in found:
            return None
        limit = wholes_of(self._machine.optional_text(f"{path}/cpu.max").split())
        return CpuUsage(
            found["usage_usec"] * _MICRO,
            found["user_usec"] * _MICRO if "user_usec" in found else None,
            found["system_usec"] * _MICRO if "system_usec" in found else None,
            limit[0] / limit[1] if len(limit) == 2 and limit[1] > 0 else None,  # noqa: PLR2004 - quota and period
            found.get("nr_periods", 0),
            found.get("nr_throttled", 0),
            found.get("throttled_usec", 0) * _MICRO,
        )

    def _io1(self, path: str) -> IoUsage | None:
        size = self._machine.optional_text(f"{path}/blkio.throttle.io_service_bytes_recursive")
        count = self._machine.optional_text(f"{path}/blkio.throttle.io_serviced_recursive")
        sums = (_sum1(size, "Read"), _sum1(size, "Write"), _sum1(count, "Read"), _sum1(count, "Write"))
        return IoUsage(*sums) if size else None

    def _io2(self, path: str) -> IoUsage | None:
        text = self._machine.optional_text(f"{path}/io.stat")
        return IoUsage(*(_sum2(text, name) for name in ("rbytes", "wbytes", "rios", "wios"))) if text else None

    def _whole(self, path: str) -> int | None:
        return whole_of(self._machine.optional_text(path))

    def _numbers(self, path: str) -> dict[str, int]:
        return named_wholes(self._machine.optional_text(path))


def _sum1(text: str, way: str) -> int:
    """Returns the sum of lines like `8:0 Read 4096`."""
    found = [words[2] for words in map(str.split, text.splitlines()) if len(words) == 3 and words[1] == way]  # noqa: PLR2004
    return sum(whole_of(word) or 0 for word in found)


def _sum2(text: str, name: str) -> int:
    """Returns the sum of words like `rbytes=4096` on all lines."""
    return sum(whole_of(word.partition("=")[2]) or 0 for word in text.split() if word.startswith(f"{name}="))
