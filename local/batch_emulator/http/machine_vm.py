"""The node that this machine plays, and the name of its VM."""

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Node

_GONE = ("creating", "starting", "rebooting", "reimaging", "unusable", "unknown", "preempted", "deallocated")


def machine_node(emulator: Emulator) -> Node | None:
    """Returns the node that this machine plays, if there is one."""
    pools = (pool for simulation in emulator.simulations.values() for pool in simulation.account.pools.values())
    nodes = [node for pool in pools if pool.has_agent for node in pool.nodes.values()]
    booted = [node for node in nodes if node.booted is not None and node.state not in _GONE]
    return min(booted, key=lambda node: (node.allocated, node.id), default=None)


def resource_name(node: Node) -> str:
    """Returns the name of a node's VM, by which events call it."""
    return f"{node.pool.id}_{node.number}"
