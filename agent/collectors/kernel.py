"""Counts of the kernel since boot, from /proc/stat and /proc/vmstat: Telegraf's `kernel` and `kernel_vmstat`."""

from __future__ import annotations

from collections.abc import Iterable

from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import named_wholes
from agent.machine.machine import Machine
from agent.records.record import Record

_OF_STAT = {"ctxt": "context_switches", "btime": "boot_time", "processes": "processes_forked"}
_OF_VMSTAT = ("oom_kill", "pgmajfault", "pswpin", "pswpout")


class KernelCollector:
    """Measures forks, context switches, OOM kills, major faults and swapped pages; `boot_time` is in Unix seconds."""

    name = "kernel"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        if not self._records():
            raise UnsupportedError("Neither /proc/stat nor /proc/vmstat has the kernel's counts.")

    def collect(self, now: int) -> Iterable[Record]:
        return self._records()

    def _records(self) -> list[Record]:
        """Returns a record for each of the two files that can be read."""
        stat = named_wholes(self._machine.optional_text("/proc/stat"), _OF_STAT)
        vmstat = named_wholes(self._machine.optional_text("/proc/vmstat"), _OF_VMSTAT)
        records = [
            Record("kernel", {_OF_STAT[name]: number for name, number in stat.items()}),
            Record("kernel_vmstat", dict(vmstat)),
        ]
        return [record for record in records if record.fields]
