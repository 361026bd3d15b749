"""Startup records of the processor, with the names that /proc/cpuinfo and lscpu use; no program is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent.machine.machine import Machine
from agent.records.record import Record, Value
from agent.startup.cpu_lists import cpu_numbers, listed_cpus
from agent.startup.once import fact, once

_CPUS, _NODES = "/sys/devices/system/cpu", "/sys/devices/system/node"
_ARM = {
    ("0x41", "0xd0c"): "Neoverse-N1", ("0x41", "0xd49"): "Neoverse-N2", ("0x41", "0xd40"): "Neoverse-V1",
    ("0x41", "0xd4f"): "Neoverse-V2", ("0x6d", "0xd49"): "Azure Cobalt 100",
}  # fmt: skip
_TEXTS = {"vendor_id": "Vendor_ID", "cpu family": "CPU_family", "model": "Model", "stepping": "Stepping"}


def processor_records(machine: Machine, architecture: str) -> Iterable[Record]:
    """Yields `vm_cpuinfo_metadata` and `vm_lscpu_metadata`; `architecture` is as `uname -m` has it."""
    described, cpus = _first_processor(machine), _cpus(machine)
    model = _model(described)
    shown = once(
        "vm_cpuinfo_metadata",
        {"model_name": model, "vendor_id": fact(described.get("vendor_id")), "flags_count": _flags(described)},
        {"cpu": f"0_{len(cpus) - 1}"} if cpus else {},
    )
    if shown.fields:
        yield shown
    texts = {shown: fact(described.get(name)) for name, shown in _TEXTS.items()}
    figures: dict[str, Value | None] = {**_counts(machine, cpus), **_nodes(machine), **texts}
    yield once("vm_lscpu_metadata", {"Architecture": fact(architecture), "Model_name": model, **figures})


def _first_processor(machine: Machine) -> Mapping[str, str]:
    """Returns the entries of the first processor in /proc/cpuinfo."""
    found: dict[str, str] = {}
    for line in machine.optional_text("/proc/cpuinfo").split("\n\n", 1)[0].splitlines():
        name, _, value = line.partition(":")
        found[name.strip()] = value.strip()
    return found


def _model(described: Mapping[str, str]) -> str | None:
    """Returns the processor's name; ARM's describe themselves by two numbers instead."""
    numbers = described.get("CPU implementer", "").lower(), described.get("CPU part", "").lower()
    return fact(described.get("model name") or _ARM.get(numbers) or " ".join(filter(None, numbers)))


def _flags(described: Mapping[str, str]) -> int | None:
    return len((described.get("flags") or described.get("Features") or "").split()) or None


def _cpus(machine: Machine) -> list[int]:
    """Returns the numbers of the processors that are online."""
    listed = listed_cpus(machine.optional_text(f"{_CPUS}/online"))
    return listed or cpu_numbers(machine.optional_text("/proc/cpuinfo"))


def _counts(machine: Machine, cpus: list[int]) -> dict[str, Value | None]:
    """Returns counts of processors, cores and sockets; those of parts only where sysfs shows the topology."""
    places = [_place(machine, cpu) for cpu in cpus]
    known = {place for place in places if place is not None}
    sockets = len({socket for socket, _ in known})
    if not known or None in places:
        return {"CPUs": len(cpus) or None}
    return {
        "CPUs": len(cpus),
        "Socket(s)": sockets,
        "Core(s)_per_socket": len(known) // sockets,
        "Thread(s)_per_core": len(cpus) // len(known),
    }


def _place(machine: Machine, cpu: int) -> tuple[int, int] | None:
    """Returns a processor's socket and core; ARM's socket is -1 where the firmware doesn't number it."""
    folder = f"{_CPUS}/cpu{cpu}/topology"
    socket, core = machine.whole(f"{folder}/physical_package_id"), machine.whole(f"{folder}/core_id")
    return None if socket is None or core is None else (socket, core)


def _nodes(machine: Machine) -> dict[str, Value | None]:
    """Returns the count of NUMA nodes, and the processors of each."""
    names = [name for name in machine.names(_NODES) if name.startswith("node") and name[4:].isdecimal()]
    lists = {f"NUMA_{name}_CPU(s)": fact(machine.optional_text(f"{_NODES}/{name}/cpulist")) for name in names[:64]}
    return {"NUMA_node(s)": len(names) or None, **lists}
