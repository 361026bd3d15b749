"""VM sizes: their vCPUs by name, and the sizes and vCPUs that a pool's specification asks for.

Nothing is looked up. Old sizes (`standard_d3_v2`) are numbered by rank, not by vCPUs, so their nodes are smaller than
real ones.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

MIX = "Mix"
"""The vmSize of pools that may have nodes of several sizes."""
_CORES = re.compile(r"_[a-z]+(\d+)(?:-(\d+))?")
_THREADS = 2  # per core of the sizes here, unless a pool sets one


def cores(vm_size: str) -> int:
    """Returns the vCPUs of a VM size by its name: d8s has 8, e8-2s has 2."""
    found = _CORES.search(vm_size.lower())
    return int(found[2] or found[1]) if found else 1


def unconstrained_cores(vm_size: str) -> int:
    """Returns the vCPUs that a VM size would have without a constraint, on which its memory depends: e8-2s has 8."""
    found = _CORES.search(vm_size.lower())
    return max(1, int(found[1])) if found else 1


def vcpus(vm_size: str, spec: Mapping[str, Any]) -> int:
    """Returns the vCPUs of a node of a size in a pool with this specification.

    A set number of vCPUs counts before the size's name. Without one, a single thread per core halves the vCPUs
    ("VM vCore Customization" of Microsoft Learn).
    """
    set_by_pool = size_properties(spec)
    available = set_by_pool.get("vCPUsAvailable")
    if available is not None:
        return int(available)
    threads = set_by_pool.get("vCPUsPerCore") or _THREADS
    return max(1, cores(vm_size) * int(threads) // _THREADS)


def size_properties(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the vmSizeProperties of a pool's specification, empty if absent."""
    hardware = (spec.get("virtualMachineConfiguration") or {}).get("hardwareProfile") or {}
    found: Mapping[str, Any] = hardware.get("vmSizeProperties") or {}
    return found


def preferred_sizes(spec: Mapping[str, Any]) -> Sequence[str]:
    """Returns the sizes that nodes of a pool may have, by rank where it ranks them, else in the order of its list."""
    profile = spec.get("vmSkuProfile")
    if not profile:
        return (str(spec["vmSize"]).lower(),)
    ranked = sorted(profile["vmSizes"], key=lambda size: size.get("rank", 0))
    return [str(size["name"]).lower() for size in ranked]
