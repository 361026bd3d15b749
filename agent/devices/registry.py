"""The collectors of the devices that this node has, and a note for each kind that it hasn't."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from agent.collectors.collector import Collector, UnsupportedError
from agent.devices.amd import AmdGpus
from agent.devices.gpu_values import GpuErrors, GpuUse
from agent.devices.infiniband import InfinibandPorts
from agent.devices.nvme import NvmeDrives
from agent.machine.machine import Machine

NAMES = ("nvidia", "amd", "nvme", "infiniband")
MAX_PCI_DEVICES = 1024
_PCI, _NVIDIA, _DISPLAY = "/sys/bus/pci/devices", "0x10de", "0x03"
_DRIVER = ("/proc/driver/nvidia", "/dev/nvidiactl", "/dev/dxg")


class NvidiaAccess(NamedTuple):
    """Queries of NVIDIA's driver for other packages: use by pid, errors by GPU, and the end of the session with it."""

    processes: Callable[[], dict[int, GpuUse]]
    errors: Callable[[], tuple[GpuErrors, ...]]
    close: Callable[[], None]


class Devices(NamedTuple):
    """Collectors that work, notes by name of those that don't, and access to NVIDIA's driver where there is one."""

    collectors: list[Collector]
    notes: dict[str, str]
    nvidia: NvidiaAccess | None


def devices(
    machine: Machine, interval: float, only: Collection[str] = NAMES, paths: Iterable[str] | None = None
) -> Devices:
    """Returns the devices of this node; `interval` is in seconds, `paths` are where NVIDIA's library may be.

    A start task may install a driver while the agent runs: a later call with the notes' names as `only` finds it.
    """
    found = Devices([], {}, None)
    if "nvidia" in only:
        found = _with_nvidia(found, machine, interval, paths)
    makers: dict[str, Callable[[], Collector]] = {
        "amd": lambda: AmdGpus(machine, interval),
        "nvme": lambda: NvmeDrives(machine, interval=max(interval, 60.0)),
        "infiniband": lambda: InfinibandPorts(machine, interval),
    }
    for name in (name for name in makers if name in only):
        try:
            found.collectors.append(makers[name]())
        except UnsupportedError as error:
            found.notes[name] = str(error)
    return found


def _with_nvidia(found: Devices, machine: Machine, interval: float, paths: Iterable[str] | None) -> Devices:
    try:
        _require_driver(machine)
        collector, access = _nvidia(interval, paths)
    except UnsupportedError as error:
        found.notes["nvidia"] = str(error)
        return found
    found.collectors.append(collector)
    return found._replace(nvidia=access)


def _nvidia(interval: float, paths: Iterable[str] | None) -> tuple[Collector, NvidiaAccess]:
    """Returns collector and access. Raises UnsupportedError."""
    from agent.devices.gpu_processes import GpuProcesses  # noqa: PLC0415 - ctypes costs 2 MB where there is no driver
    from agent.devices.nvidia import NvidiaGpus  # noqa: PLC0415 - see above
    from agent.devices.nvml import Nvml  # noqa: PLC0415 - see above
    from agent.devices.nvml_session import NvmlSession  # noqa: PLC0415 - see above

    session = NvmlSession(Nvml(paths))
    try:
        collector = NvidiaGpus(session, interval)
    except UnsupportedError:
        session.close()
        raise
    return collector, NvidiaAccess(GpuProcesses(session), collector.errors, session.close)


def _require_driver(machine: Machine) -> None:
    if any(map(machine.exists, _DRIVER)):
        return
    if any(_is_nvidia_gpu(machine, name) for name in machine.names(_PCI)[:MAX_PCI_DEVICES]):
        raise UnsupportedError(
            "The node has an NVIDIA GPU, but its driver isn't loaded: install it to measure the GPU."
        )
    raise UnsupportedError("The node has no NVIDIA GPU.")


def _is_nvidia_gpu(machine: Machine, name: str) -> bool:
    vendor, kind = (machine.optional_text(f"{_PCI}/{name}/{file}") for file in ("vendor", "class"))
    return vendor == _NVIDIA and kind.startswith(_DISPLAY)
