"""TCP and UDP of the node: Telegraf's `netstat` (connections now) and `nstat` (counts since boot).

The counts of connections are the kernel's own, which cost the same however many there are. Established ones contain
those that only the other side has closed.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import whole_of
from agent.machine.machine import Machine
from agent.records.record import Record, Value

SNMP = frozenset((
    "TcpActiveOpens", "TcpPassiveOpens", "TcpAttemptFails", "TcpEstabResets", "TcpInSegs", "TcpOutSegs",
    "TcpRetransSegs", "TcpInErrs", "TcpOutRsts", "UdpInErrors", "UdpRcvbufErrors", "UdpSndbufErrors",
))  # fmt: skip
NETSTAT = frozenset((
    "TcpExtListenOverflows", "TcpExtListenDrops", "TcpExtTCPTimeouts", "TcpExtTCPLostRetransmit",
    "TcpExtTCPSynRetrans", "TcpExtTCPAbortOnMemory",
))  # fmt: skip
_ESTABLISHED = "TcpCurrEstab"
_SOCKETS = ("/proc/net/sockstat", "/proc/net/sockstat6")


class ConnectionsCollector:
    """Measures connections, retransmits and failures."""

    name = "connections"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        if not list(self.collect(0)):
            raise UnsupportedError("None of /proc/net/snmp, netstat and sockstat can be read.")

    def collect(self, now: int) -> Iterable[Record]:
        snmp = self._pairs("snmp")
        records = [
            Record("netstat", self._connections(snmp)),
            Record("nstat", _only(snmp, SNMP), {"name": "snmp"}),
            Record("nstat", _only(self._pairs("netstat"), NETSTAT), {"name": "netstat"}),
        ]
        return [record for record in records if record.fields]

    def _pairs(self, file: str) -> dict[str, int]:
        return protocol_counts(self._machine.optional_text(f"/proc/net/{file}"))

    def _connections(self, snmp: dict[str, int]) -> dict[str, Value]:
        sockets = socket_counts("\n".join(map(self._machine.optional_text, _SOCKETS)))
        udp = [sockets[name] for name in ("UDP inuse", "UDP6 inuse") if name in sockets]
        found = {
            "tcp_established": snmp.get(_ESTABLISHED),
            "tcp_time_wait": sockets.get("TCP tw"),
            "udp_socket": sum(udp) if udp else None,
        }
        return {name: number for name, number in found.items() if number is not None}


def protocol_counts(text: str) -> dict[str, int]:
    """Returns the numbers of pairs of lines like `Tcp: InSegs OutSegs` and `Tcp: 12 5`, as `TcpInSegs` and so on."""
    found = {}
    lines = text.splitlines()
    for names, numbers in zip(lines, lines[1:]):
        protocol, _, rest = names.partition(":")
        same, _, values = numbers.partition(":")
        if protocol == same:
            found.update({protocol + name: whole_of(word) for name, word in zip(rest.split(), values.split())})
    return {name: number for name, number in found.items() if number is not None}


def socket_counts(text: str) -> dict[str, int]:
    """Returns the numbers of lines like `TCP: inuse 1 tw 0`, as `TCP inuse` and so on."""
    found = {}
    for line in text.splitlines():
        protocol, _, rest = line.partition(":")
        words = rest.split()
        found.update({f"{protocol} {name}": whole_of(word) for name, word in zip(words[::2], words[1::2])})
    return {name: number for name, number in found.items() if number is not None}


def _only(counts: dict[str, int], names: frozenset[str]) -> dict[str, Value]:
    return {name: number for name, number in counts.items() if name in names}
