"""OOM kills by the kernel's counters, for nodes whose log can't be read: they count, but name no process."""

from __future__ import annotations

from collections.abc import Iterable

from agent.collectors.collector import UnsupportedError
from agent.events.event import event
from agent.events.oom_kills import KIND
from agent.machine.machine import Machine
from agent.records.record import Record

_FILES = ("/proc/vmstat", "/sys/fs/cgroup/memory.events")
_COUNTER = "oom_kill"
_MAX_DIGITS = 20


class OomCounters:
    """Compares the counter of /proc/vmstat, which counts kills on the whole node, or of the agent's own cgroup."""

    name = "oom_counters"
    interval = 10.0

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._path = next((path for path in _FILES if oom_count(machine, path) is not None), "")
        if not self._path:
            raise UnsupportedError("The kernel doesn't count OOM kills.")
        self._last = oom_count(machine, self._path)

    def collect(self, now: int) -> Iterable[Record]:
        """Yields an event where the counter has grown; its field `count` says by how much."""
        last, self._last = self._last, oom_count(self._machine, self._path)
        if last is None or self._last is None or self._last <= last:
            return
        killed = self._last - last
        processes = "a process" if killed == 1 else f"{killed} processes"
        message = f"The kernel killed {processes} for lack of memory; its log, which names them, can't be read."
        yield event(KIND, message, {"count": killed})


def oom_count(machine: Machine, path: str) -> int | None:
    """Returns how many processes the kernel killed for lack of memory; None where a file doesn't say so."""
    for line in machine.optional_text(path).splitlines():
        name, _, value = line.partition(" ")
        if name == _COUNTER:
            return int(value) if value.isdecimal() and len(value) <= _MAX_DIGITS else None
    return None
