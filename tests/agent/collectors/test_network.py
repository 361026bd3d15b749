"""Interfaces that lead out of the node, and connections by the kernel's own counts."""

import pytest

from agent.collectors.collector import UnsupportedError
from agent.collectors.connections import ConnectionsCollector
from agent.collectors.network import NetworkCollector
from tests.agent.collectors.tree import NOW, Tree, fields

HEAD = "Inter-| Receive | Transmit\n face |bytes packets errs\n"
USED = "1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0"


def shown(tree: Tree, *interfaces: str) -> list[str]:
    tree.write("/proc/net/dev", HEAD + "".join(f"  {name}: {USED}\n" for name in interfaces))
    return [each.tags["interface"] for each in NetworkCollector(tree.machine).collect(NOW)]


def test_an_interface_has_bytes_packets_errors_and_drops_both_ways(tree: Tree) -> None:
    tree.write("/proc/net/dev", f"{HEAD}  eth0:{USED}\n")
    assert fields(NetworkCollector(tree.machine).collect(NOW), "net", interface="eth0") == {
        "bytes_recv": 1000, "packets_recv": 10, "err_in": 1, "drop_in": 2,
        "bytes_sent": 2000, "packets_sent": 20, "err_out": 3, "drop_out": 4,
    }  # fmt: skip


def test_interfaces_inside_the_node_are_left_out(tree: Tree) -> None:
    assert shown(tree, "lo", "eth0", "veth12ab", "docker0", "br-55aa", "ib0", "../x") == ["eth0", "ib0"]


def test_a_bridge_of_any_name_is_left_out_but_not_what_is_connected_to_it(tree: Tree) -> None:
    tree.write("/sys/class/net/lan/bridge/bridge_id", "8000")
    tree.link("/sys/class/net/eth0/master", "../lan")
    assert shown(tree, "lan", "eth0") == ["eth0"]


def test_traffic_of_accelerated_networking_counts_once(tree: Tree) -> None:
    tree.link("/sys/class/net/enP1s1/master", "../../../eth0")
    assert shown(tree, "eth0", "enP1s1") == ["eth0"]


def test_traffic_of_a_vlan_counts_in_the_interface_below_it(tree: Tree) -> None:
    for name in ("eth0.100", "macvlan0"):
        tree.link(f"/sys/class/net/{name}/lower_eth0", "../eth0")
    assert shown(tree, "eth0", "eth0.100", "macvlan0") == ["eth0"]


def test_traffic_of_a_bond_counts_once_with_its_vlan(tree: Tree) -> None:
    for name in ("eth0", "eth1"):
        tree.link(f"/sys/class/net/{name}/master", "../bond0")
        tree.link(f"/sys/class/net/bond0/lower_{name}", f"../{name}")
    tree.link("/sys/class/net/bond0.7/lower_bond0", "../bond0")
    assert shown(tree, "eth0", "eth1", "bond0", "bond0.7") == ["bond0"]


def test_unused_and_garbled_interfaces_are_left_out(tree: Tree) -> None:
    idle, broken = " ".join("0" * 16), USED.replace("2000", "x")
    tree.write("/proc/net/dev", f"{HEAD} eth0:{USED}\n eth1:{idle}\n eth2:{broken}\n")
    assert [each.tags["interface"] for each in NetworkCollector(tree.machine).collect(NOW)] == ["eth0"]


def test_a_node_with_loopback_only_says_so(tree: Tree) -> None:
    with pytest.raises(UnsupportedError, match="no interface"):
        shown(tree, "lo")


SNMP = """Ip: Forwarding InReceives
Ip: 1 99
Tcp: MaxConn CurrEstab InSegs OutSegs RetransSegs
Tcp: -1 7 100 90 5
Udp: InDatagrams InErrors
Udp: 3 1
"""


def test_connections_and_retransmits_are_the_kernels_counts(tree: Tree) -> None:
    tree.write("/proc/net/snmp", SNMP)
    tree.write("/proc/net/netstat", "TcpExt: SyncookiesSent ListenDrops TCPTimeouts\nTcpExt: 0 4 6\n")
    tree.write(
        "/proc/net/sockstat", "sockets: used 15\nTCP: inuse 9 orphan 0 tw 12 alloc 9 mem 1\nUDP: inuse 2 mem 0\n"
    )
    tree.write("/proc/net/sockstat6", "TCP6: inuse 1\nUDP6: inuse 3\n")
    records = list(ConnectionsCollector(tree.machine).collect(NOW))
    assert fields(records, "netstat") == {"tcp_established": 7, "tcp_time_wait": 12, "udp_socket": 5}
    assert fields(records, "nstat", name="snmp") == {
        "TcpInSegs": 100, "TcpOutSegs": 90, "TcpRetransSegs": 5, "UdpInErrors": 1,
    }  # fmt: skip
    assert fields(records, "nstat", name="netstat") == {"TcpExtListenDrops": 4, "TcpExtTCPTimeouts": 6}


def test_a_missing_or_garbled_file_costs_its_own_fields_only(tree: Tree) -> None:
    tree.write("/proc/net/snmp", SNMP.replace("Ip: 1 99\n", "").replace(" 5\n", " x\n"))
    records = list(ConnectionsCollector(tree.machine).collect(NOW))
    assert fields(records, "netstat") == {"tcp_established": 7}
    assert "TcpRetransSegs" not in fields(records, "nstat", name="snmp")
    assert len(records) == 2


def test_without_any_of_its_files_connections_are_not_measured(tree: Tree) -> None:
    with pytest.raises(UnsupportedError, match="None of"):
        ConnectionsCollector(tree.machine)
