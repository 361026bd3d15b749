"""Builds the collectors of the whole node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from agent.collectors.cgroups.containers import ContainersCollector
from agent.collectors.cgroups.own_cgroup import OwnCgroupCollector
from agent.collectors.clocks.adjtimex import KernelClock
from agent.collectors.clocks.clock_offset import ClockOffsetCollector
from agent.collectors.collector import Collector, UnsupportedError
from agent.collectors.connections import ConnectionsCollector
from agent.collectors.cpu import CpuCollector
from agent.collectors.kernel import KernelCollector
from agent.collectors.memory import MemoryCollector
from agent.collectors.network import NetworkCollector
from agent.collectors.pressure import PressureCollector
from agent.collectors.processes import ProcessesCollector, State
from agent.collectors.storage.disks import DisksCollector
from agent.collectors.storage.filesystems import FileSystemsCollector
from agent.collectors.swap import SwapCollector
from agent.collectors.system import SystemCollector
from agent.machine.clock import Clock
from agent.machine.machine import Machine

DEFAULT_INTERVAL = 10.0
MIN_SLOW_INTERVAL = 60.0
"""Seconds between two looks at file systems and containers, unless the others are called less often."""

_PLAIN = (
    CpuCollector, MemoryCollector, SwapCollector, DisksCollector, NetworkCollector, ConnectionsCollector,
    SystemCollector, KernelCollector, PressureCollector, OwnCgroupCollector,
)  # fmt: skip


class NodeCollectors(NamedTuple):
    """The collectors that work on a node, and a sentence for each that it lacks the means for, by name."""

    working: list[Collector]
    notes: dict[str, str]


def node_collectors(
    machine: Machine,
    clock: Clock,
    *,
    states: Callable[[int], Iterable[State]],
    interval: float = DEFAULT_INTERVAL,
    kernel_clock: KernelClock | None = None,
) -> NodeCollectors:
    """Returns the collectors of a node, called every `interval` seconds.

    `states` returns the states of all processes at a time, from the pass that other parts of the agent share.
    """
    slow = max(interval, MIN_SLOW_INTERVAL)
    builders = {each.name: _builder(each, machine, interval) for each in _PLAIN}
    builders[ProcessesCollector.name] = lambda: ProcessesCollector(machine, states, interval)
    builders[ClockOffsetCollector.name] = lambda: ClockOffsetCollector(kernel_clock, interval)
    builders[FileSystemsCollector.name] = lambda: FileSystemsCollector(machine, clock, slow)
    builders[ContainersCollector.name] = lambda: ContainersCollector(machine, clock, slow)
    return _built(builders)


def _builder(
    collector: Callable[[Machine, float], Collector], machine: Machine, interval: float
) -> Callable[[], Collector]:
    return lambda: collector(machine, interval)


def _built(builders: dict[str, Callable[[], Collector]]) -> NodeCollectors:
    found = NodeCollectors([], {})
    for name, build in builders.items():
        result = _result(build)
        if isinstance(result, str):
            found.notes[name] = result
        else:
            found.working.append(result)
    return found


def _result(build: Callable[[], Collector]) -> Collector | str:
    """Returns a collector, or the sentence that says why it can't work here."""
    try:
        return build()
    except UnsupportedError as error:
        return str(error)
    except (OSError, ValueError) as error:
        return f"The kernel's files for it can't be read: {error}"
