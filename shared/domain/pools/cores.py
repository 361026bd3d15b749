"""The vCPUs of a pool's nodes: those that the pool sets, else those of each node's own VM size.

Unknown stays unknown: a number of machines whose vCPUs aren't known stands beside the vCPUs of the others.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from shared.domain.nodes.nodes import NodeSummary, SizeSummary
from shared.domain.pools.machine_settings import HardwareProfile, Machine, MachineSettings, SizeProperties
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.vm_sizes import vcpus_of

_MIX = "mix"
_SETTINGS = "virtualMachineConfiguration.hardwareProfile"
_THREADS = 2  # per core of all sizes whose threads can be set


@dataclass(frozen=True, slots=True)
class Cores:
    """vCPUs of a pool's nodes that have a machine; busy ones are estimated by the share of used slots of each node."""

    total: int
    busy: float


@dataclass(frozen=True, slots=True)
class CoreCount:
    """The cores of machines whose vCPUs are known, and the number of other machines."""

    known: Cores
    unknown: int


def is_mixed(vm_size: str) -> bool:
    """Returns whether this vmSize of a pool stands for several sizes (API version 2026-10-01)."""
    return vm_size.lower() == _MIX


def vcpus_of_node(size: str, settings: MachineSettings | None) -> int | None:
    """Returns the vCPUs of a node of a VM size in a pool with these settings, None where they are unknown.

    A pool that only turns hyper-threading off (`vCPUsPerCore` 1) has half the vCPUs of the size, which has two threads
    per core then ("VM vCore Customization" of Microsoft Learn, May 2026).
    """
    chosen = _chosen(settings)
    if chosen.v_cpus_available is not None:
        return chosen.v_cpus_available if chosen.v_cpus_available > 0 else None
    whole = vcpus_of(size)
    if whole is None or chosen.v_cpus_per_core in {None, _THREADS}:
        return whole
    return whole // _THREADS if chosen.v_cpus_per_core == 1 and whole % _THREADS == 0 else None


def vcpus_in_pool(size: str, facts: PoolFacts) -> int | None:
    """Returns the vCPUs of a node of a VM size in a pool, None where they, or what the pool sets, are unknown."""
    return None if facts.lacks(_SETTINGS) else vcpus_of_node(size, facts.settings)


def nodes_by_size(summary: NodeSummary, own: str) -> tuple[SizeSummary, ...]:
    """Returns the numbers of a pool's nodes by size; nodes without one have the pool's `own`, unless it is mixed.

    Of rows of an earlier version only the pool's own size is known.
    """
    only = "" if is_mixed(own) else own
    sizes = summary.sizes
    if sizes is None:
        sizes = (SizeSummary("", summary.total, summary.machines, summary.used),) if summary.total else ()
    return tuple(size if size.vm_size else size._replace(vm_size=only) for size in sizes)


def core_count(sizes: Iterable[SizeSummary], facts: PoolFacts) -> CoreCount:
    """Returns the cores of nodes by size; a node's used slots make the same share of its vCPUs busy."""
    total = busy = unknown = 0
    for size in sizes:
        vcpus = vcpus_in_pool(size.vm_size, facts)
        if vcpus is None:
            unknown += size.machines
        else:
            total += vcpus * size.machines
            busy += vcpus * size.used
    return CoreCount(Cores(total, round(busy / facts.slots_per_node, 3)), unknown)


def _chosen(settings: MachineSettings | None) -> SizeProperties:
    machine = (settings or MachineSettings()).virtual_machine_configuration or Machine()
    return (machine.hardware_profile or HardwareProfile()).vm_size_properties or SizeProperties()
