"""Which VM sizes new nodes get: those that a pool allows, as long as the service has capacity for them."""

import random
from collections import Counter
from collections.abc import Mapping

from local.batch_emulator.core.vm_sizes import preferred_sizes
from local.batch_emulator.entities import Account, Json, Pool

_CODE = "AllocationFailed"


def sizes_of_new_nodes(pool: Pool, number: int, capacity: Mapping[str, int], rng: random.Random) -> list[str]:
    """Returns the sizes of up to `number` new nodes; fewer where capacity is missing.

    `capacity` is the number of nodes that an account may have of a size, without limit for others. A pool that is
    optimized for capacity takes a size that has some by chance, as nobody outside knows how much there is; any other
    pool takes the first in its order.
    """
    sizes, used = preferred_sizes(pool.spec), _used(pool.account)
    by_chance = str((pool.spec.get("vmSkuProfile") or {}).get("allocationStrategy")).lower() == "capacityoptimized"
    found: list[str] = []
    for _ in range(number):
        available = [size for size in sizes if used[size] < capacity.get(size, used[size] + 1)]
        if not available:
            break
        found.append(rng.choice(available) if by_chance else available[0])
        used[found[-1]] += 1
    return found


def no_capacity(pool: Pool) -> Json:
    """Returns the error of a resize for which none of a pool's sizes had capacity left."""
    names = ", ".join(preferred_sizes(pool.spec))
    return {
        "code": _CODE,
        "message": f"Desired number of nodes could not be allocated: there is no capacity for the VM sizes {names}",
    }


def _used(account: Account) -> Counter[str]:
    return Counter(node.vm_size for pool in account.pools.values() for node in pool.nodes.values())
