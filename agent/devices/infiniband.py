"""InfiniBand ports from sysfs, as Telegraf's `infiniband`: the kernel's counters as they are, data in 4-byte words."""

from __future__ import annotations

from collections.abc import Iterable

from agent.collectors.collector import UnsupportedError
from agent.machine.machine import Machine
from agent.records.record import Record, Value

MEASUREMENT = "infiniband"
MAX_PORTS, MAX_COUNTERS = 64, 64
_CLASS = "/sys/class/infiniband"


class InfinibandPorts:
    """The collector of InfiniBand ports. `interval` is in seconds."""

    name = "infiniband"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        if not self._ports():
            raise UnsupportedError("The node has no InfiniBand port with counters.")

    def collect(self, now: int) -> Iterable[Record]:
        """Returns a record for each port; ports come and go with their driver."""
        return [
            Record(MEASUREMENT, self._counters(device, port), {"device": device, "port": port})
            for device, port in self._ports()
        ]

    def _ports(self) -> list[tuple[str, str]]:
        names = self._machine.names
        found = [(device, port) for device in names(_CLASS)[:MAX_PORTS] for port in names(f"{_CLASS}/{device}/ports")]
        return [pair for pair in found[:MAX_PORTS] if names(_folder(*pair))]

    def _counters(self, device: str, port: str) -> dict[str, Value]:
        folder = _folder(device, port)
        read = {name: self._machine.whole(f"{folder}/{name}") for name in self._machine.names(folder)[:MAX_COUNTERS]}
        return {name: value for name, value in read.items() if value is not None}


def _folder(device: str, port: str) -> str:
    return f"{_CLASS}/{device}/ports/{port}/counters"
