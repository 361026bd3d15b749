"""CPU, memory and I/O of Docker's containers, by their control groups: measurements of Telegraf's docker plugin.

Times are in nanoseconds, `usage_percent` of CPU is of one core. Containers that only another program started are found
as well if their group's name ends with an id of 64 hexadecimal digits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Tuple

from agent.collectors.cgroups.docker import ContainerName, ContainerNames, running_containers
from agent.collectors.cgroups.hierarchy import Hierarchy
from agent.collectors.cgroups.usage import CgroupUsage, CpuUsage, IoUsage, MemoryUsage
from agent.collectors.collector import UnsupportedError
from agent.collectors.kernel_text import named_wholes, percent_of
from agent.machine.clock import Clock
from agent.machine.docker_socket import DockerSocket
from agent.machine.machine import Machine
from agent.records.record import Record, Value

MAX_CONTAINERS = 40
MAX_FOLDERS = 2000
MAX_DEPTH = 4
_GROUP = re.compile(r"(?:docker-|libpod-|cri-containerd-|crio-)?([0-9a-f]{64})(?:\.scope)?")
_SECOND = 1_000_000_000
_Reading = Tuple[float, int]  # seconds, nanoseconds of CPU


class ContainersCollector:
    """Measures the containers of a node that has Docker, or has containers when the agent starts."""

    name = "containers"

    def __init__(
        self, machine: Machine, clock: Clock, interval: float = 60.0, names: ContainerNames | None = None
    ) -> None:
        self.interval = interval
        self._machine = machine
        self._clock = clock
        self._hierarchy = Hierarchy(machine)
        self._usage = CgroupUsage(machine, self._hierarchy)
        docker = DockerSocket(machine)
        self._names = names or ContainerNames(lambda: running_containers(docker))
        self._last: dict[str, _Reading] = {}
        if not self._groups() and not docker:
            raise UnsupportedError("The node has neither containers nor the socket of Docker.")

    def collect(self, now: int) -> Iterable[Record]:
        groups = self._groups()
        last, self._last = self._last, {}
        shown = dict(sorted(groups.items())[:MAX_CONTAINERS])
        for container, name in self._names.names(shown).items():
            yield from self._records(container, groups[container], name, last.get(container))
        yield Record("docker", {"n_containers_running": len(groups)})

    def _groups(self) -> dict[str, str]:
        return container_groups(self._machine, self._hierarchy)

    def _records(self, container: str, group: str, name: ContainerName, last: _Reading | None) -> Iterable[Record]:
        cpu, memory, io = self._usage.cpu(group), self._usage.memory(group), self._usage.io(group)
        if cpu:
            self._last[container] = reading = (self._clock.monotonic(), cpu.total)
            fields = {**cpu_fields(cpu), **_busy(reading, last), "container_id": container}
            yield Record("docker_container_cpu", fields, {**name.tags(), "cpu": "cpu-total"})
        if memory:
            yield Record("docker_container_mem", memory_fields(memory, self._node_memory()), name.tags())
        if io:
            yield Record("docker_container_blkio", io_fields(io), {**name.tags(), "device": "total"})

    def _node_memory(self) -> int:
        return named_wholes(self._machine.optional_text("/proc/meminfo"), ("MemTotal",)).get("MemTotal", 0) * 1024


def container_groups(machine: Machine, hierarchy: Hierarchy) -> dict[str, str]:
    """Returns the groups of containers by their id: at most MAX_FOLDERS groups are looked at, MAX_DEPTH deep."""
    root = hierarchy.folder("memory", "/")
    found: dict[str, str] = {}
    waiting = [""] if root else []
    looked_at = 0
    while root and waiting and looked_at < MAX_FOLDERS:
        group = waiting.pop(0)
        looked_at += 1
        for name in _folders(machine.path(root.path + group)):
            match = _GROUP.fullmatch(name)
            if match:
                found[match[1]] = f"{group}/{name}"
            elif group.count("/") < MAX_DEPTH - 1:
                waiting.append(f"{group}/{name}")
    return found


def cpu_fields(cpu: CpuUsage) -> dict[str, Value]:
    """Returns Telegraf's fields of CPU time and throttling."""
    found = {
        "usage_total": cpu.total,
        "usage_in_usermode": cpu.user,
        "usage_in_kernelmode": cpu.system,
        "throttling_periods": cpu.periods,
        "throttling_throttled_periods": cpu.throttled_periods,
        "throttling_throttled_time": cpu.throttled,
    }
    return {name: value for name, value in found.items() if value is not None}


def memory_fields(memory: MemoryUsage, node: int) -> dict[str, Value]:
    """Returns Telegraf's fields: page cache that can be dropped isn't use, and without a limit the node's memory is."""
    limit = min(memory.limit or node, node or memory.limit or 0)
    usage = max(memory.usage - memory.inactive, 0)
    found = {"usage": usage, "limit": limit or None, "max_usage": memory.peak, "rss": memory.anonymous}
    share: dict[str, Value] = {"usage_percent": percent_of(usage, limit)} if limit else {}
    return {**{name: value for name, value in found.items() if value is not None}, **share}


def io_fields(io: IoUsage) -> dict[str, Value]:
    """Returns Telegraf's fields of all devices together."""
    return {
        "io_service_bytes_recursive_read": io.read_bytes,
        "io_service_bytes_recursive_write": io.write_bytes,
        "io_serviced_recursive_read": io.reads,
        "io_serviced_recursive_write": io.writes,
    }


def _busy(reading: _Reading, last: _Reading | None) -> Mapping[str, Value]:
    """Returns the use of CPU since the last reading; nothing where a new group has the same name."""
    if last is None or reading[0] <= last[0] or reading[1] < last[1]:
        return {}
    return {"usage_percent": percent_of(reading[1] - last[1], (reading[0] - last[0]) * _SECOND)}


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
