"""The hardware of a node in telemetry, derived from the name of its VM size without any lookup.

Memory per core is that of most sizes in a family; unknown names give a plain node.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from local.batch_emulator.core.vm_sizes import unconstrained_cores

GIB = 1 << 30
_FAMILY = re.compile(r"(?:standard|basic)_([a-z]+)\d")
_GIB_A_CORE = {"a": 2.0, "b": 4.0, "d": 4.0, "e": 8.0, "f": 2.0, "hb": 3.75, "hc": 8.0, "l": 8.0, "m": 16.0, "nc": 9.0,
               "nd": 9.5, "nv": 9.0}  # fmt: skip
_CORES_A_GPU = {"nc": 24, "nd": 12, "nv": 24}
_LARGE_GPUS = ("a100", "h100", "h200")


@dataclass(frozen=True, slots=True)
class HardwareInfo:
    """A node's hardware; memory in bytes."""

    size: str
    cores: int
    memory: int
    gpus: int = 0
    gpu: str = ""
    gpu_memory: int = 0


@dataclass(frozen=True, slots=True)
class AgentSession:
    """The session of a node's agent, from a boot until the node stops; times in ticks by the node's clock."""

    pool: str
    node: str
    life: int
    hardware: HardwareInfo
    is_spot: bool
    address: str
    allocated: int
    booted: int


@lru_cache(256)
def hardware_of(vm_size: str, vcpus: int) -> HardwareInfo:
    """Returns the hardware of a node of a VM size; it has `vcpus`, and the memory and GPUs of its size."""
    name = vm_size.lower()
    found = _FAMILY.match(name)
    family, count = found[1] if found else "", unconstrained_cores(name)
    memory = int(_GIB_A_CORE.get(family, _GIB_A_CORE.get(family[:1], 4.0)) * count * GIB)
    if family not in _CORES_A_GPU:
        return HardwareInfo(vm_size, vcpus, memory)
    large = next((model for model in _LARGE_GPUS if model in name), "")
    model, each = (f"NVIDIA {large.upper()}", 80 * GIB) if large else ("Tesla T4", 16 * GIB)
    return HardwareInfo(vm_size, vcpus, memory, max(1, count // _CORES_A_GPU[family]), model, each)
