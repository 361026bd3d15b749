"""The hardware of a node in telemetry, derived from the name of its VM size without any lookup.

Memory per core is that of most sizes in a family; unknown names give a plain node. Old sizes (`standard_d3_v2`) are
numbered by rank, not by cores, so their nodes are smaller than real ones.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

GIB = 1 << 30
_CORES = re.compile(r"_[a-z]+(\d+)")
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


def cores(vm_size: str) -> int:
    """Returns the cores of a VM size by its name: d8s has 8."""
    found = _CORES.search(vm_size.lower())
    return int(found[1]) if found else 1


@lru_cache(256)
def hardware_of(vm_size: str) -> HardwareInfo:
    """Returns the hardware of a VM size."""
    name = vm_size.lower()
    found = _FAMILY.match(name)
    family, count = found[1] if found else "", max(1, cores(name))
    memory = int(_GIB_A_CORE.get(family, _GIB_A_CORE.get(family[:1], 4.0)) * count * GIB)
    if family not in _CORES_A_GPU:
        return HardwareInfo(vm_size, count, memory)
    large = next((model for model in _LARGE_GPUS if model in name), "")
    model, each = (f"NVIDIA {large.upper()}", 80 * GIB) if large else ("Tesla T4", 16 * GIB)
    return HardwareInfo(vm_size, count, memory, max(1, count // _CORES_A_GPU[family]), model, each)
