"""Limits and use of the control group that the agent is in, and of those around it: `batchscope_cgroup`."""

from __future__ import annotations

from collections.abc import Iterable

from agent.collectors.cgroups.hierarchy import Hierarchy, own_groups, with_parents
from agent.collectors.cgroups.usage import CgroupUsage, CpuUsage, MemoryUsage
from agent.collectors.collector import UnsupportedError
from agent.machine.machine import Machine
from agent.records.record import Record, Value

_NANO = 1e-9


class OwnCgroupCollector:
    """Measures the agent's own group, and the groups around it that have a limit; `path` tags the group."""

    name = "cgroup"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._usage = CgroupUsage(machine, Hierarchy(machine))
        groups = own_groups(machine)
        self._memory, self._cpu = (with_parents(groups.get(controller, "/")) for controller in ("memory", "cpu"))
        if not list(self.collect(0)):
            raise UnsupportedError("The agent is in no control group of its own, and no limit applies to it.")

    def collect(self, now: int) -> Iterable[Record]:
        fields: dict[str, dict[str, Value]] = {}
        for group in self._memory:
            memory = self._usage.memory(group)
            if memory and (memory.limit is not None or _is_own(group, self._memory)):
                fields.setdefault(group, {}).update(memory_fields(memory))
        for group in self._cpu:
            cpu = self._usage.cpu(group)
            if cpu and (cpu.limit is not None or _is_own(group, self._cpu)):
                fields.setdefault(group, {}).update(cpu_fields(cpu))
        return [Record("batchscope_cgroup", found, {"path": group}) for group, found in fields.items()]


def memory_fields(memory: MemoryUsage) -> dict[str, Value]:
    """Returns bytes; `memory_working_set_bytes` excludes the memory that the kernel can free at once."""
    found = {
        "memory_bytes": memory.usage,
        "memory_working_set_bytes": max(memory.usage - memory.inactive, 0),
        "memory_limit_bytes": memory.limit,
        "memory_peak_bytes": memory.peak,
        "oom_kills": memory.oom_kills,
    }
    return {name: value for name, value in found.items() if value is not None}


def cpu_fields(cpu: CpuUsage) -> dict[str, Value]:
    """Returns CPU time in seconds, the limit in cores, and how often and how long the limit stopped the group."""
    fields: dict[str, Value] = {
        "cpu_seconds": round(cpu.total * _NANO, 6),
        "cpu_throttled_seconds": round(cpu.throttled * _NANO, 6),
        "cpu_periods": cpu.periods,
        "cpu_throttled_periods": cpu.throttled_periods,
    }
    return fields if cpu.limit is None else {**fields, "cpu_limit_cores": round(cpu.limit, 3)}


def _is_own(group: str, groups: list[str]) -> bool:
    return group == groups[0] and group != "/"
