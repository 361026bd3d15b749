"""The hardware of a node that Telegraf's input plugins measure, and the programs that they call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from agent.machine.machine import Machine

_PROGRAM_FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/rocm/bin", "/bin", "/sbin")
_DOCKER_SOCKETS = ("/var/run/docker.sock", "/run/docker.sock")


class Hardware(NamedTuple):
    """A node's hardware. Paths are those of programs and sockets, empty where the node lacks them.

    `smartctl` is empty, too, where there is no NVMe disk or this user isn't root, which smartctl needs.
    """

    processors: int
    nvidia_smi: str
    rocm_smi: str
    infiniband: bool
    smartctl: str
    docker_socket: str
    pressure: bool


def hardware_of(machine: Machine) -> Hardware:
    """Returns the hardware of a machine."""
    has_nvidia = machine.exists("/proc/driver/nvidia/version") or machine.exists("/dev/nvidiactl")
    can_ask_disks = bool(machine.names("/sys/class/nvme")) and machine.is_root
    return Hardware(
        processors=_processors(machine),
        nvidia_smi=_program(machine, "nvidia-smi") if has_nvidia else "",
        rocm_smi=_program(machine, "rocm-smi") if machine.exists("/dev/kfd") else "",
        infiniband=bool(machine.names("/sys/class/infiniband")),
        smartctl=_program(machine, "smartctl") if can_ask_disks else "",
        docker_socket=_first(machine, _DOCKER_SOCKETS),
        pressure=machine.exists("/proc/pressure/cpu"),
    )


def _processors(machine: Machine) -> int:
    names = machine.names("/sys/devices/system/cpu")
    return sum(name.startswith("cpu") and name[3:].isdigit() for name in names)


def _program(machine: Machine, name: str) -> str:
    return _first(machine, (f"{folder}/{name}" for folder in _PROGRAM_FOLDERS))


def _first(machine: Machine, paths: Iterable[str]) -> str:
    return next((path for path in paths if machine.exists(path)), "")
