"""Load, number of processors and uptime of the node: Telegraf's `system`; uptime is in whole seconds."""

from __future__ import annotations

from collections.abc import Iterable

from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import fraction_of, whole_of
from agent.machine.machine import Machine
from agent.records.record import Record, Value

_PROCESSORS = "/sys/devices/system/cpu"
_LOADS = ("load1", "load5", "load15")


class SystemCollector:
    """Measures load and uptime."""

    name = "system"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        self._physical = physical_cores(machine)
        if not self._loads() and not self._uptime():
            raise UnsupportedError("Neither /proc/loadavg nor /proc/uptime can be read.")

    def collect(self, now: int) -> Iterable[Record]:
        return [Record("system", {**self._loads(), **self._uptime(), **self._processors()})]

    def _loads(self) -> dict[str, Value]:
        loads = map(fraction_of, self._machine.optional_text("/proc/loadavg").split())
        return {name: load for name, load in zip(_LOADS, loads) if load is not None}

    def _uptime(self) -> dict[str, Value]:
        seconds = fraction_of(self._machine.optional_text("/proc/uptime").partition(" ")[0])
        return {} if seconds is None else {"uptime": int(seconds)}

    def _processors(self) -> dict[str, Value]:
        found = {"n_cpus": online_cores(self._machine), "n_physical_cpus": self._physical}
        return {name: number for name, number in found.items() if number}


def online_cores(machine: Machine) -> int:
    """Returns the number of processors in use, 0 if the kernel doesn't say: `0-3,6` are five."""
    count = 0
    for part in filter(None, machine.optional_text(f"{_PROCESSORS}/online").split(",")):
        first, _, last = part.partition("-")
        low, high = whole_of(first), whole_of(last or first)
        if low is None or high is None or high < low:
            return 0
        count += high - low + 1
    return count


def physical_cores(machine: Machine) -> int:
    """Returns the number of cores without counting threads of the same core twice, 0 if the kernel doesn't say."""
    folders = [f"{_PROCESSORS}/{name}/topology" for name in machine.names(_PROCESSORS) if name[3:].isdecimal()]
    cores = {(machine.whole(f"{each}/physical_package_id"), machine.whole(f"{each}/core_id")) for each in folders}
    return len([core for core in cores if None not in core])
