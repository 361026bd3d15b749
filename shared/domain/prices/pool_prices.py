"""Which prices the nodes of a pool have, by size, region, operating system, licence and priority."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal

from shared.domain.pools.machine_settings import Machine, MachineSettings
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_sizes import possible_sizes
from shared.domain.pools.pools import Pool
from shared.domain.prices.price_keys import (
    LICENSES,
    PRIORITIES,
    SYSTEMS,
    LicenseKind,
    OperatingSystem,
    Price,
    PriceKey,
    Priority,
)
from shared.domain.prices.price_table import PriceTable

_MACHINE = "virtualMachineConfiguration"
_WINDOWS_AGENT, _WINDOWS_LICENSE = "batch.node.windows", "windows_"


def sizes_of(pool: Pool) -> tuple[str, ...]:
    """Returns the VM sizes that a pool's nodes have or may have, in lower case; the pool's own word without any."""
    named = {*(possible_sizes(pool.facts) or ()), *(size.vm_size for size in pool.sizes or ())}
    return tuple(sorted({size.lower() for size in named if size})) or (pool.facts.vm_size.lower(),)


def price_keys(pool: Pool, region: str | None) -> Iterator[PriceKey]:
    """Yields what determines the prices of a pool's nodes."""
    system, license_kind = system_of(pool.facts)
    for size in sizes_of(pool):
        for priority in _priorities(pool.facts):
            yield PriceKey(size, region, system, license_kind, priority)


def hourly_prices(
    prices: PriceTable, facts: PoolFacts, region: str | None, priority: Priority, *, sizes: Iterable[str], at: datetime
) -> dict[str, Decimal]:
    """Returns the known hourly prices of a pool's nodes if these had other VM sizes, by size."""
    system, license_kind = system_of(facts)
    found = {size: prices.at(PriceKey(size, region, system, license_kind, priority), at) for size in sizes}
    return {size: price.hourly for size, price in found.items() if isinstance(price, Price)}


def system_of(facts: PoolFacts) -> tuple[OperatingSystem | None, LicenseKind | None]:
    """Returns the operating system by the node agent, and the licence; None where one isn't known."""
    machine = (facts.settings or MachineSettings()).virtual_machine_configuration or Machine()
    agent = (machine.node_agent_sku_id or "").lower()
    if not agent or facts.lacks(f"{_MACHINE}.nodeAgentSKUId"):
        return None, None
    if not agent.startswith(_WINDOWS_AGENT):
        return "linux", "none"
    if facts.lacks(f"{_MACHINE}.licenseType"):
        return "windows", None
    is_own = (machine.license_type or "").lower().startswith(_WINDOWS_LICENSE)
    return "windows", "hybridBenefit" if is_own else "included"


def system_named(system: str | None, license_kind: str | None) -> tuple[OperatingSystem | None, LicenseKind | None]:
    """Returns an operating system and a licence by their stored names; None where one isn't known."""
    return (
        next((one for one in SYSTEMS if one == system), None),
        next((one for one in LICENSES if one == license_kind), None),
    )


def _priorities(facts: PoolFacts) -> tuple[Priority, ...]:
    """Returns the priorities of nodes that a pool has or wishes for; both where it has none."""
    sizes = zip(PRIORITIES, (facts.dedicated, facts.spot), strict=True)
    return tuple(name for name, size in sizes if size.current or size.target) or PRIORITIES
