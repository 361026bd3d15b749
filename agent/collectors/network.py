"""Traffic of network interfaces, from /proc/net/dev: Telegraf's `net`, counted since the interface exists.

Interfaces inside the node (loopback, containers, bridges) are left out, and those that belong to another one that is
measured: traffic of Azure's accelerated networking counts in eth0 already, that of a bond's parts in the bond, that of
a VLAN in the interface below it. Telegraf measures all of them, so its sums count such traffic twice.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import wholes_of
from agent.machine.machine import Machine
from agent.records.record import Record

_INSIDE = re.compile(r"lo$|veth|docker|br-|virbr|cni|cali|flannel|azv|ifb|dummy|tunl|sit|gre|nlmon|/|\.")
_INTERFACES, _LOWER = "/sys/class/net", "lower_"
_MIN_NUMBERS = 12
MAX_INTERFACES = 64
_COLUMNS = {
    "bytes_recv": 0, "packets_recv": 1, "err_in": 2, "drop_in": 3,
    "bytes_sent": 8, "packets_sent": 9, "err_out": 10, "drop_out": 11,
}  # fmt: skip


class NetworkCollector:
    """Measures bytes, packets, errors and drops of the interfaces that lead out of the node."""

    name = "network"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        if not self._interfaces():
            raise UnsupportedError("/proc/net/dev has no interface that leads out of the node and was in use.")

    def collect(self, now: int) -> Iterable[Record]:
        interfaces = self._interfaces()
        for name, numbers in interfaces.items():
            if self._master(name) not in interfaces and not self._is_above(name, interfaces):
                yield Record("net", {field: numbers[at] for field, at in _COLUMNS.items()}, {"interface": name})

    def _interfaces(self) -> dict[str, list[int]]:
        """Returns the numbers of interfaces that may be measured."""
        found = counts_of(self._machine.text("/proc/net/dev"))
        outer = [name for name in found if not _INSIDE.match(name) and not self._is_bridge(name)]
        return {name: found[name] for name in outer[:MAX_INTERFACES]}

    def _is_bridge(self, name: str) -> bool:
        return self._machine.exists(f"{_INTERFACES}/{name}/bridge")

    def _is_above(self, name: str, interfaces: Container[str]) -> bool:
        """Returns whether another interface that is measured carries this one's traffic, as it does for a VLAN."""
        links = [link for link in self._machine.names(f"{_INTERFACES}/{name}") if link.startswith(_LOWER)]
        below = [link[len(_LOWER) :] for link in links]
        return any(lower in interfaces and self._master(lower) != name for lower in below)

    def _master(self, name: str) -> str:
        """Returns the interface that contains this one's traffic; empty for none."""
        return self._machine.link(f"{_INTERFACES}/{name}/master").rpartition("/")[2]


def counts_of(text: str) -> dict[str, list[int]]:
    """Returns the numbers of each interface that was ever used."""
    found = {}
    for line in text.splitlines():
        name, _, rest = line.rpartition(":")
        numbers = wholes_of(rest.split())
        if len(numbers) >= _MIN_NUMBERS and any(numbers):
            found[name.strip()] = numbers
    return found
