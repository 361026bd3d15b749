"""Pressure stall information, from /proc/pressure: Telegraf's `pressure`.

`total` is in microseconds since boot, the averages are in percent of the last 10, 60 and 300 seconds.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import fraction_of, whole_of
from agent.machine.machine import Machine
from agent.records.record import Record, Value

_TYPES = {"cpu": ("some",), "memory": ("some", "full"), "io": ("some", "full")}  # all of a node never wait for a CPU
_AVERAGES = ("avg10", "avg60", "avg300")


class PressureCollector:
    """Measures how long processes wait for CPU, memory and I/O."""

    name = "pressure"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        if not any(self._lines(resource) for resource in _TYPES):
            raise UnsupportedError("The kernel has no pressure stall information (it begins with Linux 4.20, psi=1).")

    def collect(self, now: int) -> Iterable[Record]:
        for resource, types in _TYPES.items():
            for line in self._lines(resource):
                kind, _, rest = line.partition(" ")
                if kind in types:
                    yield Record("pressure", stall_fields(rest), {"resource": resource, "type": kind})

    def _lines(self, resource: str) -> list[str]:
        return self._machine.optional_text(f"/proc/pressure/{resource}").splitlines()


def stall_fields(text: str) -> dict[str, Value]:
    """Returns the fields of a line like `avg10=0.00 avg60=0.00 avg300=0.00 total=12` that are numbers."""
    pairs = dict(word.partition("=")[::2] for word in text.split())
    averages = {name: fraction_of(pairs.get(name, "")) for name in _AVERAGES}
    found = {**averages, "total": whole_of(pairs.get("total", ""))}
    return {name: value for name, value in found.items() if value is not None}
