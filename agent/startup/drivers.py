"""Startup records of the kernel, the distribution, and the versions of drivers that matter to tasks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.machine.machine import Machine
from agent.records.record import Record
from agent.startup.once import fact, once

MAX_ADAPTERS = 32
_MODULES = ("nvidia", "nvidia_peermem", "amdgpu", "mlx5_core", "mlx5_ib", "mlx4_core", "mana", "lustre", "hv_netvsc")
_NVIDIA = re.compile(r"NVRM version:.{0,80}?Module\b.{0,40}?\s(\d+(?:\.\d+)+)")
_OPEN = "Open Kernel Module"


def kernel_records(machine: Machine) -> Iterable[Record]:
    """Yields `batchscope_kernel`: the kernel's release and version, and the distribution's name."""
    system = _os_release(machine)
    fields = {
        "release": fact(machine.optional_text("/proc/sys/kernel/osrelease")),
        "version": fact(machine.optional_text("/proc/sys/kernel/version")),
        "distribution": fact(system.get("PRETTY_NAME")),
        "distribution_id": fact(system.get("ID")),
        "distribution_version": fact(system.get("VERSION_ID")),
        "is_cgroup_v2": machine.exists("/sys/fs/cgroup/cgroup.controllers"),
    }
    yield once("batchscope_kernel", fields)


def driver_records(machine: Machine) -> Iterable[Record]:
    """Yields `batchscope_driver` for each driver with a version, and each InfiniBand adapter's firmware."""
    yield from _nvidia(machine)
    for module in _MODULES:
        version = fact(machine.optional_text(f"/sys/module/{module}/version"))
        if version:
            yield once("batchscope_driver", {"version": version}, {"name": module})
    yield from _adapters(machine)


def _nvidia(machine: Machine) -> Iterable[Record]:
    """Yields the version that NVIDIA's driver itself shows, and whether it is the open one."""
    text = machine.optional_text("/proc/driver/nvidia/version")[:1000]
    found = _NVIDIA.search(text)
    if found:
        yield once("batchscope_driver", {"version": found[1], "is_open": _OPEN in text}, {"name": "nvidia_driver"})


def _adapters(machine: Machine) -> Iterable[Record]:
    for device in machine.names("/sys/class/infiniband")[:MAX_ADAPTERS]:
        folder = f"/sys/class/infiniband/{device}"
        fields = {
            "version": fact(machine.optional_text(f"{folder}/fw_ver")),
            "board": fact(machine.optional_text(f"{folder}/board_id")),
        }
        if any(fields.values()):
            yield once("batchscope_firmware", fields, {"device": device})


def _os_release(machine: Machine) -> dict[str, str]:
    """Returns the entries of os-release, without their quotes."""
    text = machine.optional_text("/etc/os-release") or machine.optional_text("/usr/lib/os-release")
    pairs = (line.partition("=") for line in text.splitlines())
    return {name: value.strip().strip("\"'") for name, _, value in pairs}
