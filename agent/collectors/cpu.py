"""CPU time of the node and its cores, from /proc/stat: Telegraf's `cpu`.

`usage_*` is in percent of the time since the last call, `time_*` (the total's only) in seconds since boot. Time of
guests isn't contained in `user` and `nice`, so that the modes add up to the whole. The kernel's idle and I/O waiting
times may fall, but `time_*` never does, as the app takes a fall for a new beginning.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Sequence

from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import percent_of, wholes_of
from agent.machine.machine import Machine
from agent.records.record import Record, Value

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
MAX_CORE_VALUES = 480
"""Values of all cores together; nodes of many cores report fewer modes, as the app keeps 1,000 series a node."""
_TOTAL = "cpu"
_MAX_SIZE = 512 << 10  # bytes of /proc/stat: the lines of 4,000 cores
_MIN_MODES = 4  # that every kernel has
_BY_IMPORTANCE = ("idle", "user", "system", "iowait", "steal", "softirq", "nice", "irq", "guest", "guest_nice")
_NEVER_BACK = tuple(map(MODES.index, ("system", "irq", "softirq")))  # the kernel corrects the others
_SECOND = os.sysconf("SC_CLK_TCK")

Times = Sequence[int]


class CpuCollector:
    """Measures how the processors spend their time."""

    name = "cpu"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        self._last: Mapping[str, Times] = {}
        self._total: Times = ()
        if not self._read():
            raise UnsupportedError("/proc/stat names no processor, so CPU time can't be measured.")

    def collect(self, now: int) -> Iterable[Record]:
        last, self._last = self._last, self._read()
        modes = core_modes(len(self._last) - 1)
        for name, times in self._last.items():
            shares = shares_of(times, last.get(name, ()))
            if name == _TOTAL:
                self._total = tuple(map(max, times, self._total)) or times
                yield Record("cpu", {**_usage(shares, MODES), **_times(self._total)}, {"cpu": "cpu-total"})
            elif modes and shares:
                yield Record("cpu", _usage(shares, _used(times, modes)), {"cpu": name})

    def _read(self) -> Mapping[str, Times]:
        return times_of(self._machine.content("/proc/stat", _MAX_SIZE).decode("ascii", "replace"))


def times_of(text: str) -> dict[str, Times]:
    """Returns the time spent in each of MODES, in ticks since boot, of `cpu` (all together) and of each core."""
    found = {}
    for line in text.splitlines():
        if line.startswith(_TOTAL):
            name, *words = line.split()
            times = wholes_of(words[: len(MODES)])
            if len(times) >= _MIN_MODES:
                found[name] = _without_guests(times)
    return found


def shares_of(times: Times, last: Times) -> dict[str, float]:
    """Returns the percentage of each mode since the last reading; none without one, or after a core began anew."""
    if not last or any(times[at] < last[at] for at in _NEVER_BACK):
        return {}
    grown = [max(new - old, 0) for new, old in zip(times, last)]
    total = sum(grown)
    return {mode: percent_of(ticks, total) for mode, ticks in zip(MODES, grown)} if total else {}


def core_modes(cores: int) -> Sequence[str]:
    """Returns the modes that are reported of each core, most important ones first."""
    return _BY_IMPORTANCE[: MAX_CORE_VALUES // max(cores, 1)]


def _without_guests(times: Sequence[int]) -> Times:
    padded = [*times, *[0] * (len(MODES) - len(times))]
    for mode, guest in (("user", "guest"), ("nice", "guest_nice")):
        at = MODES.index(mode)
        padded[at] = max(padded[at] - padded[MODES.index(guest)], 0)
    return padded


def _used(times: Times, modes: Sequence[str]) -> list[str]:
    """Returns the modes in which the core was at all since boot."""
    return [mode for mode in modes if times[MODES.index(mode)]]


def _usage(shares: Mapping[str, float], modes: Iterable[str]) -> dict[str, Value]:
    return {f"usage_{mode}": shares[mode] for mode in modes if mode in shares}


def _times(times: Times) -> dict[str, Value]:
    return {f"time_{mode}": round(ticks / _SECOND, 2) for mode, ticks in zip(MODES, times)}
