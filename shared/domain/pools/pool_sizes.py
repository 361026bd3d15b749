"""The VM sizes of a pool's nodes, and those that the service names in errors of resizes."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from shared.domain.nodes.nodes import Node
from shared.domain.pools.cores import is_mixed, vcpus_in_pool
from shared.domain.pools.machine_settings import MachineSettings, SkuProfile
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import Pool


def nodes_by_vm_size(pool: Pool) -> Mapping[str, int] | None:
    """Returns the numbers of nodes by VM size, without nodes of unknown size; None before nodes were read."""
    if pool.sizes is None:
        return None
    counted: Counter[str] = Counter()
    for size in pool.sizes:
        counted[size.vm_size] += size.nodes
    del counted[""]
    return dict(sorted(counted.items()))


def vcpus_in(pool: Pool, node: Node) -> int | None:
    """Returns the vCPUs of a node of a pool, None where they are unknown."""
    own = pool.facts.vm_size
    return vcpus_in_pool(node.vm_size or ("" if is_mixed(own) else own), pool.facts)


def possible_sizes(facts: PoolFacts) -> tuple[str, ...] | None:
    """Returns the VM sizes that nodes of a pool may have, None where it may have several and Batch didn't name them."""
    if not is_mixed(facts.vm_size):
        return (facts.vm_size,)
    if facts.lacks("vmSkuProfile.vmSizes"):
        return None
    profile = (facts.settings or MachineSettings()).vm_sku_profile or SkuProfile()
    return tuple(size.name for size in profile.vm_sizes or () if size.name) or None


def sizes_named(pool: Pool, message: str) -> list[str]:
    """Returns the VM sizes of a pool that a message of the service names, in any case."""
    words = set(re.findall(r"\w+(?:-\w+)*", message.lower()))
    names = {name.lower(): name for name in _names(pool)}
    return sorted(name for key, name in names.items() if key in words)


def _names(pool: Pool) -> Iterator[str]:
    """Yields the sizes that a pool's nodes may have or have, as far as they are known."""
    yield from possible_sizes(pool.facts) or ()
    yield from (size.vm_size for size in pool.sizes or () if size.vm_size)
