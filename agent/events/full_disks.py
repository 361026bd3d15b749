"""Collector of file systems that will be full in some minutes, or nearly are."""

from __future__ import annotations

from collections.abc import Iterable

from agent.collectors.collector import UnsupportedError
from agent.collectors.storage.mounts import local_file_systems, mounts_of
from agent.events.event import event
from agent.events.fill_rule import FillRule, Finding
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.records.record import Record, Value

KIND = "disk_full"
MAX_DISKS = 32


class FullDisks:
    """Samples local, writable file systems every 30 s."""

    name = "full_disks"
    interval = 30.0

    def __init__(self, machine: Machine, clock: Clock) -> None:
        self._machine = machine
        self._clock = clock
        self._rules: dict[str, FillRule] = {}
        if not _paths(machine):
            raise UnsupportedError("The node has no local file system.")

    def collect(self, now: int) -> Iterable[Record]:
        """Yields an event for each file system that is about to be full; fields are `path`, sizes and seconds."""
        paths = _paths(self._machine)
        self._rules = {path: self._rules.get(path) or FillRule() for path in paths}
        for path, rule in self._rules.items():
            finding = self._judged(path, rule)
            if finding is not None:
                yield _event(path, finding)

    def _judged(self, path: str, rule: FillRule) -> Finding | None:
        try:
            found = self._machine.statvfs(self._machine.path(path))
        except OSError:
            return None
        size, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
        return rule.judge(self._clock.monotonic(), free, size) if size else None


def _event(path: str, finding: Finding) -> Record:
    fields: dict[str, Value] = {"path": path, "free_bytes": finding.free, "fill_bytes_per_second": finding.rate}
    if finding.seconds is None:
        return event(KIND, f"The file system {path} is nearly full: {finding.free >> 20} MiB are left.", fields)
    minutes = max(int(finding.seconds / 60), 1)
    message = f"The file system {path} will be full in {minutes} min at the present rate."
    return event(KIND, message, {**fields, "seconds_left": finding.seconds})


def _paths(machine: Machine) -> list[str]:
    """Returns the mount points of local, writable file systems, one for each device."""
    try:
        mounts = local_file_systems(mounts_of(machine))
    except OSError:
        return []
    return [mount.path for mount in mounts if not mount.is_read_only][:MAX_DISKS]
