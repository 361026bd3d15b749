"""Disruptions of disks: a node's disk is full or read-only for a while, and its agent is killed.

While the disk takes nothing, units wait in memory, so that storage is without faults but where a step stops it.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from local.prove.agent.nodes.action_queue import ActionQueue
from local.prove.agent.nodes.node import Kind, Node
from local.prove.agent.nodes.node_disk import NodeDisk
from local.prove.agent.nodes.node_starter import NodeStarter

_FIRST = 8.0  # seconds until the first disruption
_READ_ONLY, _FULL = 40.0, 50.0  # seconds that all steps of a disruption take at most
_REFILL = 0.1


class DiskDisruptions:
    """Disrupts the disks of nodes by the actions of `queue`; `down` stops a node's storage, `done` counts."""

    def __init__(
        self, queue: ActionQueue, starter: NodeStarter, down: Callable[[str, float], None], done: Counter[str]
    ) -> None:
        self._queue, self._starter, self._down, self._done = queue, starter, down, done
        self._full: set[str] = set()

    def plan(self, node: Node, disk: NodeDisk, seconds: float) -> None:
        """Plans the disruptions of a node for some seconds."""
        steps, duration = (self._full_steps, _FULL) if node.kind is Kind.FULL else (self._read_only_steps, _READ_ONLY)
        begin = _FIRST
        while begin + duration <= seconds:
            self._queue.at(begin, partial(self._follow, steps(node, disk)))
            begin += duration

    def _follow(self, steps: Iterator[float]) -> None:
        """Runs the next step; the one after it follows some seconds later, however late this one is."""
        wait = next(steps, None)
        if wait is not None:
            self._queue.later(wait, partial(self._follow, steps))

    def _read_only_steps(self, node: Node, disk: NodeDisk) -> Iterator[float]:
        """Kills an agent that sent units which its disk doesn't show, and whose position is an older one."""
        self._done["disks read-only"] += 2
        disk.turn_read_only()
        yield 8.0
        self._down(node.name, 7.0)
        yield 0.5
        disk.turn_writable()
        yield 6.0
        begin = time.time_ns()
        disk.turn_read_only()
        yield 9.5
        self._kill(node, begin)
        disk.turn_writable()
        yield 0.5
        self._starter.start(node, node.commands)

    def _full_steps(self, node: Node, disk: NodeDisk) -> Iterator[float]:
        """Kills an agent that dropped units in memory, and sent the others, once its disk has room again."""
        self._done["disks full"] += 1
        self._full.add(node.name)
        self._refill(node, disk)
        yield 6.0
        self._down(node.name, 12.0)
        yield 24.0
        self._full.discard(node.name)
        disk.make_room()
        yield 8.0
        self._kill(node, time.time_ns())
        yield 0.5
        self._starter.start(node, node.commands)

    def _refill(self, node: Node, disk: NodeDisk) -> None:
        """Keeps a disk full: each unit that is removed makes room for another."""
        if node.name in self._full:
            disk.fill()
            self._queue.later(_REFILL, partial(self._refill, node, disk))

    def _kill(self, node: Node, begin: int) -> None:
        for life in node.alive:
            life.in_memory.append((begin, time.time_ns()))
            self._starter.kill(node, life.pid)
            self._done["kills beside a disk's fault"] += 1
